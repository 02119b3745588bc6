import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the metrics tables. Every commit of events, deliveries or attempts inserts its sums as a part, in the same
 * statement, so the sums stay exact even if a process is killed. A job folds parts into rollups, so no delivery updates
 * a row.
 *
 * Parts exist for about a second. Autovacuum therefore runs at a fixed number of dead rows, keeps empty pages for
 * reuse, and collects no statistics. The rollups of the current windows change every second. Their pages keep free
 * space, so that an update does not change the indexes. Takes no lock on existing tables.
 */
export class Rollups1732300300000 implements MigrationInterface {
  name = 'Rollups1732300300000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table rollup_parts (
        id bigint generated always as identity primary key,
        environment_id int not null,
        key_id uuid not null,
        minute timestamptz not null,
        received int not null,
        delivered int not null,
        failed int not null,
        retried int not null,
        dlq int not null,
        latencies_ms int[] not null,
        added_at timestamptz not null default now()
      ) with (
        autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_insert_threshold = -1,
        autovacuum_vacuum_cost_delay = 1,
        autovacuum_analyze_threshold = 2000000000,
        vacuum_truncate = false
      )`);
    await runner.query(`
      create table rollups (
        environment_id int not null,
        key_id uuid not null,
        resolution text not null check (resolution in ('1m', '1h', '1d')),
        start timestamptz not null,
        received bigint not null,
        delivered bigint not null,
        failed bigint not null,
        retried bigint not null,
        dlq bigint not null,
        attempts bigint not null,
        histogram int[] not null,
        primary key (environment_id, key_id, resolution, start)
      ) with (fillfactor = 70)`);
    await runner.query('create index rollups_start_idx on rollups (resolution, start)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table rollups, rollup_parts');
  }
}
