import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the unsubscribe setting to versions of templates. A nullable column without a default changes only the catalog:
 * an exclusive lock on `template_versions` for a few milliseconds, whatever the number of rows.
 */
export class TemplateUnsubscribe1732690700000 implements MigrationInterface {
  name = 'TemplateUnsubscribe1732690700000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table template_versions add column unsubscribe jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table template_versions drop column unsubscribe');
  }
}
