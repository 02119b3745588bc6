import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds jobs for a filtered list of events: another kind of job, its filter, and the number of canceled deliveries. The
 * columns change only the catalog. The constraint reads the table of jobs, which is small.
 */
export class EventJobs1732687000000 implements MigrationInterface {
  name = 'EventJobs1732687000000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`
      alter table replay_jobs drop constraint replay_jobs_kind_check,
        add constraint replay_jobs_kind_check check (kind in ('range', 'recover', 'application', 'requests', 'erase', 'events')),
        add column selection jsonb,
        add column cancelled int not null default 0`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`delete from replay_jobs where kind = 'events'`);
    await runner.query(`
      alter table replay_jobs drop column cancelled, drop column selection, drop constraint replay_jobs_kind_check,
        add constraint replay_jobs_kind_check check (kind in ('range', 'recover', 'application', 'requests', 'erase'))`);
  }
}
