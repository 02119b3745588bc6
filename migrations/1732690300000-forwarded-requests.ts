import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds method, path and query to received events, and the setting `forward` to destinations. Adding nullable columns
 * without a default changes only the catalog. Each statement takes a brief access exclusive lock: `events` with all its
 * partitions, then `destinations`. Events of earlier builds keep null, and their deliveries have no query.
 */
export class ForwardedRequests1732690300000 implements MigrationInterface {
  name = 'ForwardedRequests1732690300000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table destinations add column forward jsonb');
    // Runs last, so that `events` is locked only briefly. Processes of an earlier build cannot accept messages while
    // the table is locked.
    await runner.query('alter table events add column method text, add column path text, add column query text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table events drop column query, drop column path, drop column method');
    await runner.query('alter table destinations drop column forward');
  }
}
