import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the tables of email templates, and adds the template's id and version to emails. New tables and nullable
 * columns without a default change only the catalog. The last statement briefly locks `emails` and all its partitions.
 */
export class Templates1732690480000 implements MigrationInterface {
  name = 'Templates1732690480000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`
      create table templates (
        environment_id int not null constraint templates_environment_id_fkey references environments (id),
        id uuid not null,
        name text not null,
        alias text,
        version int not null,
        published_version int,
        published_at timestamptz,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        primary key (environment_id, id)
      )`);
    await runner.query('create unique index templates_alias_idx on templates (environment_id, alias)');
    await runner.query(`
      create table template_versions (
        environment_id int not null,
        template_id uuid not null,
        version int not null,
        sender text,
        reply_to text[] not null,
        subject text,
        html text,
        text text,
        variables jsonb not null,
        created_at timestamptz not null,
        primary key (environment_id, template_id, version),
        constraint template_versions_template_fkey foreign key (environment_id, template_id)
          references templates (environment_id, id) on delete cascade
      )`);
    await runner.query('alter table emails add column template_id uuid, add column template_version int');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table emails drop column template_version, drop column template_id');
    await runner.query('drop table template_versions, templates');
  }
}
