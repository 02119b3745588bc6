import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Of a granted key that came of a rotation: the key that the grant made first, so that all of them end with the grant. Adds a nullable column,
 * which changes the catalogue only. The index takes a share lock on `api_keys` while it reads it once: keys are few.
 */
export class RotatedGrants1732689610000 implements MigrationInterface {
  name = 'RotatedGrants1732689610000';

  async up(runner: QueryRunner): Promise<void> {
    // Behind a long read a table would be closed to everybody: rather fail the start, which is then repeated.
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
