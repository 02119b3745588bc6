import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which of an alias's mail goes to which of its destinations. A constant default: no row is written, and the lock is held for a moment. */
export class AliasFilters1732684000000 implements MigrationInterface {
  name = 'AliasFilters1732684000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table aliases add column filters jsonb not null default '{}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table aliases drop column filters');
  }
}
