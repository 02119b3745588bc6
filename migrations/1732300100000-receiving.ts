import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the table of raw requests. Adds to events the received body, and the `disposition` of events that were not
 * routed. The new columns are nullable without a default, so adding them changes only the catalog.
 */
export class Receiving1732300100000 implements MigrationInterface {
  name = 'Receiving1732300100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table events
        add column disposition text check (disposition in ('quarantined', 'parked', 'ignored')),
        add column body bytea`);
    await runner.query(`
      create index events_disposition_idx on events (environment_id, disposition, id) where disposition is not null`);
    await runner.query('alter table due_deliveries add column endpoint_id uuid');
    await runner.query('alter table deliveries add column endpoint_id uuid');
    await runner.query(`
      create table requests (
        environment_id int not null,
        id uuid not null,
        expires_on date not null,
        endpoint_id uuid not null,
        method text not null,
        url text not null,
        path text not null,
        query text not null,
        headers jsonb not null,
        body bytea,
        size_bytes int not null,
        ip text not null,
        verification text not null check (verification in ('verified', 'failed', 'none')),
        dedupe_id text,
        note text,
        replay_of uuid,
        constraint requests_pkey primary key (environment_id, id, expires_on)
      ) partition by range (expires_on)`);
    await runner.query('create index requests_endpoint_id_idx on requests (environment_id, endpoint_id, id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table requests');
    await runner.query('alter table deliveries drop column endpoint_id');
    await runner.query('alter table due_deliveries drop column endpoint_id');
    await runner.query('alter table events drop column body, drop column disposition');
  }
}
