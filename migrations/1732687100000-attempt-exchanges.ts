import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What was sent and answered in attempts that failed. A nullable column: only the catalogue changes, of every partition under one lock. */
export class AttemptExchanges1732687100000 implements MigrationInterface {
  name = 'AttemptExchanges1732687100000';

  async up(runner: QueryRunner): Promise<void> {
    // Behind a long read the table would be closed to everybody: rather fail the start, which is then repeated.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table attempts add column exchange text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table attempts drop column exchange');
  }
}
