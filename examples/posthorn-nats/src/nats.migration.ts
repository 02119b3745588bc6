import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates tables for published messages that are not counted yet, and for the counts. New tables only: no lock on
 * existing tables. No foreign key refers to Posthorn's tables, so that they can change independently.
 */
export class NatsSubjectHours1732500000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table nats_publishes (
        id bigint generated always as identity primary key,
        environment_id int not null,
        stream text not null,
        subject text not null,
        bytes int not null,
        published_at timestamptz not null
      )`);
    await runner.query(`
      create table nats_subject_hours (
        environment_id int not null,
        hour timestamptz not null,
        stream text not null,
        subject text not null,
        messages bigint not null,
        bytes bigint not null,
        constraint nats_subject_hours_pkey primary key (environment_id, hour, stream, subject)
      )`);
    await runner.query('create index nats_subject_hours_hour_idx on nats_subject_hours (hour)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table nats_subject_hours');
    await runner.query('drop table nats_publishes');
  }
}
