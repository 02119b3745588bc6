import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which windows of which keys have failures: lists of failing targets read these alone, however many targets there are. The column changes
 * once in a row's life, so that the updates of every second stay out of the indexes as before (which they would not, were the counts
 * themselves in one).
 *
 * Adding a column with a constant default changes the catalogue only. The index takes a share lock on `rollups` while it reads it once,
 * some ten seconds for ten million rows: folding waits, accepting and delivering do not. Of windows before it nothing is marked.
 */
export class FailingRollups1732686100000 implements MigrationInterface {
  name = 'FailingRollups1732686100000';

  async up(runner: QueryRunner): Promise<void> {
    // Behind a long read the table would be closed to everybody: rather fail the start, which is then repeated.
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
