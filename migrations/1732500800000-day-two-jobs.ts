import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds three kinds of replay jobs: for an application, for the quarantined, parked or ignored events of an endpoint,
 * and for an erasure. Also adds the result of an erasure, and the time at which a job released a request.
 *
 * Nullable columns change only the catalog. The new check constraint reads `replay_jobs`, which is small.
 */
export class DayTwoJobs1732500800000 implements MigrationInterface {
  name = 'DayTwoJobs1732500800000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`
      alter table replay_jobs drop constraint replay_jobs_kind_check,
        add constraint replay_jobs_kind_check check (kind in ('range', 'recover', 'application', 'requests', 'erase')),
        add column erased jsonb`);
    await runner.query('alter table requests add column released_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table requests drop column released_at');
    // Deletes jobs that an older release would treat as replays for an endpoint that does not exist.
    await runner.query(
      `delete from replay_jobs where kind not in ('range', 'recover') or endpoint_id = application_id`,
    );
    await runner.query(`
      alter table replay_jobs drop column erased, drop constraint replay_jobs_kind_check,
        add constraint replay_jobs_kind_check check (kind in ('range', 'recover'))`);
  }
}
