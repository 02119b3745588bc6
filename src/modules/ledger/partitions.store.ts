import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { dateOf, expiryDay, isDaily } from '#engine/expiry-day.js';
import { Database, sqlState, type Statement } from '#kernel/database/database.js';
import { endedDeliveries } from './ended-deliveries.js';
import { isOpen } from './open-key.js';

const TABLES = [
  'events',
  'deliveries',
  'attempts',
  'requests',
  'pull_items',
  'messages',
  'blob_chunks',
  'emails',
  'inbox_messages',
] as const;
/**
 * Disables autovacuum after inserts. Rows are removed only by dropping the whole partition, and the statements use keys
 * and need no statistics, so neither vacuum nor analyze helps. Both would rewrite pages while events are being
 * accepted. With checksums, they would also write every page to the WAL.
 */
const QUIET = 'with (autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_threshold = 2000000000)';

/** Current day in days since the epoch, by PostgreSQL's clock. */
const TODAY: Statement = {
  name: 'partitions_today',
  text: `select (now() at time zone 'UTC')::date - date '1970-01-01' as day`,
};

const STEP = 1_000;

/**
 * Ends open deliveries whose retention has ended, while the partition for their final records still exists. Skips
 * claimed deliveries, because their worker records the last attempt. Scans all open deliveries.
 */
const EXPIRE: Statement = {
  name: 'partitions_expire',
  text: `
    with picked as (
      select environment_id, event_id, ordinal from due_deliveries
      where expires_on < (now() at time zone 'UTC')::date and claimed_by is null limit ${STEP} for update skip locked
    ), gone as (
      delete from due_deliveries d using picked p
      where ${isOpen('p')} returning d.*
    ), ${endedDeliveries("'expired'")}
    select count(*)::int as count from settled`,
};

const OPEN_DAYS: Statement = {
  name: 'partitions_open_days',
  text: `
    select distinct expires_on - date '1970-01-01' as day from due_deliveries
      where expires_on < (now() at time zone 'UTC')::date`,
};

const MAKING = `select pg_advisory_xact_lock(hashtext('posthorn partitions'))`;
const DROPPING: Statement = {
  name: 'partitions_dropping',
  text: `select pg_try_advisory_xact_lock(hashtext('posthorn drops')) as free`,
};

/** Lock timeout. It is short, because no event can be accepted while a statement waits for a table lock. */
const LOCK_TIMEOUT_MS = 50;
/** Pause between dropping two partitions, because each drop forces new plans for all statements on the table. */
const DROP_REST_MS = 200;
const LOCK_NOT_AVAILABLE = '55P03';

/** Result of dropping partitions. Some partitions may remain because their tables were locked. */
export interface Dropped {
  names: string[];
  isHeldUp: boolean;
}

/**
 * Creates and drops the partitions of each expiry day. A new partition is created separately and then attached, which
 * blocks neither readers nor writers. Dropping a partition locks its parent briefly. If a long transaction, such as a
 * backup, holds a conflicting lock, the drop is abandoned immediately. The next run tries again.
 */
@Injectable()
export class PartitionsStore {
  constructor(private readonly database: Database) {}

  /** Creates the partitions for events of the next `daysAhead` days, outside the caller's transaction. */
  async ensure(retentions: readonly number[], daysAhead: number): Promise<void> {
    await this.database.unitOfWork(() =>
      this.database.transaction(async () => {
        await this.run(MAKING);
        for (const [day, tables] of await this.missing(retentions, daysAhead)) {
          // Uses one round trip per day instead of one per partition, because the first start creates hundreds of
          // partitions.
          await this.run(tables.map((table) => making(table, day)).join(';'));
        }
      }),
    );
  }

  /** Creates one missing partition. Returns false if no partition is missing or the table cannot be locked quickly. */
  async makeNext(retentions: readonly number[], daysAhead: number): Promise<boolean> {
    return this.atOnce(async () => {
      await this.run(MAKING);
      const [[day, [table]] = [0, []]] = await this.missing(retentions, daysAhead);
      if (table !== undefined) await this.run(making(table, day));
      return table !== undefined;
    });
  }

