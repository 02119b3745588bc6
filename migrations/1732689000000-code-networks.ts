import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * From which network a code for the sign-in was asked for: each has codes of its own, so that no stranger uses up a member's. A column
 * with a constant default changes the catalogue only.
 */
export class CodeNetworks1732689000000 implements MigrationInterface {
  name = 'CodeNetworks1732689000000';

  async up(runner: QueryRunner): Promise<void> {
    // Behind a long read the table would be closed to everybody: rather fail the start, which is then repeated.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`alter table sign_in_codes add column network text not null default ''`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table sign_in_codes drop column network');
  }
}
