import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Jobs over an application, and over what an endpoint set aside: more kinds of replay jobs, what an erasure reports, and when a
 * request was released. Nullable columns: only the catalogue changes; the checks of two small tables are looked at.
 */
export class DayTwoJobs1732500800000 implements MigrationInterface {
  name = 'DayTwoJobs1732500800000';

  async up(runner: QueryRunner): Promise<void> {
    // Behind a long read the table would be closed to everybody: rather fail the start, which is then repeated.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`
      alter table replay_jobs drop constraint replay_jobs_kind_check,
        add constraint replay_jobs_kind_check check (kind in ('range', 'recover', 'application', 'requests', 'erase')),
        add column erased jsonb`);
    await runner.query('alter table requests add column released_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table requests drop column released_at');
    // They would be taken for ranges of an endpoint that does not exist.
    await runner.query(
      `delete from replay_jobs where kind not in ('range', 'recover') or endpoint_id = application_id`,
    );
    await runner.query(`
      alter table replay_jobs drop column erased, drop constraint replay_jobs_kind_check,
        add constraint replay_jobs_kind_check check (kind in ('range', 'recover'))`);
  }
}
