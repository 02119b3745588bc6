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
 * A partition is written once and dropped. A vacuum for its inserts, or an analyze, rewrites its pages (with checksums
 * every page that is read for the first time goes to the WAL whole) beside the accepts, for nothing: its statements
 * are planned for keys and do not depend on statistics.
 */
const QUIET = 'with (autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_threshold = 2000000000)';

/** The day that it is, in days since the epoch: by PostgreSQL's clock and by nobody else's. */
const TODAY: Statement = {
  name: 'partitions_today',
  text: `select (now() at time zone 'UTC')::date - date '1970-01-01' as day`,
};

const STEP = 1_000;

/**
 * Ends what is still open of days that have passed, while there is a partition to record it in; held by nobody, since a
 * worker that makes its last attempt records it by itself. A look at every open delivery, each time that retention runs.
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

/** Days that have passed, and that something is still open of. */
const OPEN_DAYS: Statement = {
  name: 'partitions_open_days',
  text: `
    select distinct expires_on - date '1970-01-01' as day from due_deliveries where expires_on < (now() at time zone 'UTC')::date`,
};

const MAKING = `select pg_advisory_xact_lock(hashtext('posthorn partitions'))`;
const DROPPING: Statement = {
  name: 'partitions_dropping',
  text: `select pg_try_advisory_xact_lock(hashtext('posthorn drops')) as free`,
};

/** What waits behind a lock that nobody gets holds up every accept, so it waits for a moment only. */
const LOCK_TIMEOUT_MS = 50;
/** Between two that are dropped: whoever writes to their tables plans its statements anew. */
const DROP_REST_MS = 200;
const LOCK_NOT_AVAILABLE = '55P03';

/** Whether partitions of passed days are left because somebody held them. */
export interface Dropped {
  names: string[];
  isHeldUp: boolean;
}

/**
 * Partitions by the day on which rows expire. A new one is made aside and attached, which does not block readers and
 * writers. Dropping a passed one locks its parent for a moment: it is given up at once while a long transaction (a
 * backup, say) is in the way, which the next run finds gone.
 */
@Injectable()
export class PartitionsStore {
  constructor(private readonly database: Database) {}

  /**
   * Makes the partitions that are missing for what is made until `daysAhead` days on and kept for one of these retentions,
   * whatever becomes of the caller's transaction.
   */
  async ensure(retentions: readonly number[], daysAhead: number): Promise<void> {
    await this.database.unitOfWork(() =>
      this.database.transaction(async () => {
        await this.run(MAKING);
        for (const [day, tables] of await this.missing(retentions, daysAhead)) {
          // One round trip a day: at the first start there are hundreds of partitions to make.
          await this.run(tables.map((table) => making(table, day)).join(';'));
        }
      }),
    );
  }

  /**
   * Makes one of them, and returns whether there was one to make: for nobody who waits, so that neither locks nor a core are
   * held for more than moments. False, too, when somebody holds its table.
   */
  async makeNext(retentions: readonly number[], daysAhead: number): Promise<boolean> {
    return this.atOnce(async () => {
      await this.run(MAKING);
      const [[day, [table]] = [0, []]] = await this.missing(retentions, daysAhead);
      if (table !== undefined) await this.run(making(table, day));
      return table !== undefined;
    });
  }

  /** Tables by the day that they have no partition of. */
  private async missing(retentions: readonly number[], daysAhead: number): Promise<[day: number, tables: string[]][]> {
    const existing = new Set((await this.names()).map(({ name }) => name));
    return neededDays(await this.today(), retentions, daysAhead)
      .map((day): [number, string[]] => [day, TABLES.filter((table) => !existing.has(partitionName(table, day)))])
      .filter(([, tables]) => tables.length > 0);
  }

  /** Whether there are partitions of days that have passed. What is open of such a day keeps its partitions, so where there are none nothing is. */
  async hasPassed(): Promise<boolean> {
    const today = await this.today();
    return (await this.names()).some(({ name }) => isBefore(name, today));
  }

  /** Days that have passed of which something is still open, in days since the epoch. Looks at every open delivery. */
  async openDays(): Promise<number[]> {
    return (await this.database.query<{ day: number }>(OPEN_DAYS)).map(({ day }) => day);
  }

  /** Ends one step of what is open of days that have passed, as `failed` with reason `expired`; returns how many. */
  async expire(): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(EXPIRE);
    return row?.count ?? 0;
  }

  /** Drops the partitions of the days that have passed, but for those of `keptDays`. One process at a time. */
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

  /** False when somebody holds the table, or another process is at it. */
  private async drop(name: string): Promise<boolean> {
    return this.atOnce(async () => {
      const [lock] = await this.database.query<{ free: boolean }>(DROPPING);
      if (lock?.free === true) await this.run(`drop table if exists ${name}`);
      return lock?.free === true;
    });
  }

  /** In a transaction that waits for no lock; false when it would have to. */
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
    if (row === undefined) throw new Error('PostgreSQL did not say what day it is.');
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
 * In days since the epoch, each once, those that come first at first. Of retentions whose days are partitions of their own all from today on:
 * a shorter one finds them there. Of the others those on which something expires that is made from yesterday on.
 */
function neededDays(today: number, retentions: readonly number[], daysAhead: number): number[] {
  const daily = Math.max(...retentions.filter(isDaily).map((days) => days + daysAhead), -1);
  const each = Array.from({ length: daily + 1 }, (_, i) => today + i);
  const made = Array.from({ length: daysAhead + 2 }, (_, i) => today - 1 + i);
  const shared = retentions.filter((days) => !isDaily(days)).flatMap((days) => made.map((day) => expiryDay(day, days)));
  return [...new Set([...each, ...shared])].sort((a, b) => a - b);
}

const compact = (day: number): string => dateOf(day).replaceAll('-', '');
/** Of the name of a partition. */
const isBefore = (name: string, day: number): boolean => name.slice(-8) < compact(day);
const partitionName = (table: string, day: number): string => `${table}_p${compact(day)}`;

const making = (table: string, day: number): string => {
  const name = partitionName(table, day);
  return `
    create table ${name} (like ${table} including defaults including constraints including storage) ${QUIET};
    alter table ${table} attach partition ${name} for values from ('${dateOf(day)}') to ('${dateOf(day + 1)}')`;
};
