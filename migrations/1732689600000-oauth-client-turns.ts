import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * When a person was last asked about a client that registered itself, so that what strangers register does not displace it; and an index for
 * counting those of one network. Adds a nullable column, which changes the catalogue only. The index takes a share lock on `oauth_clients`
 * while it reads the clients that nobody approved: 10,000 at most.
 */
export class OAuthClientTurns1732689600000 implements MigrationInterface {
  name = 'OAuthClientTurns1732689600000';

  async up(runner: QueryRunner): Promise<void> {
    // Behind a long read a table would be closed to everybody: rather fail the start, which is then repeated.
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
