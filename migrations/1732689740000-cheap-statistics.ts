import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Queues, and what is found by whole keys alone: plans of these depend on no distribution. A tenth of the sample is taken then. */
const SMALL: Readonly<Record<string, readonly string[]>> = {
  due_deliveries: [
    'environment_id',
    'event_id',
    'ordinal',
    'expires_on',
    'target_id',
    'due_at',
    'claimed_by',
    'parked',
    'attempts',
    'attempts_used',
    'first_attempt_at',
    'replayed',
    'superseded',
  ],
  idempotency_keys: ['environment_id', 'route', 'key', 'status', 'locked_until', 'expires_at'],
  rollups: ['environment_id', 'key_id', 'resolution', 'start'],
};
/** No plan asks what is in these: not looked at. Of an array an analyze counts the elements of each row. */
const NONE: Readonly<Record<string, readonly string[]>> = {
  idempotency_keys: ['fingerprint', 'body', 'sealed_body'],
  rollups: ['histogram', 'received', 'delivered', 'failed', 'retried', 'dlq', 'attempts'],
};

/**
 * Statistics of hot tables are taken from a tenth of the rows, and of what is looked for: an analyze computes what it has read in one go, beside
 * the accepts, and autovacuum makes one of these tables every few minutes under load.
 *
 * Takes `share update exclusive` on each table for a moment, whatever its size: neither reads nor writes wait, only a vacuum that runs does, or is given up.
 */
export class CheapStatistics1732689740000 implements MigrationInterface {
  name = 'CheapStatistics1732689740000';

  async up(runner: QueryRunner): Promise<void> {
    await this.set(runner, SMALL, 10);
    await this.set(runner, NONE, 0);
  }

  async down(runner: QueryRunner): Promise<void> {
    await this.set(runner, SMALL, -1);
    await this.set(runner, NONE, -1);
  }

  private async set(
    runner: QueryRunner,
    columns: Readonly<Record<string, readonly string[]>>,
    target: number,
  ): Promise<void> {
    for (const [table, names] of Object.entries(columns)) {
      await runner.query(
        `alter table ${table} ${names.map((name) => `alter column ${name} set statistics ${target}`).join(', ')}`,
      );
    }
  }
}
