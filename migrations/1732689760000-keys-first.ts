import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Changes the primary key of idempotency keys so that the uuid comes before the route. Nearly all idempotency keys of
 * an environment have the same route, so with the old order each search in the index first compared equal texts.
 *
 * Requests with idempotency keys wait while the index is built: two seconds per million keys.
 */
export class KeysFirst1732689760000 implements MigrationInterface {
  name = 'KeysFirst1732689760000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table idempotency_keys drop constraint idempotency_keys_pkey, add constraint idempotency_keys_pkey primary key (environment_id, key, route)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table idempotency_keys drop constraint idempotency_keys_pkey, add constraint idempotency_keys_pkey primary key (environment_id, route, key)',
    );
  }
}
