import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds a mark to the rollups that contain failures, so that lists of failing targets read only these rows. The column
 * changes at most once per row, so the frequent updates of the counts do not change the index. An index on the counts
 * themselves would change with every update.
 *
 * Adding a column with a constant default changes only the catalog. The index takes a share lock on `rollups` while it
 * reads the table once, about ten seconds for ten million rows. The job that adds counts to the rollups waits for that
 * time. Accepting and delivering do not wait. Existing rollups stay unmarked.
 */
export class FailingRollups1732686100000 implements MigrationInterface {
  name = 'FailingRollups1732686100000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table rollups add column is_failing boolean not null default false');
    await runner.query(
      'create index rollups_failing_idx on rollups (environment_id, resolution, start, key_id) where is_failing',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index rollups_failing_idx');
    await runner.query('alter table rollups drop column is_failing');
  }
}
