import type { MigrationInterface, QueryRunner } from 'typeorm';

const NOBODY = '00000000-0000-0000-0000-000000000000';

/**
 * Creates the audit log. Takes no lock on existing tables.
 *
 * The log is append-only: triggers reject updates, deletes and truncations from every user. It is partitioned by month,
 * so that retention drops whole tables. Entries without an organization have the all-zero id.
 */
export class AuditLog1732650100000 implements MigrationInterface {
  name = 'AuditLog1732650100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table audit_log (
        organization_id uuid not null default '${NOBODY}',
        id uuid not null,
        on_day date not null,
        at timestamptz not null,
        environment_id int,
        actor_kind text not null check (actor_kind in ('key', 'member', 'operator', 'token', 'unknown')),
        actor_id text,
        actor_name text,
        actor_source text,
        action text not null,
        resource_type text,
        resource_id text,
        ip text,
        user_agent text,
        request_id text,
        before jsonb,
        after jsonb,
        constraint audit_log_pkey primary key (organization_id, id, on_day)
      ) partition by range (on_day)`);
    await runner.query('create index audit_log_actor_id_idx on audit_log (organization_id, actor_id, id)');
    await runner.query('create index audit_log_resource_id_idx on audit_log (organization_id, resource_id, id)');
    await runner.query(`
      create function audit_log_is_append_only() returns trigger language plpgsql as $$
      begin
        raise exception 'The audit log can be added to, and nothing else.' using errcode = 'insufficient_privilege';
      end $$`);
    await runner.query(
      'create trigger audit_log_append_only before update or delete on audit_log for each row execute function audit_log_is_append_only()',
    );
    await runner.query(
      'create trigger audit_log_no_truncate before truncate on audit_log for each statement execute function audit_log_is_append_only()',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table audit_log');
    await runner.query('drop function audit_log_is_append_only()');
  }
}
