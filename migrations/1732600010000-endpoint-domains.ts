import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the customer domain of an endpoint. A domain with endpoints cannot be deleted. No endpoint has a domain yet.
 *
 * The foreign key is added under a brief lock, without validating the rows. The validation scans `endpoints`, which has
 * a few thousand rows, under a lock that does not block requests. `create index` blocks changes to endpoints for about
 * as long.
 */
export class EndpointDomains1732600010000 implements MigrationInterface {
  name = 'EndpointDomains1732600010000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
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
