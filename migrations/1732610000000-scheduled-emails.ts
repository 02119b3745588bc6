import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the table of emails that are sent later. Until an email is composed, the table contains its request and the
 * content of its attachments. The table is not partitioned, because retention counts from the time of sending. Also
 * adds a column without a default to `emails`, which locks that table briefly.
 */
export class ScheduledEmails1732610000000 implements MigrationInterface {
  name = 'ScheduledEmails1732610000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table scheduled_emails (
        environment_id int not null references environments (id),
        id uuid not null,
        due_at timestamptz not null,
        try_at timestamptz not null,
        tries int not null,
        message_id text not null,
        is_captured boolean not null,
        sender text not null,
        to_list text[] not null,
        subject text not null,
        draft jsonb not null,
        files bytea not null,
        constraint scheduled_emails_pkey primary key (environment_id, id)
      )`);
    await runner.query('create index scheduled_emails_due_at_idx on scheduled_emails (due_at)');
    await runner.query('alter table emails add column scheduled_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table emails drop column scheduled_at');
    await runner.query('drop table scheduled_emails');
  }
}
