import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds `unanswered_since`: the time at which name servers first failed to answer a query on which the acceptance of a
 * received message depends. The retries of this query count from this time, so that they survive a restart.
 *
 * Takes a brief access exclusive lock on `inbox_messages` and its partitions: a column without a default rewrites
 * nothing.
 */
export class MailAwaitsDns1732689764000 implements MigrationInterface {
  name = 'MailAwaitsDns1732689764000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table inbox_messages add column unanswered_since timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table inbox_messages drop column unanswered_since');
  }
}
