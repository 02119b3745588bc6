import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the sign-in session to audit entries. The column has no default, so no rows are rewritten, and the lock is
 * brief.
 */
export class AuditSessions1732682000000 implements MigrationInterface {
  name = 'AuditSessions1732682000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table audit_log add column actor_session text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table audit_log drop column actor_session');
  }
}
