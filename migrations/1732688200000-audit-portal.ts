import type { MigrationInterface, QueryRunner } from 'typeorm';

const KINDS = `'key', 'member', 'operator', 'token', 'unknown'`;

/**
 * The audit log takes one more kind of actor. What is there fits the new check as it fitted the old one, which is narrower: it is not read
 * again (`not valid`), and the lock lasts for a moment however long the log is.
 */
export class AuditPortal1732688200000 implements MigrationInterface {
  name = 'AuditPortal1732688200000';

  async up(runner: QueryRunner): Promise<void> {
    // Behind a long export the log would be closed to everybody: rather fail the start, which is then repeated.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table audit_log drop constraint audit_log_actor_kind_check');
    await runner.query(
      `alter table audit_log add constraint audit_log_actor_kind_check check (actor_kind in (${KINDS}, 'portal')) not valid`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table audit_log drop constraint audit_log_actor_kind_check');
    // What portals did is in the log for good.
    await runner.query(
      `alter table audit_log add constraint audit_log_actor_kind_check check (actor_kind in (${KINDS})) not valid`,
    );
  }
}
