import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Indexes due scheduled emails by environment, for fair scheduling between environments. Writes to the table wait while
 * the index is built. The table contains only scheduled emails, so even a million rows take one or two seconds.
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
