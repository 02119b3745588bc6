import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the table of DKIM keys that each belong to one domain, and adds a column to `domains` that decides whether
 * the platform's key or the domain's key signs. Adding a column with a constant default changes only the catalog, under
 * a brief access exclusive lock on `domains`.
 */
export class DomainDkim1732690520000 implements MigrationInterface {
  name = 'DomainDkim1732690520000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`
      alter table domains add column dkim_signer text not null default 'platform',
        add column platform_dkim_until timestamptz,
        add constraint domains_dkim_signer_check check (dkim_signer in ('platform', 'domain'))`);
    await runner.query(`
      create table domain_dkim_keys (
        environment_id int not null,
        domain_id uuid not null,
        selector text not null,
        algorithm text not null,
        public_key text not null,
        private_key bytea not null,
        state text not null,
        grace_seconds int not null,
        created_at timestamptz not null,
        required_until timestamptz,
        constraint domain_dkim_keys_pkey primary key (environment_id, domain_id, selector),
        constraint domain_dkim_keys_domain_fkey foreign key (environment_id, domain_id)
          references domains (environment_id, id) on delete cascade,
        constraint domain_dkim_keys_algorithm_check check (algorithm in ('rsa-2048', 'ed25519')),
        constraint domain_dkim_keys_state_check check (state in ('pending', 'signing', 'retiring'))
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table domain_dkim_keys');
    await runner.query(
      'alter table domains drop constraint domains_dkim_signer_check, drop column platform_dkim_until, drop column dkim_signer',
    );
  }
}