  private async missing(retentions: readonly number[], daysAhead: number): Promise<[day: number, tables: string[]][]> {
    const existing = new Set((await this.names()).map(({ name }) => name));
    return neededDays(await this.today(), retentions, daysAhead)
      .map((day): [number, string[]] => [day, TABLES.filter((table) => !existing.has(partitionName(table, day)))])
      .filter(([, tables]) => tables.length > 0);
  }

  /**
   * Returns true if there are partitions whose expiry day has passed. Without such partitions, no open delivery can
   * have expired, and the caller skips a scan of all open deliveries.
   */
  async hasPassed(): Promise<boolean> {
    const today = await this.today();
    return (await this.names()).some(({ name }) => isBefore(name, today));
  }

  /** Returns the past days on which open deliveries expire, in days since the epoch. Scans all open deliveries. */
  async openDays(): Promise<number[]> {
    return (await this.database.query<{ day: number }>(OPEN_DAYS)).map(({ day }) => day);
  }

  /** Ends one batch of past days' open deliveries as `failed` with reason `expired`. Returns their number. */
  async expire(): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(EXPIRE);
    return row?.count ?? 0;
  }

  /** Drops partitions of past days. Only one process at a time does this. */
  async dropPassed(keptDays: readonly number[]): Promise<Dropped> {
    const today = await this.today();
    const kept = new Set(keptDays.map(compact));
    const passed = (await this.names())
      .map(({ name }) => name)
      .filter((name) => isBefore(name, today) && !kept.has(name.slice(-8)));
    const names: string[] = [];
    for (const name of passed) {
      if (names.length > 0) await sleep(DROP_REST_MS);
      if (!(await this.drop(name))) return { names, isHeldUp: true };
      names.push(name);
    }
    return { names, isHeldUp: false };
  }

  /** Drops a partition. Returns false if the table is locked or another process is dropping partitions. */
  private async drop(name: string): Promise<boolean> {
    return this.atOnce(async () => {
      const [lock] = await this.database.query<{ free: boolean }>(DROPPING);
      if (lock?.free === true) await this.run(`drop table if exists ${name}`);
      return lock?.free === true;
    });
  }

  /** Runs the step in a transaction. Returns false if it cannot lock the table within `LOCK_TIMEOUT_MS`. */
  private async atOnce(step: () => Promise<boolean>): Promise<boolean> {
    try {
      return await this.database.transaction(async () => {
        await this.run(`set local lock_timeout = '${LOCK_TIMEOUT_MS}ms'`);
        return step();
      });
    } catch (error) {
      if (sqlState(error) === LOCK_NOT_AVAILABLE) return false;
      throw error;
    }
  }

  private async today(): Promise<number> {
    const [row] = await this.database.query<{ day: number }>(TODAY);
    if (row === undefined) throw new Error('PostgreSQL did not return the current day.');
    return row.day;
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

/**
 * Returns the days that need partitions, without duplicates, earliest first. Short retentions have a partition per day
 * (`isDaily`): all days from today until the longest of them ends, plus `daysAhead`. Events with longer retentions
 * share partitions: the expiry days of events accepted from yesterday on.
 */
function neededDays(today: number, retentions: readonly number[], daysAhead: number): number[] {
  const daily = Math.max(...retentions.filter(isDaily).map((days) => days + daysAhead), -1);
  const each = Array.from({ length: daily + 1 }, (_, i) => today + i);
  const made = Array.from({ length: daysAhead + 2 }, (_, i) => today - 1 + i);
  const shared = retentions.filter((days) => !isDaily(days)).flatMap((days) => made.map((day) => expiryDay(day, days)));
  return [...new Set([...each, ...shared])].sort((a, b) => a - b);
}

const compact = (day: number): string => dateOf(day).replaceAll('-', '');
const isBefore = (name: string, day: number): boolean => name.slice(-8) < compact(day);
const partitionName = (table: string, day: number): string => `${table}_p${compact(day)}`;

const making = (table: string, day: number): string => {
  const name = partitionName(table, day);
  return `
    create table ${name} (like ${table} including defaults including constraints including storage) ${QUIET};
    alter table ${table} attach partition ${name} for values from ('${dateOf(day)}') to ('${dateOf(day + 1)}')`;
};
