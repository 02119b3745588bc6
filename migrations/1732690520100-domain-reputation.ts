import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the hourly counts of each domain's mail, and adds the reputation to `domains`. Adding columns without a
 * default, or with a constant one, changes only the catalog, under a brief access exclusive lock on `domains`. The
 * index on `domains` blocks writes for milliseconds, because an environment has at most 1,000 domains.
 */
export class DomainReputation1732690520100 implements MigrationInterface {
  name = 'DomainReputation1732690520100';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`
      alter table domains add column reputation text not null default 'healthy',
        add column reputation_cause text,
        add column reputation_at timestamptz,
        add column counts_since timestamptz,
        add column thresholds jsonb,
        add constraint domains_reputation_check check (reputation in ('healthy', 'at_risk', 'paused'))`);
    await runner.query(
      `create index domains_reputation_idx on domains (environment_id, id) where reputation <> 'healthy'`,
    );
    await runner.query(`
      create table domain_mail_counts (
        environment_id int not null,
        domain_id uuid not null,
        start timestamptz not null,
        sent int not null,
        delivered int not null,
        bounced int not null,
        complained int not null,
        constraint domain_mail_counts_pkey primary key (environment_id, domain_id, start),
        constraint domain_mail_counts_domain_fkey foreign key (environment_id, domain_id)
          references domains (environment_id, id) on delete cascade
      )`);
    await runner.query('create index domain_mail_counts_start_idx on domain_mail_counts (start)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table domain_mail_counts');
    await runner.query('drop index domains_reputation_idx');
    await runner.query(`
      alter table domains drop constraint domains_reputation_check, drop column thresholds, drop column counts_since,
        drop column reputation_at, drop column reputation_cause, drop column reputation`);
  }
}
