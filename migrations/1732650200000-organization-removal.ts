import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Organizations can be removed by the operator: from `removed_at` on nobody comes in, at `erased_at` what they configured was gone.
 * Columns without a default: no table is rewritten, the lock is held for a moment.
 */
export class OrganizationRemoval1732650200000 implements MigrationInterface {
  name = 'OrganizationRemoval1732650200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table organizations add column removed_at timestamptz, add column erased_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table organizations drop column removed_at, drop column erased_at');
  }
}
