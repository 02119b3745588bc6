import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What was cancelled or erased while a worker held it, by its target: a worker that may have missed word of it looks
 * there. A row gets into it when it is marked and leaves with its end, so that nothing else pays for it. The
 * condition is put so that only who asks in the same words gets it: `withdrawn is not null` would offer it to statements
 * that find single rows, and the planner, to which it looks empty, would take it instead of the primary key.
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
