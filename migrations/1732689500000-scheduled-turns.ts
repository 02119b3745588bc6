import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What is due of each environment, for taking turns. Writes to the table wait while the index is built: it holds what leaves later and
 * nothing else, so that even a million rows take a second or two.
 */
export class ScheduledTurns1732689500000 implements MigrationInterface {
  name = 'ScheduledTurns1732689500000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create index scheduled_emails_try_at_idx on scheduled_emails (environment_id, try_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index scheduled_emails_try_at_idx');
  }
}
