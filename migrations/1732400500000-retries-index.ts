import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Indexes deliveries that wait for a retry by target. The service reads the number of these deliveries and the time of
 * the next attempt from the index. New rows have no attempt and are not in the index, so accepting a message does not
 * update it. `create index` takes a share lock on `due_deliveries`, which contains only open deliveries. The lock lasts
 * one second per million rows, and accepting messages waits for that time.
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
