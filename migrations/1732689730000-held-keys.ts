import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Until when the request that has reserved a key is known to run: a column without a default, in no index, rewrites nothing. */
export class HeldKeys1732689730000 implements MigrationInterface {
  name = 'HeldKeys1732689730000';

  async up(runner: QueryRunner): Promise<void> {
    // Behind a long read the table would be closed to everybody: rather fail the start, which is then repeated.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table idempotency_keys add column held_until timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table idempotency_keys drop column held_until');
  }
}
