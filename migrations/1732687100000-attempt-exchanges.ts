import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the request and response of failed attempts. The column has no default, so no rows are rewritten. A single brief
 * lock covers all partitions.
 */
export class AttemptExchanges1732687100000 implements MigrationInterface {
  name = 'AttemptExchanges1732687100000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table attempts add column exchange text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table attempts drop column exchange');
  }
}
