import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the granter to granted API keys: a member, or the API key that was used to sign in. Removing the granter revokes
 * the granted keys. Nullable columns change only the catalog. Each index takes a share lock on `api_keys` while it
 * reads the table once; the table is small. Existing grants have no granter and stay unchanged.
 */
export class Granters1732689100000 implements MigrationInterface {
  name = 'Granters1732689100000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
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
