import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the sign-in session to audit entries. A column without a default rewrites no rows and takes a brief lock. */
export class AuditSessions1732682000000 implements MigrationInterface {
  name = 'AuditSessions1732682000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table audit_log add column actor_session text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table audit_log drop column actor_session');
  }
}
