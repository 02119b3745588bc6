import type { MigrationInterface, QueryRunner } from 'typeorm';

const KINDS = `'key', 'member', 'operator', 'token', 'unknown'`;

/**
 * Adds a kind of actor to the audit log. Existing rows satisfy the new check because they satisfied the old one, which
 * is narrower. They are therefore not read again (`not valid`), and the lock is brief, whatever the size of the log.
 */
export class AuditPortal1732688200000 implements MigrationInterface {
  name = 'AuditPortal1732688200000';

  async up(runner: QueryRunner): Promise<void> {
    // Other queries on the log would wait as long as this lock waits for a long export. The timeout makes the start
    // fail instead, and the start is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table audit_log drop constraint audit_log_actor_kind_check');
    await runner.query(
      `alter table audit_log add constraint audit_log_actor_kind_check check (actor_kind in (${KINDS}, 'portal')) not valid`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table audit_log drop constraint audit_log_actor_kind_check');
    // Entries of portal sessions stay in the log permanently.
    await runner.query(
      `alter table audit_log add constraint audit_log_actor_kind_check check (actor_kind in (${KINDS})) not valid`,
    );
  }
}
