import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the response that Posthorn sent to the provider for a raw request. A nullable column without a default changes
 * only the catalog: it locks the table briefly, whatever its size. Existing requests have no value.
 */
export class RequestAnswers1732500600000 implements MigrationInterface {
  name = 'RequestAnswers1732500600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table requests add column answer jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table requests drop column answer');
  }
}
