import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table of contacts. */
export class ContactsPeople1732500000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table contacts_people (
        id uuid primary key default gen_random_uuid(),
        environment_id int not null,
        name text not null,
        phone text
      )
    `);
    await runner.query('create unique index contacts_people_name_idx on contacts_people (environment_id, name)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table contacts_people');
  }
}
