import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Indexes pull positions by pull destination: the destination's own position, and the positions of inbound endpoints
 * that use the destination. The table is small, with one row per consumer. The columns that change are in no index.
 */
export class PullPositionsTarget1732689700000 implements MigrationInterface {
  name = 'PullPositionsTarget1732689700000';

  async up(runner: QueryRunner): Promise<void> {
    // Limits how long this migration waits for a lock, because all later queries on the table must wait as well. After
    // the timeout, the service fails to start, and its start is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(
      'create index pull_positions_target_id_idx on pull_positions (environment_id, target_id, key_id)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index pull_positions_target_id_idx');
  }
}
