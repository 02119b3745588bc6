import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the DKIM signatures of emails that mail clients submit, which are signed after they were accepted. Adding a
 * nullable column without a default changes only the catalog, for all partitions under one brief access exclusive lock.
 */
export class EmailSignatures1732690730000 implements MigrationInterface {
  name = 'EmailSignatures1732690730000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table emails add column signature text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table emails drop column signature');
  }
}
