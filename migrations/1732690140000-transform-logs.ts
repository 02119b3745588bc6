import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores what a transform's code writes to its console. The column has no default, so no rows are rewritten. A single
 * brief lock covers all partitions.
 */
export class TransformLogs1732690140000 implements MigrationInterface {
  name = 'TransformLogs1732690140000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table requests add column logs jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table requests drop column logs');
  }
}
