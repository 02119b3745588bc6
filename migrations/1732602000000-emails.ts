import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the tables of emails and of suppressed addresses. Emails have the same partitions as events, so an email is
 * dropped together with its event. Takes no lock on existing tables.
 *
 * The state of the recipients and the timeline are stored in the email's row. An email has at most fifty recipients,
 * which are always read and written together. Writes compare `version` and therefore need no lock.
 */
export class Emails1732602000000 implements MigrationInterface {
  name = 'Emails1732602000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table emails (
        environment_id int not null,
        id uuid not null,
        expires_on date not null,
        sender text not null,
        to_list text[] not null,
        cc text[] not null,
        bcc text[] not null,
        reply_to text[] not null,
        subject text not null,
        message_id text not null,
        return_path_host text,
        is_captured boolean not null,
        tags jsonb not null,
        attachments jsonb not null,
        size_bytes int not null,
        recipients jsonb not null,
        timeline jsonb not null,
        status text not null check (status in ('sending', 'delivered', 'bounced', 'complained', 'suppressed', 'failed')),
        is_owed boolean not null,
        version int not null,
        erased_at timestamptz,
        constraint emails_pkey primary key (environment_id, id, expires_on)
      ) partition by range (expires_on)`);
    await runner.query('create index emails_status_idx on emails (environment_id, status, id)');
    await runner.query(`
      create table suppressions (
        environment_id int not null references environments (id),
        id uuid not null,
        address text not null,
        email text not null,
        origin text not null check (origin in ('bounce', 'complaint', 'manual')),
        source_id uuid,
        created_at timestamptz not null,
        constraint suppressions_pkey primary key (environment_id, id)
      )`);
    await runner.query('create unique index suppressions_address_idx on suppressions (environment_id, address)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table suppressions, emails');
  }
}
