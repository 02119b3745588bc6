import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the client to which a key was granted, and the member who granted it. Nullable columns change only the catalog:
 * a brief exclusive lock on `api_keys`, whatever its size.
 */
export class GrantedKeys1732660010000 implements MigrationInterface {
  name = 'GrantedKeys1732660010000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table api_keys add column client_id text, add column client_name text, add column granted_by text',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table api_keys drop column client_id, drop column client_name, drop column granted_by');
  }
}
