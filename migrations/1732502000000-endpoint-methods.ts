import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which HTTP methods an endpoint takes; null for any. A nullable column without a default changes the catalogue only: it locks
 * the table for a moment, however many endpoints there are.
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
