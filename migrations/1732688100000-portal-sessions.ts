import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table of customer portal sessions, with the hash of each token. Takes no lock on existing tables. */
export class PortalSessions1732688100000 implements MigrationInterface {
  name = 'PortalSessions1732688100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table portal_sessions (
        environment_id int not null references environments (id),
        id uuid not null constraint portal_sessions_id_key unique,
        application_id uuid not null,
        hash bytea not null constraint portal_sessions_hash_key unique,
        kind text not null check (kind in ('customer', 'preview')),
        permissions text[] not null,
        theme jsonb not null,
        locale text not null,
        return_url text,
        opened_by text not null,
        key_id uuid,
        member_id uuid,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        revoked_at timestamptz,
        constraint portal_sessions_pkey primary key (environment_id, application_id, id)
      )`);
    await runner.query('create index portal_sessions_expires_at_idx on portal_sessions (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table portal_sessions');
  }
}
