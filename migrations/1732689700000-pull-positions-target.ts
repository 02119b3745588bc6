import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who reads a pull destination: its own position and those of inbound endpoints. A small table, one row a consumer; what moves is in no index. */
export class PullPositionsTarget1732689700000 implements MigrationInterface {
  name = 'PullPositionsTarget1732689700000';

  async up(runner: QueryRunner): Promise<void> {
    // Behind a long read the table would be closed to everybody: rather fail the start, which is then repeated.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(
      'create index pull_positions_target_id_idx on pull_positions (environment_id, target_id, key_id)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index pull_positions_target_id_idx');
  }
}
