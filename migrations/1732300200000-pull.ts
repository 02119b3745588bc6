import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates two tables: the items of pull destinations in the order of acceptance, and the position of each consumer.
 *
 * Items are ordered by transaction id. A reader returns only rows of transactions below the oldest running transaction,
 * so it does not skip rows that are committed later. Transaction ids are valid within one timeline of one PostgreSQL
 * cluster. Therefore each row also has an epoch, which increases when the database is restored, moved, or moved back.
 */
export class Pull1732300200000 implements MigrationInterface {
  name = 'Pull1732300200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table cluster_epochs (
        epoch int primary key,
        system_identifier bigint not null,
        timeline_id int not null
      )`);
    await runner.query(`
      create table pull_items (
        environment_id int not null,
        target_id uuid not null,
        epoch int not null,
        xid bigint not null,
        event_id uuid not null,
        ordinal smallint not null,
        expires_on date not null,
        endpoint_id uuid,
        replayed boolean not null,
        constraint pull_items_pkey primary key (environment_id, target_id, epoch, xid, event_id, ordinal, expires_on)
      ) partition by range (expires_on)`);
    await runner.query(`
      create table pull_positions (
        environment_id int not null,
        key_id uuid not null,
        target_id uuid not null,
        epoch int not null,
        xid bigint not null,
        event_id uuid not null,
        ordinal smallint not null,
        committed_at timestamptz not null,
        primary key (environment_id, key_id, target_id)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table pull_positions, pull_items, cluster_epochs');
  }
}
