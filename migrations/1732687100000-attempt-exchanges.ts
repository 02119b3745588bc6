import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the request and response of failed attempts. The column has no default, so no rows are rewritten. A single brief
 * lock covers all partitions.
 */
export class AttemptExchanges1732687100000 implements MigrationInterface {
  name = 'AttemptExchanges1732687100000';

  async up(runner: QueryRunner): Promise<void> {
    // Limits the wait for a lock to 10 s, because later queries on the table must wait for this migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table attempts add column exchange text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table attempts drop column exchange');
  }
}
