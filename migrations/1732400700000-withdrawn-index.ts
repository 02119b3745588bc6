import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Indexes by target the deliveries that were canceled or erased while a worker had claimed them. Workers query the
 * index when they may have missed the notification of such a change. A row enters the index when it is marked and
 * leaves it when the delivery ends, so other statements do not update the index.
 *
 * Only statements with the same condition as the index use it. With the condition `withdrawn is not null`, the planner
 * would also consider the index for statements that find single rows. It would then prefer this index to the primary
 * key, because the index looks empty to the planner.
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
