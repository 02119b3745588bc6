import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the tables of OAuth clients that registered themselves, the authorization codes granted to them, and devices
 * that wait for a user to enter their code. Takes no lock on existing tables. Only the SHA-256 of issued codes and
 * tokens is stored.
 *
 * Clients belong to the installation. Devices belong to no organization until a user approves them.
 */
export class OAuth1732660000000 implements MigrationInterface {
  name = 'OAuth1732660000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table oauth_clients (
        id text not null constraint oauth_clients_pkey primary key,
        name text not null,
        uri text,
        redirect_uris text[] not null,
        network text not null,
        created_at timestamptz not null,
        approved_at timestamptz
      )`);
    await runner.query(
      'create index oauth_clients_unapproved_idx on oauth_clients (created_at) where approved_at is null',
    );
    await runner.query(`
      create table oauth_codes (
        environment_id int not null references environments (id),
        hash bytea not null,
        client_id text not null,
        client_name text not null,
        redirect_uri text not null,
        code_challenge text not null,
        lifetime_seconds int not null,
        granted_by text not null,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        used_at timestamptz,
        key_id uuid,
        constraint oauth_codes_pkey primary key (environment_id, hash)
      )`);
    await runner.query('create unique index oauth_codes_hash_idx on oauth_codes (hash)');
    await runner.query('create index oauth_codes_expires_at_idx on oauth_codes (expires_at)');
    await runner.query(`
      create table oauth_devices (
        hash bytea not null constraint oauth_devices_pkey primary key,
        user_code_hash bytea not null constraint oauth_devices_user_code_key unique,
        client_id text not null,
        client_name text not null,
        address text not null,
        state text not null check (state in ('pending', 'approved', 'denied', 'used')),
        interval_seconds int not null,
        polled_at timestamptz,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        granted_environment_id int references environments (id),
        scope text check (scope in ('read', 'write', 'admin')),
        lifetime_seconds int,
        granted_by text
      )`);
    await runner.query('create index oauth_devices_expires_at_idx on oauth_devices (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table oauth_devices, oauth_codes, oauth_clients');
  }
}
