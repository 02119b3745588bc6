import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the tables of the signals that cause system events, and of the system events that are being sent. Adds the
 * destination of system events to `environments`: a column without a default, which locks that table briefly, whatever
 * its size.
 *
 * Signals exist for about a minute, so their table is small but gets many dead rows. Therefore autovacuum runs after a
 * fixed number of dead rows.
 */
export class SystemEvents1732400300000 implements MigrationInterface {
  name = 'SystemEvents1732400300000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`
      create table system_signals (
        id bigint generated always as identity primary key,
        environment_id int not null,
        type text not null,
        subject uuid not null,
        details jsonb,
        count bigint not null,
        first_at timestamptz not null,
        last_at timestamptz not null,
        batch uuid
      ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)`);
    await runner.query(`
      create index system_signals_waiting_idx on system_signals (environment_id, type, subject)
      where batch is null and details is not null`);
    await runner.query(
      'create index system_signals_unknown_idx on system_signals (environment_id, subject) where details is null',
    );
    await runner.query(
      'create index system_signals_batch_idx on system_signals (environment_id, batch) where batch is not null',
    );
    await runner.query(`
      create table system_tellings (
        environment_id int not null,
        type text not null,
        opened_at timestamptz not null,
        batch uuid,
        destination_id uuid,
        expires_on date,
        claimed_until timestamptz,
        failures int not null,
        primary key (environment_id, type)
      )`);
    await runner.query(
      'create index system_tellings_batch_idx on system_tellings (claimed_until) where batch is not null',
    );
    await runner.query('alter table environments add column system_destination_id uuid');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table environments drop column system_destination_id');
    await runner.query('drop table system_tellings, system_signals');
  }
}
