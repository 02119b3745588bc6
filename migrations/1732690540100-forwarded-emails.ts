import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the envelope sender of forwarded messages to `emails`. Adding a nullable column without a default changes only
 * the catalog, for all partitions under one brief access exclusive lock.
 */
export class ForwardedEmails1732690540100 implements MigrationInterface {
  name = 'ForwardedEmails1732690540100';

  async up(runner: QueryRunner): Promise<void> {
    // Limits the wait for a lock to 10 s, because later queries on the table must wait for this migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table emails add column original_sender text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table emails drop column original_sender');
  }
}
