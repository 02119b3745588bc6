import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What endpoints sent to a destination, newest first, whatever became of it. Of what is sent to a destination by itself, or
 * to an application's endpoint with a URL, no row stands in it: sending pays nothing for it. `create index` takes a share lock on
 * `deliveries`, which holds up recording (not accepting) for as long as it reads the table: some ten seconds for ten million rows.
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
