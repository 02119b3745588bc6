import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the time at which a user was last asked to approve a self-registered client, so that registrations by strangers
 * do not evict that client. Also adds an index for counting the clients of one network.
 *
 * A nullable column changes only the catalog. The index takes a share lock on `oauth_clients` while it reads the
 * unapproved clients: 10,000 at most.
 */
export class OAuthClientTurns1732689600000 implements MigrationInterface {
  name = 'OAuthClientTurns1732689600000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table oauth_clients add column shown_at timestamptz');
    await runner.query(
      'create index oauth_clients_network_idx on oauth_clients (network, created_at) where approved_at is null',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index oauth_clients_network_idx');
    await runner.query('alter table oauth_clients drop column shown_at');
  }
}
