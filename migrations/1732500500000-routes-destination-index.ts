import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Indexes routes by destination, for the check before a destination is deleted. `create index` takes a share lock on
 * `routes` while it reads the table. Changes to routes wait for that time. Deliveries do not wait. The table is small:
 * at most a hundred routes per endpoint.
 */
export class RoutesDestinationIndex1732500500000 implements MigrationInterface {
  name = 'RoutesDestinationIndex1732500500000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create index routes_destination_id_idx on routes (environment_id, destination_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index routes_destination_id_idx');
  }
}
