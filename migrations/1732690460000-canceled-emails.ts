import type { MigrationInterface, QueryRunner } from 'typeorm';

const BEFORE = ['sending', 'delivered', 'bounced', 'complained', 'suppressed', 'failed'];

/**
 * Allows the status `canceled`. Existing rows satisfy the new check because they satisfied the old one, which is
 * narrower. They are therefore not read again (`not valid`), and the access exclusive lock on `emails` and its
 * partitions is brief, whatever their size.
 */
export class CanceledEmails1732690460000 implements MigrationInterface {
  name = 'CanceledEmails1732690460000';

  async up(runner: QueryRunner): Promise<void> {
    await replace(runner, [...BEFORE, 'canceled']);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`update emails set status = 'failed' where status = 'canceled'`);
    await replace(runner, BEFORE);
  }
}

async function replace(runner: QueryRunner, statuses: readonly string[]): Promise<void> {
  const list = statuses.map((status) => `'${status}'`).join(', ');
  // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
  // timeout, the start of the service fails and is retried.
  await runner.query(`set local lock_timeout = '10s'`);
  await runner.query(`
    alter table emails drop constraint emails_status_check,
      add constraint emails_status_check check (status in (${list})) not valid`);
}
