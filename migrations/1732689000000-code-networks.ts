import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the network from which a sign-in code was requested. Each network has its own codes, so that a stranger cannot
 * use up a member's attempts. A column with a constant default changes only the catalog.
 */
export class CodeNetworks1732689000000 implements MigrationInterface {
  name = 'CodeNetworks1732689000000';

  async up(runner: QueryRunner): Promise<void> {
    // While this lock waits behind a long read, all other queries on the table would wait too. Fail the start instead;
    // it is then retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`alter table sign_in_codes add column network text not null default ''`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table sign_in_codes drop column network');
  }
}
