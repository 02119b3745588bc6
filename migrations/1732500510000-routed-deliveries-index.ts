import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Indexes the finished deliveries from endpoints to a destination, newest first, with any outcome. Deliveries that were
 * sent directly to a destination, or to an application's endpoint with a URL, are not in the index and never update it.
 * `create index` takes a share lock on `deliveries` while it reads the table. Recording delivery results waits for that
 * time, which is about ten seconds for ten million rows. Accepting messages does not wait.
 */
export class RoutedDeliveriesIndex1732500510000 implements MigrationInterface {
  name = 'RoutedDeliveriesIndex1732500510000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'create index deliveries_routed_idx on deliveries (environment_id, target_id, event_id) where endpoint_id is not null',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index deliveries_routed_idx');
  }
}
