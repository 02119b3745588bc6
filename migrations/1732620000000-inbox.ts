import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the tables of received mail: aliases and their messages. The only lock on existing tables is a brief lock for
 * a foreign key.
 *
 * Messages are partitioned by the day on which retention ends, as events and deliveries are. Small messages are stored
 * in their row, so that one statement can store many of them. Larger messages are blobs with the message's id. Mail
 * hardly compresses, so it is stored uncompressed.
 */
export class Inbox1732620000000 implements MigrationInterface {
  name = 'Inbox1732620000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table aliases (
        environment_id int not null,
        id uuid not null,
        kind text not null,
        domain_id uuid,
        local_part text not null,
        address text not null,
        destination_ids uuid[] not null,
        allowed_senders text[] not null,
        max_size_bytes int,
        version int not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        removed_at timestamptz,
        constraint aliases_pkey primary key (environment_id, id),
        constraint aliases_environment_id_fkey foreign key (environment_id) references environments (id),
        constraint aliases_kind_check check (kind in ('platform', 'custom')),
        constraint aliases_domain_check check ((kind = 'custom') = (domain_id is not null))
      )`);
    // Within an environment, the address identifies an alias. If several environments own a domain one after the other,
    // each can have an alias with the same address. Only one of these aliases receives mail.
    await runner.query(
      'create unique index aliases_address_idx on aliases (environment_id, address) where removed_at is null',
    );
    await runner.query(
      `create unique index aliases_platform_idx on aliases (address) where removed_at is null and kind = 'platform'`,
    );
    await runner.query('create index aliases_host_idx on aliases (address) where removed_at is null');
    await runner.query(
      'create index aliases_domain_id_idx on aliases (environment_id, domain_id) where removed_at is null',
    );
    await runner.query(`
      create table inbox_messages (
        environment_id int not null,
        id uuid not null,
        expires_on date not null,
        alias_id uuid not null,
        state text not null check (state in ('received', 'processed', 'quarantined')),
        reason text,
        envelope_from text not null,
        envelope_to text[] not null,
        client_ip text not null,
        helo text not null,
        tls text,
        size_bytes int not null,
        sha256 bytea not null,
        raw bytea,
        message_id text,
        received_at timestamptz not null,
        claimed_by uuid,
        claimed_until timestamptz,
        tries smallint not null,
        from_address text,
        subject text,
        auth text,
        spf text,
        dkim text,
        dmarc text,
        dmarc_policy text,
        spam text,
        virus text,
        detail jsonb,
        event_id uuid,
        processed_at timestamptz,
        erased_at timestamptz,
        constraint inbox_messages_pkey primary key (environment_id, id, expires_on)
      ) partition by range (expires_on)`);
    await runner.query('alter table inbox_messages alter column raw set storage external');
    await runner.query('create index inbox_messages_alias_id_idx on inbox_messages (environment_id, alias_id, id)');
    await runner.query('create index inbox_messages_sha256_idx on inbox_messages (environment_id, alias_id, sha256)');
    await runner.query(
      `create index inbox_messages_received_idx on inbox_messages (environment_id, id) where state = 'received'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table inbox_messages, aliases');
  }
}
