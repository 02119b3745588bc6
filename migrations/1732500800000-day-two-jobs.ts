import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds jobs over an application and over the set-aside events of an endpoint: more kinds of replay jobs, the result of
 * an erasure, and the time at which a request was released. Nullable columns change only the catalog. The checks of two
 * small tables are validated.
 */
export class DayTwoJobs1732500800000 implements MigrationInterface {
  name = 'DayTwoJobs1732500800000';

  async up(runner: QueryRunner): Promise<void> {
    // While this lock waits behind a long read, all other queries on the table would wait too. Fail the start instead;
    // it is then retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`
      alter table replay_jobs drop constraint replay_jobs_kind_check,
        add constraint replay_jobs_kind_check check (kind in ('range', 'recover', 'application', 'requests', 'erase')),
        add column erased jsonb`);
    await runner.query('alter table requests add column released_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table requests drop column released_at');
    // An older release would treat these jobs as replays for an endpoint that does not exist.
    await runner.query(
      `delete from replay_jobs where kind not in ('range', 'recover') or endpoint_id = application_id`,
    );
    await runner.query(`
      alter table replay_jobs drop column erased, drop constraint replay_jobs_kind_check,
        add constraint replay_jobs_kind_check check (kind in ('range', 'recover'))`);
  }
}
