import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Indexes pull positions by pull destination: the destination's own position, and the positions of inbound endpoints
 * that use the destination. The table is small, with one row per consumer. Updates of a position change no indexed
 * column.
 */
export class PullPositionsTarget1732689700000 implements MigrationInterface {
  name = 'PullPositionsTarget1732689700000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(
      'create index pull_positions_target_id_idx on pull_positions (environment_id, target_id, key_id)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index pull_positions_target_id_idx');
  }
}
