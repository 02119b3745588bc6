import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the response that the provider of a raw request received. A nullable column without a default changes only the
 * catalog: it locks the table briefly, whatever its size. Existing requests have no value.
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
