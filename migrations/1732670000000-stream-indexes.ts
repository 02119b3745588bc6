import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the stream of events finds attempts and settled deliveries by, which no other index has by time. Block ranges, not rows: an insert
 * looks at its range and writes nothing, unless the range is summarized and the row lies outside of it; a range is summarized by
 * autovacuum once it is full. `create index` takes a share lock on each table, and recording waits for as long as it is read
 * once: some ten seconds for ten million rows of each.
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
