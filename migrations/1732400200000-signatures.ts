import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds to destinations: further signing keys in addition to the secret, the maximum number of concurrent attempts, and
 * the owner. A destination with an owner belongs to an application's endpoint and does not appear in lists.
 *
 * Adding the columns changes only the catalog (a brief access exclusive lock). Building the two indexes takes a share
 * lock on `destinations`: writes wait, and deliveries only read the table. 100,000 rows take under one second; ten
 * million rows would take ten seconds.
 */
export class Signatures1732400200000 implements MigrationInterface {
  name = 'Signatures1732400200000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
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
    // Deletes destinations that belong to an application. Without their owner, they cannot be shown, changed or
    // deleted.
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
