import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the network from which a sign-in code was requested. Each network has its own codes, so that a stranger cannot
 * use up a member's attempts. A column with a constant default changes only the catalog.
 */
export class CodeNetworks1732689000000 implements MigrationInterface {
  name = 'CodeNetworks1732689000000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`alter table sign_in_codes add column network text not null default ''`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table sign_in_codes drop column network');
  }
}
