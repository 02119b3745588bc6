import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the tables of members of organizations, their sessions, and their mailed sign-in codes. Takes no lock on
 * existing tables.
 *
 * A session belongs to a member, or to the key that opened it. Only the SHA-256 of tokens and codes is stored. Codes
 * belong to addresses, because a person with one address can be a member of several organizations.
 */
export class Members1732650000000 implements MigrationInterface {
  name = 'Members1732650000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table members (
        organization_id uuid not null references organizations (id),
        id uuid not null,
        email text not null,
        name text not null,
        role text not null check (role in ('read', 'write', 'admin')),
        created_at timestamptz not null,
        last_signed_in_at timestamptz,
        removed_at timestamptz,
        constraint members_pkey primary key (organization_id, id)
      )`);
    await runner.query(
      'create unique index members_email_idx on members (email, organization_id) where removed_at is null',
    );
    await runner.query(`
      create table sessions (
        organization_id uuid not null references organizations (id),
        id uuid not null,
        hash bytea not null constraint sessions_hash_key unique,
        member_id uuid,
        key_environment_id int,
        key_id uuid,
        how text not null check (how in ('key', 'code', 'oidc')),
        network text not null,
        user_agent text not null,
        created_at timestamptz not null,
        last_seen_at timestamptz not null,
        expires_at timestamptz not null,
        revoked_at timestamptz,
        constraint sessions_pkey primary key (organization_id, id),
        constraint sessions_member_fkey foreign key (organization_id, member_id) references members (organization_id, id),
        constraint sessions_key_fkey foreign key (key_environment_id, key_id) references api_keys (environment_id, id),
        constraint sessions_owner_check check ((member_id is null) <> (key_id is null))
      )`);
    await runner.query('create index sessions_expires_at_idx on sessions (expires_at)');
    await runner.query(
      'create index sessions_member_id_idx on sessions (organization_id, member_id) where member_id is not null',
    );
    await runner.query(
      'create index sessions_key_id_idx on sessions (key_environment_id, key_id) where key_id is not null',
    );
    await runner.query(`
      create table sign_in_codes (
        ticket_hash bytea not null constraint sign_in_codes_pkey primary key,
        email text not null,
        code_hash bytea not null,
        tries int not null,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        used_at timestamptz
      )`);
    await runner.query('create index sign_in_codes_email_idx on sign_in_codes (email, created_at)');
    await runner.query('create index sign_in_codes_expires_at_idx on sign_in_codes (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table sign_in_codes, sessions, members');
  }
}
