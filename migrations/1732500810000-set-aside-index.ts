import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Indexes the events that an endpoint quarantined, parked or ignored, for lists of these events and for jobs that
 * release them to the destinations. Routed events are not in the index, so accepting messages does not update it.
 *
 * `create index` takes a share lock on `events` while it reads the table once. Accepting messages waits for that time,
 * which is about ten seconds for ten million rows.
 */
export class SetAsideIndex1732500810000 implements MigrationInterface {
  name = 'SetAsideIndex1732500810000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create index events_set_aside_idx on events (environment_id, target_id, disposition, id) where disposition is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index events_set_aside_idx');
  }
}
