import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `unanswered_since`: when name servers failed first to answer about a received message whose fate depends on them. The retries of the
 * decision are counted from it, so that they survive a restart.
 *
 * Takes an access exclusive lock on `inbox_messages` and its partitions for an instant: a column without a default rewrites nothing.
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
