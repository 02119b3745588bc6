import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the tables of applications, their endpoints, and messages. A fan-out stores its message once, for any number
 * of events. The new columns of `events` are nullable without a default, so adding them changes only the catalog.
 */
export class Applications1732400000000 implements MigrationInterface {
  name = 'Applications1732400000000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`
      create table applications (
        environment_id int not null,
        id uuid not null,
        uid text,
        name text not null,
        metadata jsonb not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        constraint applications_pkey primary key (environment_id, id),
        constraint applications_environment_id_fkey foreign key (environment_id) references environments (id)
      )`);
    await runner.query(
      'create unique index applications_uid_idx on applications (environment_id, uid) where uid is not null',
    );
    await runner.query(`
      create table application_endpoints (
        environment_id int not null,
        id uuid not null,
        application_id uuid not null,
        destination_id uuid not null,
        uid text,
        description text not null,
        event_types text[] not null,
        channels text[] not null,
        filter jsonb,
        metadata jsonb not null,
        status text not null,
        disabled_reason text,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        constraint application_endpoints_pkey primary key (environment_id, id),
        constraint application_endpoints_application_fkey foreign key (environment_id, application_id)
          references applications (environment_id, id) on delete cascade,
        constraint application_endpoints_status_check check (status in ('active', 'disabled'))
      )`);
    await runner.query(`
      create index application_endpoints_application_id_idx on application_endpoints (environment_id, application_id, id)`);
    await runner.query(`
      create unique index application_endpoints_uid_idx on application_endpoints (environment_id, application_id, uid)
      where uid is not null`);
    await runner.query(`
      create index application_endpoints_destination_id_idx on application_endpoints (environment_id, destination_id)
      where destination_id <> id`);
    await runner.query(`
      create table messages (
        environment_id int not null,
        id uuid not null,
        expires_on date not null,
        application_id uuid not null,
        event_type text not null,
        channels jsonb,
        headers jsonb,
        traceparent text,
        payload_bytes int not null,
        payload text,
        fanout smallint not null,
        erased_at timestamptz,
        constraint messages_pkey primary key (environment_id, id, expires_on)
      ) partition by range (expires_on)`);
    await runner.query('create index messages_application_id_idx on messages (environment_id, application_id, id)');
    await runner.query('alter table events add column message_id uuid, add column erased_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table events drop column erased_at, drop column message_id');
    await runner.query('drop table messages, application_endpoints, applications');
  }
}
