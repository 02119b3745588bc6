import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Links received messages to the emails that they reply to. Adding a nullable column without a default changes only the
 * catalog. The partial index starts empty, because no row has a value yet, but `create index` reads each partition once
 * under a share lock: about one second per million messages. Mail that arrives in that time waits or is sent again.
 */
export class RepliesToEmails1732690540200 implements MigrationInterface {
  name = 'RepliesToEmails1732690540200';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table inbox_messages add column in_reply_to_email_id uuid');
    await runner.query(`
      create index inbox_messages_in_reply_to_email_id_idx on inbox_messages (environment_id, in_reply_to_email_id, id)
        where in_reply_to_email_id is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table inbox_messages drop column in_reply_to_email_id');
  }
}
