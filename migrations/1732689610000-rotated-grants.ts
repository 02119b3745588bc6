import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds a column that links each rotated key to the first key of its grant, so that all rotated keys of a grant are
 * revoked together. A nullable column changes only the catalog. The index takes a share lock on `api_keys` while it
 * reads the table once; the table is small.
 */
export class RotatedGrants1732689610000 implements MigrationInterface {
  name = 'RotatedGrants1732689610000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
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
