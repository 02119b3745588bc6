import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the table of the former slugs of organizations. Each former slug stays reserved for its organization, because
 * receive URLs at providers contain the slug. Takes no lock on existing tables. The table grows by one row per change
 * of a slug.
 */
export class ReservedSlugs1732500400000 implements MigrationInterface {
  name = 'ReservedSlugs1732500400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table reserved_slugs (
        slug text primary key,
        organization_id uuid not null,
        given_up_at timestamptz not null default now()
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table reserved_slugs');
  }
}
