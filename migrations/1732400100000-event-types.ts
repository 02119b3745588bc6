import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the tables of event types and of the versions of their schemas. Also adds a column with a constant default to
 * `environments`, which locks the table briefly, whatever its size. Schemas are `json` instead of `jsonb`, so that they
 * keep the order in which their authors wrote them.
 */
export class EventTypes1732400100000 implements MigrationInterface {
  name = 'EventTypes1732400100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table event_types (
        environment_id int not null references environments (id),
        name text not null,
        id uuid not null,
        version int not null,
        description text,
        group_name text,
        schema json,
        example json,
        bytes int not null,
        enforce boolean not null,
        archived boolean not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        primary key (environment_id, name),
        constraint event_types_environment_id_id_key unique (environment_id, id)
      )`);
    await runner.query(`
      create table event_type_versions (
        environment_id int not null,
        name text not null,
        version int not null,
        schema json,
        created_at timestamptz not null,
        primary key (environment_id, name, version),
        constraint event_type_versions_type_fkey foreign key (environment_id, name)
          references event_types (environment_id, name) on delete cascade
      )`);
    await runner.query('alter table environments add column public_event_catalog boolean not null default false');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table environments drop column public_event_catalog');
    await runner.query('drop table event_type_versions, event_types');
  }
}
