import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * To which client a key was granted, and by whom. Adds nullable columns, which changes the catalogue only: an exclusive lock on
 * `api_keys` for a moment, whatever its size.
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
