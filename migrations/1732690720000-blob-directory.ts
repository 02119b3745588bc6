import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates `blob_directory`, which stores the content of the marker file in the directory of `BLOB_STORE=file:` in one
 * row. Takes no lock on existing tables.
 */
export class BlobDirectory1732690720000 implements MigrationInterface {
  name = 'BlobDirectory1732690720000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table blob_directory (
        id smallint primary key default 1 check (id = 1),
        marker uuid not null
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table blob_directory');
  }
}
