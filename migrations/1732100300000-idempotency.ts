import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table that stores the first response for each idempotency key. Takes no lock on existing tables. */
export class Idempotency1732100300000 implements MigrationInterface {
  name = 'Idempotency1732100300000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table idempotency_keys (
        environment_id int not null,
        route text not null,
        key uuid not null,
        fingerprint bytea not null,
        status smallint,
        body text,
        sealed_body bytea,
        locked_until timestamptz,
        expires_at timestamptz not null,
        constraint idempotency_keys_pkey primary key (environment_id, route, key)
      )`);
    await runner.query('create index idempotency_keys_expires_at_idx on idempotency_keys (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table idempotency_keys');
  }
}
