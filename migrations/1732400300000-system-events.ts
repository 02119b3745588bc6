import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The service's own events: signals of what happened, and what is being told of them; and where an environment's go.
 *
 * Two new tables. A column of `environments` without a default: its lock is held for a moment, whatever its size.
 * Signals live for a minute: what they leave behind is cleaned by its number, however many there are.
 */
export class SystemEvents1732400300000 implements MigrationInterface {
  name = 'SystemEvents1732400300000';

  async up(runner: QueryRunner): Promise<void> {
    // Behind a long read the table would be closed to everybody: rather fail the start, which is then repeated.
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
