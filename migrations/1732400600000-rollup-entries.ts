import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores all metrics of a commit in one rollup part per environment. Until now, each key (for example a destination)
 * had its own part, and a single fan-out commit can touch a hundred keys.
 *
 * The old columns stay, because processes of the previous release keep writing them. The migration changes only the
 * catalog and locks the table only briefly.
 */
export class RollupEntries1732400600000 implements MigrationInterface {
  name = 'RollupEntries1732400600000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`
      alter table rollup_parts
        alter column key_id drop not null, alter column minute drop not null, alter column received drop not null,
        alter column delivered drop not null, alter column failed drop not null, alter column retried drop not null,
        alter column dlq drop not null, alter column latencies_ms drop not null,
        add column key_ids uuid[], add column other_ids uuid[], add column ats timestamptz[], add column whats smallint[],
        add column durations_ms int[]`);
    // A rollup part exists for about a second. Compressing it would cost more than it saves.
    for (const column of ['key_ids', 'other_ids', 'ats', 'whats', 'durations_ms']) {
      await runner.query(`alter table rollup_parts alter column ${column} set storage external`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('delete from rollup_parts where key_id is null');
    await runner.query(`
      alter table rollup_parts
        drop column durations_ms, drop column whats, drop column ats, drop column other_ids, drop column key_ids,
        alter column key_id set not null, alter column minute set not null, alter column received set not null,
        alter column delivered set not null, alter column failed set not null, alter column retried set not null,
        alter column dlq set not null, alter column latencies_ms set not null`);
  }
}
