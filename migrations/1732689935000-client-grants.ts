import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the grant types that an OAuth client registered for. Existing clients get the grant type that RFC 7591 defines
 * as the default. A column with a constant default changes only the catalog: a brief exclusive lock on `oauth_clients`,
 * whatever its size.
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
