import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds `held_until`: until this time, the request that reserved an idempotency key counts as still running. The new
 * column has no default and is in no index, so adding it rewrites nothing.
 */
export class HeldKeys1732689730000 implements MigrationInterface {
  name = 'HeldKeys1732689730000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table idempotency_keys add column held_until timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table idempotency_keys drop column held_until');
  }
}
