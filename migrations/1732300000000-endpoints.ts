import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables of inbound endpoints and routes. Only a foreign key takes a brief lock on an existing table. */
export class Endpoints1732300000000 implements MigrationInterface {
  name = 'Endpoints1732300000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table endpoints (
        environment_id int not null references environments (id),
        id uuid not null,
        name text not null,
        domain_id uuid,
        path text not null,
        preset text,
        verification text not null,
        verification_config jsonb,
        secrets bytea,
        response_rules jsonb,
        response_proxy jsonb,
        transform jsonb,
        response bytea,
        status text not null check (status in ('active', 'paused', 'disabled')),
        version int not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        primary key (environment_id, id)
      )`);
    // Endpoints are found by their URL, which is therefore unique across organizations. Without a domain_id, the URL is
    // on the platform's host.
    await runner.query('create unique index endpoints_path_idx on endpoints (path, domain_id) nulls not distinct');
    await runner.query(`
      create table routes (
        environment_id int not null,
        id uuid not null,
        endpoint_id uuid not null,
        destination_id uuid not null,
        filter jsonb,
        position int not null,
        primary key (environment_id, id),
        constraint routes_endpoint_fkey foreign key (environment_id, endpoint_id) references endpoints (environment_id, id) on delete cascade
      )`);
    await runner.query('create index routes_endpoint_id_idx on routes (environment_id, endpoint_id, position)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table routes, endpoints');
  }
}
