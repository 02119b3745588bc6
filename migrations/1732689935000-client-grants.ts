import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The grants that an OAuth client registered for. Every client so far has the one that RFC 7591 gives where none is named. A column with a constant
 * default changes the catalogue only: an exclusive lock on `oauth_clients` for a moment, whatever its size.
 */
export class ClientGrants1732689935000 implements MigrationInterface {
  name = 'ClientGrants1732689935000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `alter table oauth_clients add column grant_types text[] not null default '{authorization_code}'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table oauth_clients drop column grant_types');
  }
}
