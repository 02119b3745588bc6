import type { MigrationInterface, QueryRunner } from 'typeorm';

const KINDS = `'key', 'member', 'operator', 'token', 'unknown'`;

/**
 * Adds the actor kind `portal` to the audit log. Existing rows satisfy the new check because they satisfied the old
 * one, which is narrower. They are therefore not read again (`not valid`), and the lock is brief, whatever the size of
 * the log.
 */
export class AuditPortal1732688200000 implements MigrationInterface {
  name = 'AuditPortal1732688200000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table audit_log drop constraint audit_log_actor_kind_check');
    await runner.query(
      `alter table audit_log add constraint audit_log_actor_kind_check check (actor_kind in (${KINDS}, 'portal')) not valid`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table audit_log drop constraint audit_log_actor_kind_check');
    // The log is append-only, so entries with the actor kind `portal` cannot be deleted. With `not valid`, PostgreSQL
    // does not check existing entries.
    await runner.query(
      `alter table audit_log add constraint audit_log_actor_kind_check check (actor_kind in (${KINDS})) not valid`,
    );
  }
}
