import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the ledger: events, open deliveries (`due_deliveries`), finished deliveries (`deliveries`) and attempts.
 * Takes no lock on existing tables.
 *
 * All tables except `due_deliveries` are partitioned by the day on which the row expires. Each environment sets its own
 * retention, and retention drops whole partitions. Rows are written once, except in `due_deliveries`, which contains
 * only open deliveries and is updated. Claimed rows of `due_deliveries` are in no index except the primary key.
 */
export class Ledger1732100200000 implements MigrationInterface {
  name = 'Ledger1732100200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table events (
        environment_id int not null,
        id uuid not null,
        expires_on date not null,
        target_id uuid not null,
        url text,
        direction text not null,
        event_type text not null,
        headers jsonb,
        traceparent text,
        payload_bytes int not null,
        payload text,
        constraint events_pkey primary key (environment_id, id, expires_on)
      ) partition by range (expires_on)`);
    await runner.query('create index events_target_id_idx on events (environment_id, target_id, id)');
    await runner.query('create index events_event_type_idx on events (environment_id, event_type, id)');
    await runner.query(`
      create table deliveries (
        environment_id int not null,
        event_id uuid not null,
        ordinal smallint not null,
        expires_on date not null,
        target_id uuid not null,
        status text not null check (status in ('delivered', 'failed', 'dlq')),
        reason text,
        attempts smallint not null,
        replayed boolean not null,
        superseded boolean not null,
        settled_at timestamptz not null,
        constraint deliveries_pkey primary key (environment_id, event_id, ordinal, expires_on)
      ) partition by range (expires_on)`);
    await runner.query(`
      create index deliveries_status_idx on deliveries (environment_id, status, event_id)
      where status <> 'delivered' and not superseded`);
    await runner.query(`
      create index deliveries_target_id_idx on deliveries (environment_id, target_id, status, event_id)
      where status <> 'delivered' and not superseded`);
    await runner.query(`
      create table attempts (
        environment_id int not null,
        event_id uuid not null,
        ordinal smallint not null,
        number smallint not null,
        expires_on date not null,
        started_at timestamptz not null,
        duration_ms int not null,
        status smallint,
        error text,
        response_excerpt text,
        constraint attempts_pkey primary key (environment_id, event_id, ordinal, number, expires_on)
      ) partition by range (expires_on)`);
    await runner.query(`
      create table due_deliveries (
        environment_id int not null,
        event_id uuid not null,
        ordinal smallint not null,
        expires_on date not null,
        target_id uuid not null,
        due_at timestamptz not null,
        claimed_by uuid,
        parked boolean not null,
        attempts smallint not null,
        attempts_used smallint not null,
        first_attempt_at timestamptz,
        replayed boolean not null,
        superseded boolean not null,
        constraint due_deliveries_pkey primary key (environment_id, event_id, ordinal)
      ) with (
        fillfactor = 70,
        autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_vacuum_threshold = 20000,
        vacuum_truncate = false,
        autovacuum_analyze_scale_factor = 0.2,
        autovacuum_vacuum_cost_delay = 1
      )`);
    await runner.query(`
      create index due_deliveries_due_at_idx on due_deliveries (due_at)
      where claimed_by is null and not parked`);
    await runner.query(`
      create index due_deliveries_parked_idx on due_deliveries (environment_id, target_id, due_at)
      where claimed_by is null and parked`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table due_deliveries, attempts, deliveries, events');
  }
}
