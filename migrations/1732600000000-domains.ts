import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the tables of customers' domains and of the keys that sign their mail. The only lock on existing tables is a
 * brief lock for a foreign key.
 */
export class Domains1732600000000 implements MigrationInterface {
  name = 'Domains1732600000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table domains (
        environment_id int not null,
        id uuid not null,
        host text not null,
        kind text not null,
        state text not null,
        token text not null,
        is_owner boolean not null,
        sending_enabled boolean not null,
        receiving_enabled boolean not null,
        return_path_seen boolean not null,
        judged jsonb not null,
        missing_seconds int not null,
        missing_seen_at timestamptz,
        checks int not null,
        checked_at timestamptz,
        next_check_at timestamptz not null,
        claimed_until timestamptz,
        version int not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        verified_at timestamptz,
        constraint domains_pkey primary key (environment_id, id),
        constraint domains_environment_id_fkey foreign key (environment_id) references environments (id),
        constraint domains_kind_check check (kind in ('webhook', 'email', 'email-send')),
        constraint domains_state_check check (state in ('pending-dns', 'verified', 'failed'))
      )`);
    await runner.query('create unique index domains_host_idx on domains (environment_id, host)');
    // Several environments may request a host, but only one environment of the installation can be its verified owner.
    await runner.query('create unique index domains_owner_idx on domains (host) where is_owner');
    await runner.query('create index domains_next_check_at_idx on domains (next_check_at)');
    await runner.query(`
      create table dkim_keys (
        selector text primary key,
        public_key text not null,
        private_key bytea not null,
        state text not null check (state in ('current', 'idle', 'next')),
        made_at timestamptz not null
      )`);
    await runner.query(`create unique index dkim_keys_current_idx on dkim_keys (state) where state = 'current'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table dkim_keys, domains');
  }
}
