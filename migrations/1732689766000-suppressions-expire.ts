import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds `expires_at`: suppressions after bounces can expire (BOUNCE_SUPPRESSION_DAYS).
 *
 * Takes a brief access exclusive lock on `suppressions` for a column without a default. Then takes a share lock while
 * the index is built: a few seconds for ten million rows, none of which are in the index. Bounces and complaints wait
 * for that time.
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
