import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Endpoints on customers' domains: a domain that one is on can't be deleted. No endpoint has one yet. The foreign key is
 * added without a look at the rows, under a lock that is held for a moment, and proved under one that lets requests go on:
 * a scan of `endpoints`, which are thousands. `create index` holds changes of endpoints up for as long.
 */
export class EndpointDomains1732600010000 implements MigrationInterface {
  name = 'EndpointDomains1732600010000';

  async up(runner: QueryRunner): Promise<void> {
    // Behind a long read the table would be closed to everybody: rather fail the start, which is then repeated.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`
      alter table endpoints add constraint endpoints_domain_fkey
      foreign key (environment_id, domain_id) references domains (environment_id, id) not valid`);
    await runner.query('alter table endpoints validate constraint endpoints_domain_fkey');
    await runner.query(
      'create index endpoints_domain_id_idx on endpoints (environment_id, domain_id) where domain_id is not null',
    );
    await runner.query(`create index domains_webhook_idx on domains (environment_id, id) where kind = 'webhook'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index domains_webhook_idx');
    await runner.query('drop index endpoints_domain_id_idx');
    await runner.query('alter table endpoints drop constraint endpoints_domain_fkey');
  }
}
