import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `expires_at`: suppressions of bounces may end (BOUNCE_SUPPRESSION_DAYS).
 *
 * Takes an access exclusive lock on `suppressions` for an instant, for a column without a default, and then a share lock while the index is
 * built: seconds at ten million rows, of which it holds none. Bounces and complaints wait meanwhile.
 */
export class SuppressionsExpire1732689766000 implements MigrationInterface {
  name = 'SuppressionsExpire1732689766000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table suppressions add column expires_at timestamptz');
    await runner.query(
      'create index suppressions_expires_at_idx on suppressions (expires_at) where expires_at is not null',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table suppressions drop column expires_at');
  }
}
