import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the settings of an alias that act on its mail: forwarding, the automatic reply, and the lifetime of signed links.
 * Adding a column without a default, or with a constant one, changes only the catalog, under a brief access exclusive
 * lock on `aliases`. The new tables are empty.
 */
export class AliasActions1732690540000 implements MigrationInterface {
  name = 'AliasActions1732690540000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`
      alter table aliases add column forward_to text[] not null default '{}', add column auto_reply jsonb,
        add column link_ttl_seconds int`);
    await runner.query(`
      create table forward_addresses (
        environment_id int not null constraint forward_addresses_environment_id_fkey references environments (id),
        address text not null,
        state text not null constraint forward_addresses_state_check check (state in ('pending', 'confirmed', 'refused')),
        nonce uuid not null,
        requested_at timestamptz not null,
        decided_at timestamptz,
        send_at timestamptz,
        tries int not null,
        detail text,
        constraint forward_addresses_pkey primary key (environment_id, address)
      )`);
    await runner.query(
      'create index forward_addresses_send_at_idx on forward_addresses (send_at) where send_at is not null',
    );
    await runner.query(`
      create table auto_replies (
        environment_id int not null constraint auto_replies_environment_id_fkey references environments (id),
        alias_id uuid not null,
        sender text not null,
        message_id uuid not null,
        replied_at timestamptz not null,
        expires_at timestamptz not null,
        constraint auto_replies_pkey primary key (environment_id, alias_id, sender)
      )`);
    await runner.query('create index auto_replies_recent_idx on auto_replies (environment_id, alias_id, replied_at)');
    await runner.query('create index auto_replies_expires_at_idx on auto_replies (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table auto_replies');
    await runner.query('drop table forward_addresses');
    await runner.query(
      'alter table aliases drop column link_ttl_seconds, drop column auto_reply, drop column forward_to',
    );
  }
}
