import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the time until which the request that reserved an idempotency key is known to be running. A column without a
 * default, in no index, rewrites nothing.
 */
export class HeldKeys1732689730000 implements MigrationInterface {
  name = 'HeldKeys1732689730000';

  async up(runner: QueryRunner): Promise<void> {
    // While this migration waits for a lock, all later queries on the table wait too. The timeout limits this wait: the
    // start of the service then fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table idempotency_keys add column held_until timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table idempotency_keys drop column held_until');
  }
}
