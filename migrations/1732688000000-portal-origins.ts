import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the origins that may show an environment's customer portal in a frame. The default is constant, so no rows are
 * rewritten, and the lock is brief.
 */
export class PortalOrigins1732688000000 implements MigrationInterface {
  name = 'PortalOrigins1732688000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table environments add column portal_origins text[] not null default '{}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table environments drop column portal_origins');
  }
}
