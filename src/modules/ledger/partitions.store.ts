import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database.js';

const TABLES = ['events', 'deliveries', 'attempts', 'requests', 'pull_items', 'messages'] as const;
const DAY_MS = 86_400_000;
/**
 * A partition is written once and dropped. A vacuum for its inserts, or an analyze, rewrites its pages (with checksums
 * every page that is read for the first time goes to the WAL whole) beside the accepts, for nothing: its statements
 * are planned for keys and do not depend on statistics.
 */
const QUIET = 'with (autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_threshold = 2000000000)';

/** A look at every open delivery, once an hour. One that stayed could never be settled: there is no partition to settle it in. */
const EXPIRE: Statement = { name: 'partitions_expire', text: 'delete from due_deliveries where expires_on < $1::date' };

/**
 * Partitions by the day on which rows expire. A new one is made aside and attached, which does not block readers and
 * writers; a passed one is dropped, with a short lock time-out so that it rather waits for the next run than holds up
 * the queue behind it.
 */
@Injectable()
export class PartitionsStore {
  constructor(private readonly database: Database) {}

  /** Makes the partitions of `fromDay` to `toDay` (days since the epoch, inclusive) that are missing. */
  async ensure(fromDay: number, toDay: number): Promise<void> {
    await this.database.transaction(async () => {
      await this.run(`select pg_advisory_xact_lock(hashtext('posthorn partitions'))`);
      const existing = new Set((await this.names()).map(({ name }) => name));
      for (let day = fromDay; day <= toDay; day += 1) {
        for (const table of TABLES) {
          const name = partitionName(table, day);
          if (existing.has(name)) continue;
          await this.run(`create table ${name} (like ${table} including defaults including constraints) ${QUIET}`);
          await this.run(`alter table ${table} attach partition ${name} for values from ('${date(day)}') to ('${date(day + 1)}')`);
        }
      }
    });
  }

  /** Drops the partitions of days before `day`, and first what still waits of their events; returns their names. */
  async dropBefore(day: number): Promise<string[]> {
    await this.database.query(EXPIRE, [date(day)]);
    const passed = (await this.names()).filter(({ name }) => name.slice(-8) < compact(day));
    for (const { name } of passed) {
      await this.database.transaction(async () => {
        await this.run(`set local lock_timeout = '2s'`);
        await this.run(`drop table ${name}`);
      });
    }
    return passed.map(({ name }) => name);
  }

  private names(): Promise<{ name: string }[]> {
    return this.database.query({
      name: 'partitions_names',
      text: `
        select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = any ('{${TABLES.join(',')}}'::regclass[])`,
    });
  }

  private async run(sql: string): Promise<void> {
    await this.database.manager().query(sql);
  }
}

const date = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
const compact = (day: number): string => date(day).replaceAll('-', '');
const partitionName = (table: string, day: number): string => `${table}_p${compact(day)}`;
