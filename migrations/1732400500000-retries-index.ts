import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What waits to be tried again, by its target: when the next attempt is, and how many there are. Rows are born without an
 * attempt, and so outside of it: accepting pays nothing. `create index` takes a share lock on `due_deliveries`, which
 * holds open deliveries alone: a second for a million of them, and accepts wait for that long.
 */
export class RetriesIndex1732400500000 implements MigrationInterface {
  name = 'RetriesIndex1732400500000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create index due_deliveries_retries_idx on due_deliveries (environment_id, target_id, due_at)
      where claimed_by is null and attempts > 0`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index due_deliveries_retries_idx');
  }
}
