import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a destination may sign with besides its secret, how many attempts it takes at once, and which destinations belong
 * to an endpoint of an application instead of standing in the list.
 *
 * The columns change the catalogue only (access exclusive for a moment). The two indexes take a share lock on
 * `destinations` while they are built: writes to it wait, deliveries only read it. A table of destinations is small
 * (100,000 rows: under a second); at ten million it would be ten seconds.
 */
export class Signatures1732400200000 implements MigrationInterface {
  name = 'Signatures1732400200000';

  async up(runner: QueryRunner): Promise<void> {
    // Behind a long read the table would be closed to everybody: rather fail the start, which is then repeated.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`
      alter table destinations
        add column owner_id uuid,
        add column concurrency int,
        add column is_asymmetric boolean not null default false,
        add column private_key bytea,
        add column previous_private_key bytea,
        add column legacy_signature jsonb,
        add column legacy_secret bytea`);
    await runner.query(
      'create index destinations_listed_idx on destinations (environment_id, id) where owner_id is null',
    );
    await runner.query(
      'create index destinations_owner_id_idx on destinations (environment_id, owner_id) where owner_id is not null',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    // What belongs to an application can't be shown, changed or deleted without its owner.
    await runner.query('delete from destinations where owner_id is not null');
    await runner.query(`
      alter table destinations
        drop column legacy_secret,
        drop column legacy_signature,
        drop column previous_private_key,
        drop column private_key,
        drop column is_asymmetric,
        drop column concurrency,
        drop column owner_id`);
  }
}
