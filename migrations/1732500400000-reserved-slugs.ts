import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Slugs that organizations gave up, each reserved for the one that had it: receive URLs of providers carry them. A new table
 * locks nothing; it grows by a row for each change of a slug.
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
