import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which session somebody was signed in with who changed something. A column without a default: no row is written, and the lock lasts for a moment. */
export class AuditSessions1732682000000 implements MigrationInterface {
  name = 'AuditSessions1732682000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table audit_log add column actor_session text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table audit_log drop column actor_session');
  }
}
