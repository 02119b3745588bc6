import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * When a circuit changed last: workers read those that are shut and those of late, and not one for each URL that ever failed, which are
 * removed after a while. The column is added without a rewrite, under an exclusive lock for a moment; the indexes take a share lock on
 * `circuits` while they read it once: ten seconds for ten million rows, in which no failure is counted. Accepts never look at it.
 */
export class CircuitsChangedAt1732501000000 implements MigrationInterface {
  name = 'CircuitsChangedAt1732501000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table circuits add column changed_at timestamptz not null default now()');
    await runner.query('create index circuits_changed_at_idx on circuits (changed_at)');
    await runner.query(
      `create index circuits_shut_idx on circuits (environment_id, target_id) where state <> 'closed'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index circuits_shut_idx, circuits_changed_at_idx');
    await runner.query('alter table circuits drop column changed_at');
  }
}
