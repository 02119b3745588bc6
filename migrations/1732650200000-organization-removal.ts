import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets the operator remove organizations. After `removed_at` all access is denied. `erased_at` is the time at which the
 * organization's configuration was erased. Adding columns without a default rewrites no table and takes a brief lock.
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
