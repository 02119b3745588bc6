import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the body limit of an endpoint, and marks raw requests whose body was too large. The columns have no default, so
 * no rows are rewritten.
 */
export class BodyLimits1732690200000 implements MigrationInterface {
  name = 'BodyLimits1732690200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table endpoints add column max_body_bytes int');
    await runner.query('alter table requests add column too_large boolean');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table requests drop column too_large');
    await runner.query('alter table endpoints drop column max_body_bytes');
  }
}
