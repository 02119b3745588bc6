import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Columns whose statistics use a tenth of the normal sample, because no query plan depends on the distribution of their
 * values: columns of queues, and columns that are searched only by full keys.
 */
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
/**
 * Columns without statistics, because no query plan depends on them. For an array column, analyze would also count the
 * elements of each row.
 */
const NONE: Readonly<Record<string, readonly string[]>> = {
  idempotency_keys: ['fingerprint', 'body', 'sealed_body'],
  rollups: ['histogram', 'received', 'delivered', 'failed', 'retried', 'dlq', 'attempts'],
};

/**
 * Reduces the statistics of hot tables to a tenth of the sampled rows, and to the columns used in conditions. Under
 * load, autovacuum analyzes one of these tables every few minutes, and competes with accepting messages for CPU time.
 *
 * Takes a brief `share update exclusive` lock on each table, whatever its size. Reads and writes do not wait. Only a
 * running vacuum waits or is canceled.
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
