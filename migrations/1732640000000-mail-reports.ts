import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the table of raw reports about sent mail: bounces, complaints and provider notifications. They are stored
 * before they are parsed, and kept afterwards. Takes no lock on existing tables. Reports that match no email have no
 * environment.
 */
export class MailReports1732640000000 implements MigrationInterface {
  name = 'MailReports1732640000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table mail_reports (
        id uuid not null,
        environment_id int references environments (id),
        email_id uuid,
        source text not null check (source in ('smtp', 'ses')),
        recipient text not null,
        envelope_from text not null,
        received_from text not null,
        digest bytea not null,
        raw bytea not null,
        size_bytes int not null,
        received_at timestamptz not null,
        expires_at timestamptz not null,
        state text not null check (state in ('waiting', 'recorded', 'unmatched', 'untrusted', 'ignored')),
        kind text,
        reason text,
        due_at timestamptz not null,
        failures int not null,
        constraint mail_reports_pkey primary key (id)
      )`);
    await runner.query('create unique index mail_reports_digest_idx on mail_reports (digest)');
    await runner.query('create index mail_reports_email_idx on mail_reports (environment_id, email_id)');
    await runner.query('create index mail_reports_environment_idx on mail_reports (environment_id, id)');
    await runner.query('create index mail_reports_expires_at_idx on mail_reports (expires_at)');
    await runner.query(`create index mail_reports_due_at_idx on mail_reports (due_at) where state = 'waiting'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table mail_reports');
  }
}
