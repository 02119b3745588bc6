import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the tables of data keys, named secrets, and the uses of secrets. The only lock on existing tables is a brief
 * lock for a foreign key.
 */
export class Secrets1732200000000 implements MigrationInterface {
  name = 'Secrets1732200000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table data_keys (
        id int primary key,
        wrapped bytea not null,
        created_at timestamptz not null
      )`);
    await runner.query(`
      create table secrets (
        environment_id int not null references environments (id),
        id uuid not null,
        name text not null,
        description text,
        value bytea not null,
        version int not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        primary key (environment_id, id),
        constraint secrets_environment_id_name_key unique (environment_id, name)
      )`);
    await runner.query(`
      create table secret_uses (
        environment_id int not null,
        secret_id uuid not null,
        user_kind text not null check (user_kind in ('destination', 'endpoint')),
        user_id uuid not null,
        primary key (environment_id, secret_id, user_kind, user_id),
        constraint secret_uses_secret_fkey foreign key (environment_id, secret_id) references secrets (environment_id, id)
      )`);
    await runner.query('create index secret_uses_user_idx on secret_uses (environment_id, user_kind, user_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table secret_uses, secrets, data_keys');
  }
}
