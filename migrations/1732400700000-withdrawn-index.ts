import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Indexes by target the deliveries that were canceled or erased while a worker had claimed them. Workers query the
 * index when they may have missed the notification of such a change. A row enters the index when it is marked and
 * leaves it when the delivery ends, so other statements do not update the index.
 *
 * The condition is an expression, because PostgreSQL uses the index only for statements with the same expression. With
 * `withdrawn is not null`, the planner would prefer this index to the primary key for statements that find single rows,
 * because the index looks empty.
 */
export class WithdrawnIndex1732400700000 implements MigrationInterface {
  name = 'WithdrawnIndex1732400700000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create index due_deliveries_withdrawn_idx on due_deliveries (environment_id, target_id)
      where coalesce(withdrawn, '') <> ''`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index due_deliveries_withdrawn_idx');
  }
}
