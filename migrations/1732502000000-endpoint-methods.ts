import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the HTTP methods that an endpoint accepts; null for all methods. A nullable column without a default changes
 * only the catalog: it locks the table briefly, whatever its size.
 */
export class EndpointMethods1732502000000 implements MigrationInterface {
  name = 'EndpointMethods1732502000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table endpoints add column allowed_methods text[]');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table endpoints drop column allowed_methods');
  }
}
