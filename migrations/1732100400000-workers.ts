import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The workers that are alive: a claim by anybody else is no claim. New table: no lock on anything that exists. */
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
