import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds a column with the first key of a rotated key's grant, so that all keys of a grant end together. A nullable
 * column changes only the catalog. The index takes a share lock on `api_keys` while it reads the table once; the table
 * is small.
 */
export class RotatedGrants1732689610000 implements MigrationInterface {
  name = 'RotatedGrants1732689610000';

  async up(runner: QueryRunner): Promise<void> {
    // While this migration waits for a lock, all later queries on a table wait too. The timeout limits this wait: the
    // start of the service then fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table api_keys add column first_key_id uuid');
    await runner.query(
      'create index api_keys_first_key_idx on api_keys (environment_id, first_key_id) where first_key_id is not null',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index api_keys_first_key_idx');
    await runner.query('alter table api_keys drop column first_key_id');
  }
}
