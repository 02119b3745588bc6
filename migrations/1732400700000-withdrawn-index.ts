import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What was cancelled or erased while a worker held it, by its target: a worker that may have missed word of it looks
 * there. A row gets into it when it is marked and leaves with its end, so that nothing else pays for it.
 */
export class WithdrawnIndex1732400700000 implements MigrationInterface {
  name = 'WithdrawnIndex1732400700000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create index due_deliveries_withdrawn_idx on due_deliveries (environment_id, target_id) where withdrawn is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index due_deliveries_withdrawn_idx');
  }
}
