import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Who let an application or a program in, so that what he granted ends when he is out: the member, or the key that he signed in with.
 * Adds nullable columns, which changes the catalogue only. Each index takes a share lock on `api_keys` while it reads it once: keys
 * are few. What was granted before is nobody's, and stays as it is.
 */
export class Granters1732689100000 implements MigrationInterface {
  name = 'Granters1732689100000';

  async up(runner: QueryRunner): Promise<void> {
    // Behind a long read a table would be closed to everybody: rather fail the start, which is then repeated.
    await runner.query(`set local lock_timeout = '10s'`);
    for (const table of ['oauth_codes', 'oauth_devices', 'api_keys']) {
      await runner.query(`alter table ${table} add column granter_member_id uuid, add column granter_key_id uuid`);
    }
    await runner.query(
      'create index api_keys_granter_member_idx on api_keys (granter_member_id) where granter_member_id is not null',
    );
    await runner.query(
      'create index api_keys_granter_key_idx on api_keys (environment_id, granter_key_id) where granter_key_id is not null',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index api_keys_granter_member_idx, api_keys_granter_key_idx');
    for (const table of ['oauth_codes', 'oauth_devices', 'api_keys']) {
      await runner.query(`alter table ${table} drop column granter_member_id, drop column granter_key_id`);
    }
  }
}
