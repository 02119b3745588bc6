import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the table of running workers. A claim on a delivery is invalid if its worker is not in this table. Takes no
 * lock on existing tables.
 */
export class Workers1732100400000 implements MigrationInterface {
  name = 'Workers1732100400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table workers (
        id uuid primary key,
        host text not null,
        pid int not null,
        started_at timestamptz not null,
        alive_until timestamptz not null
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table workers');
  }
}
