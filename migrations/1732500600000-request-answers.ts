import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the provider of a raw request was answered. A nullable column without a default changes the catalogue only: it locks
 * the table for a moment, however many requests there are. Requests of before have none.
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
