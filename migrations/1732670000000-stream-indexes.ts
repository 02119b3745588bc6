import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Indexes attempts and finished deliveries by time for the event stream, with BRIN indexes over block ranges. An insert
 * writes to the index only if its range is already summarized and the row lies outside of the summary. Autovacuum
 * summarizes a range once it is full.
 *
 * `create index` takes a share lock on each table while it reads the table once. The recording of delivery results
 * waits for that time: about ten seconds for ten million rows per table.
 */
export class StreamIndexes1732670000000 implements MigrationInterface {
  name = 'StreamIndexes1732670000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'create index attempts_started_at_idx on attempts using brin (started_at) with (pages_per_range = 32, autosummarize = on)',
    );
    await runner.query(
      'create index deliveries_settled_at_idx on deliveries using brin (settled_at) with (pages_per_range = 32, autosummarize = on)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index deliveries_settled_at_idx');
    await runner.query('drop index attempts_started_at_idx');
  }
}
