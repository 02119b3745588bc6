import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the tables of destinations, the circuit breakers of targets, and the rate-limit tokens of rate-limited
 * targets. Takes no lock on existing tables.
 */
export class Destinations1732100100000 implements MigrationInterface {
  name = 'Destinations1732100100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table destinations (
        environment_id int not null references environments (id),
        id uuid not null,
        name text not null,
        type text not null,
        url text,
        config jsonb not null,
        credentials bytea,
        headers jsonb not null,
        retry jsonb,
        rate_limit jsonb,
        timeout_ms int not null,
        validation text not null check (validation in ('pending', 'valid', 'stale', 'invalid')),
        status text not null check (status in ('active', 'disabled')),
        disabled_reason text,
        version int not null,
        secret bytea not null,
        previous_secret bytea,
        previous_secret_until timestamptz,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        primary key (environment_id, id)
      )`);
    await runner.query(`
      create table circuits (
        environment_id int not null,
        target_id uuid not null,
        state text not null check (state in ('closed', 'open', 'half_open')),
        consecutive_failures int not null,
        opened_at timestamptz,
        probe_at timestamptz,
        probes int not null,
        primary key (environment_id, target_id)
      )`);
    await runner.query(`
      create table target_permits (
        environment_id int not null,
        target_id uuid not null,
        tokens double precision not null,
        updated_at timestamptz not null,
        primary key (environment_id, target_id)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table target_permits, circuits, destinations');
  }
}
