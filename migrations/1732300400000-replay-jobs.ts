import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table of jobs that replay the events of a time range. Takes no lock on existing tables. */
export class ReplayJobs1732300400000 implements MigrationInterface {
  name = 'ReplayJobs1732300400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table replay_jobs (
        environment_id int not null references environments (id),
        id uuid not null,
        replay_id uuid not null,
        endpoint_id uuid not null,
        state text not null check (state in ('pending', 'running', 'completed', 'stopped', 'failed')),
        since timestamptz,
        until timestamptz,
        status text,
        destinations uuid[],
        destinations_used uuid[] not null,
        stop_requested boolean not null,
        before_id uuid not null,
        from_id uuid not null,
        total_estimate int not null,
        scanned int not null,
        replayed int not null,
        enqueued int not null,
        skipped int not null,
        excluded int not null,
        resumed_from int,
        error text,
        failures int not null,
        runner uuid,
        created_at timestamptz not null,
        started_at timestamptz,
        page_at timestamptz,
        finished_at timestamptz,
        primary key (environment_id, id)
      )`);
    await runner.query(`
      create unique index replay_jobs_live_idx on replay_jobs (environment_id, endpoint_id)
      where state in ('pending', 'running')`);
    await runner.query(
      `create index replay_jobs_open_idx on replay_jobs (created_at) where state in ('pending', 'running')`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table replay_jobs');
  }
}
