import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the table of blobs: raw messages and attachments, in chunks of 256 KB. Takes no lock on existing tables.
 *
 * Blobs are partitioned by the day on which retention ends, as events and deliveries are. A blob without references is
 * dropped with its partition. Chunks are stored uncompressed, because mail is base64: compression saves little more
 * than it costs.
 */
export class Blobs1732601000000 implements MigrationInterface {
  name = 'Blobs1732601000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table blob_chunks (
        environment_id int not null,
        id uuid not null,
        ordinal int not null,
        expires_on date not null,
        blob_bytes int not null,
        content bytea not null,
        constraint blob_chunks_pkey primary key (environment_id, id, ordinal, expires_on)
      ) partition by range (expires_on)`);
    await runner.query('alter table blob_chunks alter column content set storage external');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table blob_chunks');
  }
}
