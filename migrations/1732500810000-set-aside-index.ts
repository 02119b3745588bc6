import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What an endpoint quarantined, parked or ignored, in its order: lists and releases of it find it without looking at what was
 * routed. Nothing else gets into it, so that accepting pays nothing. `create index` takes a share lock on `events` while it reads
 * it once: some ten seconds for ten million rows, and accepts wait for that long.
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
