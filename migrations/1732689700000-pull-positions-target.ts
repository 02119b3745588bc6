import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Indexes the readers of a pull destination: its own position and those of inbound endpoints. The table is small, with
 * one row per consumer. The columns that change are in no index.
 */
export class PullPositionsTarget1732689700000 implements MigrationInterface {
  name = 'PullPositionsTarget1732689700000';

  async up(runner: QueryRunner): Promise<void> {
    // While this migration waits for a lock, all later queries on the table wait too. The timeout limits this wait: the
    // start of the service then fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(
      'create index pull_positions_target_id_idx on pull_positions (environment_id, target_id, key_id)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index pull_positions_target_id_idx');
  }
}
