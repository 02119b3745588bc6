import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which origins may show the customers' portal of an environment in a frame. A column with a constant default: no row is written, and the lock lasts for a moment. */
export class PortalOrigins1732688000000 implements MigrationInterface {
  name = 'PortalOrigins1732688000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table environments add column portal_origins text[] not null default '{}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table environments drop column portal_origins');
  }
}
