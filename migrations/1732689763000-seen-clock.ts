import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates `seen_clock`, which stores the last reading of the PostgreSQL clock in one row. Takes no lock on existing
 * tables.
 */
export class SeenClock1732689763000 implements MigrationInterface {
  name = 'SeenClock1732689763000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table seen_clock (
        id smallint primary key default 1 check (id = 1),
        seen_at timestamptz not null,
        leapt_from timestamptz,
        waited_ms bigint not null default 0
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table seen_clock');
  }
}
