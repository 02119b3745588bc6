import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds request and response of failed attempts. A nullable column changes only the catalog, for all partitions under
 * one lock.
 */
export class AttemptExchanges1732687100000 implements MigrationInterface {
  name = 'AttemptExchanges1732687100000';

  async up(runner: QueryRunner): Promise<void> {
    // While this migration waits for a lock, all later queries on the table wait too. The timeout limits this wait: the
    // start of the service then fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table attempts add column exchange text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table attempts drop column exchange');
  }
}
