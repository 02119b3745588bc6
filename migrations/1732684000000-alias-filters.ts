import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds filters that decide which mail of an alias goes to each of its destinations. The default is constant, so no rows
 * are rewritten, and the lock is brief.
 */
export class AliasFilters1732684000000 implements MigrationInterface {
  name = 'AliasFilters1732684000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table aliases add column filters jsonb not null default '{}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table aliases drop column filters');
  }
}
