import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which routes lead to a destination: asked before one is deleted. `create index` takes a share lock on `routes`, which holds
 * up changes of routes, and no delivery, for as long as it reads them: they are settings, at most a hundred an endpoint.
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
