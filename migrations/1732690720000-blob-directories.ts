import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates `blob_directories`, which stores the directories of `BLOB_STORE=file:` that this database has used. Takes no
 * lock on existing tables.
 */
export class BlobDirectories1732690720000 implements MigrationInterface {
  name = 'BlobDirectories1732690720000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table blob_directories (
        path text primary key,
        id uuid not null
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table blob_directories');
  }
}
