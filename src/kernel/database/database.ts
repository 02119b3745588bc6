import { AsyncLocalStorage } from 'node:async_hooks';
import { Inject, Injectable } from '@nestjs/common';
import pg from 'pg';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import { Config } from '../config/config.js';
import { connectionOptions } from './connection.js';
import { PlannedPool } from './planned-pool.js';

/** A prepared statement: one name for one text, for ever, since connections remember texts by name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Where the deadline of its pool is too long for it: then its connection is given up. */
  readonly deadlineMs?: number;
}

/** A statement that another one takes along into its commit. */
export interface PiggybackStatement {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  /** Both are committed; with the rows of this one. */
  onCommitted(rows: unknown[]): void;
}

/**
 * Who takes a ride along must not wait long for what it wants: rows that somebody else has locked. It stands between the two, so
 * it is only the ride that it keeps short.
 */
const SHORT_RIDE: Statement = { name: 'short_ride', text: `select set_config('lock_timeout', '50ms', true)` };

/** What happens in one unit of work: the transaction once something began it, and what waits for its commit. */
interface Unit {
  runner: QueryRunner | null;
  /** Set while the transaction begins, so that concurrent calls join it. */
  opening: Promise<void> | null;
  afterCommit: (() => void)[];
  /** Callbacks that run when the unit ends, whether it commits or not. */
  afterEnd: (() => void)[];
  /** Written by the transaction that commits the unit's first effect, with it or not at all; null once it was written. */
  companion: (() => Promise<void>) | null;
  /** What the unit started and did not wait for must not find a connection that has been given back. */
  ended: boolean;
}

const HOT_CONNECTIONS = 4;
const READ_CONNECTIONS = 4;
/** One for the beats, and one for what is found of the dead. */
const VITAL_CONNECTIONS = 2;
const VITAL_DEADLINE_MS = 35_000;

/**
 * PostgreSQL as the contexts see it: prepared statements, and units of work that commit once.
 *
 * Inside `transaction` every query, also those of other stores, runs on the transaction's connection. Inside `unit`
 * the first transaction stays open until the unit ends: the edge uses it to commit an idempotency record together
 * with the effect, while everything before the first write (a probe, say) holds no connection.
 */
@Injectable()
export class Database {
  private readonly units = new AsyncLocalStorage<Unit>();
  private readonly preparedPool: PlannedPool;
  private readonly readPool: PlannedPool;
  private readonly heartbeatPool: pg.Pool;
  private readonly isPooled: boolean;
  private unitsOpen = 0;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    config: Config,
  ) {
    this.isPooled = config.isPooled;
    this.preparedPool = new PlannedPool(config.databaseUrl, 'posthorn-ledger', HOT_CONNECTIONS, config.isPooled);
    this.readPool = new PlannedPool(config.databaseUrl, 'posthorn-reads', READ_CONNECTIONS, config.isPooled);
    this.heartbeatPool = new pg.Pool({
      ...connectionOptions({
        url: config.databaseUrl,
        name: 'posthorn-vital',
        deadlineMs: VITAL_DEADLINE_MS,
        isPooled: config.isPooled,
      }),
      max: VITAL_CONNECTIONS,
      idleTimeoutMillis: 0,
    });
    this.heartbeatPool.on('error', () => undefined);
  }

  /** Rows of one statement, inside the current transaction when there is one. */
  async query<R>(statement: Statement, values: readonly unknown[] = []): Promise<R[]> {
    const unit = this.current();
    if (unit?.companion && !unit.runner && writes(statement))
      return this.transaction(() => this.query<R>(statement, values));
    const runner = unit?.runner;
    const client = (runner ? await runner.connect() : this.pool()) as pg.Pool;
    const result = await client.query(this.prepared(statement, [...values]));
    return result.rows as R[];
  }

  /**
   * Rows of a hot statement: outside of any transaction, planned for tables of any size. With a ride both hold, or neither does: the
   * error of either is thrown, also when the ride would have had to wait for a lock. `within`: in the caller's transaction instead.
   */
  async queryPrepared<R>(
    statement: Statement,
    values: unknown[],
    piggybackStatement: PiggybackStatement | 'within' | null = null,
  ): Promise<R[]> {
    if (piggybackStatement === 'within') return this.query<R>(statement, values);
    if (piggybackStatement === null)
      return (await this.preparedPool.query(this.prepared(statement, values))).rows as R[];
    const statements = [
      this.prepared(statement, values),
      this.prepared(SHORT_RIDE, []),
      this.prepared(piggybackStatement.statement, [...piggybackStatement.values]),
    ];
    const [own, , taken] = await this.preparedPool.together(statements);
    piggybackStatement.onCommitted(taken?.rows ?? []);
    return (own?.rows ?? []) as R[];
  }

  /** Rows of a statement that only reads: planned like a hot one, on connections that no accept waits for. */
  async readPrepared<R>(statement: Statement, values: unknown[]): Promise<R[]> {
    const result = await this.readPool.query(this.prepared(statement, values));
    return result.rows as R[];
  }

  /** Rows of a statement by which this process lives or dies: on connections that nothing else of it can use up. */
  async heartbeatQuery<R>(statement: Statement, values: unknown[]): Promise<R[]> {
    const result = await this.heartbeatPool.query(this.prepared(statement, values));
    return result.rows as R[];
  }

  /** TypeORM's entity manager, bound to the current transaction when there is one. */
  manager(): EntityManager {
    return this.current()?.runner?.manager ?? this.dataSource.manager;
  }

  /** Runs `work` in one transaction; inside a transaction it joins that one. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    const unit = this.current();
    if (!unit) return this.unitOfWork(() => this.transaction(work));
    if (!unit.runner) await (unit.opening ??= this.open(unit).finally(() => (unit.opening = null)));
    return work();
  }

  /** Runs `work`; what its transactions wrote is committed when it ends, or rolled back when it throws. */
  async unitOfWork<T>(work: () => Promise<T>): Promise<T> {
    const unit: Unit = { runner: null, opening: null, afterCommit: [], afterEnd: [], companion: null, ended: false };
    this.unitsOpen += 1;
    try {
      const result = await this.units.run(unit, work);
      await unit.runner?.commitTransaction();
      for (const notify of unit.afterCommit) notify();
      return result;
    } catch (error) {
      await unit.runner?.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      unit.ended = true;
      await unit.runner?.release().catch(() => undefined);
      for (const notify of unit.afterEnd) notify();
      this.unitsOpen -= 1;
      // While a storage is enabled every promise of the process pays for its hooks; the hot path has no unit.
      if (this.unitsOpen === 0) this.units.disable();
    }
  }

  /** Runs `work` in the current unit of work, or in one of its own when there is none. */
  inCurrentUnit<T>(work: () => Promise<T>): Promise<T> {
    return this.current() ? work() : this.unitOfWork(work);
  }

  /**
   * Runs `work` in the current unit of work, or in one of its own. Every statement of it that writes is part of the unit's
   * transaction, also outside of `transaction`. `companion` writes what must be stored with the effect: `commitEarly` runs it
   * before it commits; otherwise `work` runs it itself, by the function that it is given. It runs once.
   */
  accompanied<T>(companion: () => Promise<void>, work: (settle: () => Promise<void>) => Promise<T>): Promise<T> {
    return this.inCurrentUnit(async () => {
      const unit = this.units.getStore() as Unit;
      unit.companion = companion;
      return work(() => this.settle(unit));
    });
  }

  /**
   * Commits what an accompanied unit has done so far, its companion included. For effects that cannot be part of a transaction,
   * before the first of them, and for handlers that wait for others to see what they made. Does nothing elsewhere, and nothing the second time.
   */
  async commitEarly(): Promise<void> {
    const unit = this.current();
    if (!unit?.companion) return;
    await this.settle(unit);
    const { runner, afterCommit, afterEnd } = unit;
    await runner?.commitTransaction();
    await runner?.release();
    Object.assign(unit, { runner: null, afterCommit: [], afterEnd: [] });
    // Outside of the unit: a loop that is woken here must not do its work within this unit's transactions.
    this.units.exit(() => {
      for (const notify of [...afterCommit, ...afterEnd]) notify();
    });
  }

  /** Whether what is written now must be part of the current unit's transaction, together with what accompanies it. */
  isAccompanied(): boolean {
    return Boolean(this.current()?.companion);
  }

  /** Runs `notify` once the current unit has committed, or now when there is none. */
  afterCommit(notify: () => void): void {
    const unit = this.current();
    if (unit) unit.afterCommit.push(notify);
    else notify();
  }

  /** Runs `notify` once the current unit has committed or was rolled back, or now when there is none. */
  afterEnd(notify: () => void): void {
    const unit = this.current();
    if (unit) unit.afterEnd.push(notify);
    else notify();
  }

  /** Connections in use and waited for, of each pool. */
  poolFigures(): { pool: string; total: number; idle: number; waiting: number }[] {
    return [
      ['ordinary', this.pool()],
      ['ledger', this.preparedPool.pool],
      ['reads', this.readPool.pool],
      ['vital', this.heartbeatPool],
    ].map(([pool, p]) => ({
      pool: pool as string,
      total: (p as pg.Pool).totalCount,
      idle: (p as pg.Pool).idleCount,
      waiting: (p as pg.Pool).waitingCount,
    }));
  }

  /** Closes every connection; the last thing that a process does. */
  async close(): Promise<void> {
    await Promise.all([this.preparedPool.pool.end(), this.readPool.pool.end(), this.heartbeatPool.end()]);
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  /** In the unit's transaction. The companion is still set while it runs, so that everything that it writes joins. */
  private async settle(unit: Unit): Promise<void> {
    const { companion } = unit;
    if (companion === null) return;
    await this.transaction(companion);
    unit.companion = null;
  }

  private async open(unit: Unit): Promise<void> {
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
    } catch (error) {
      await runner.release();
      throw error;
    }
    if (unit.ended) {
      // Something else of the unit threw meanwhile: nobody would end this transaction, and what follows would write outside of it.
      await runner.rollbackTransaction().catch(() => undefined);
      await runner.release();
      throw new Error('The unit of work ended while its transaction began.');
    }
    unit.runner = runner;
  }

  private current(): Unit | undefined {
    const unit = this.units.getStore();
    return unit?.ended ? undefined : unit;
  }

  /** Behind a pooler the next statement may meet another session, which never heard of the name. */
  private prepared({ name, text, deadlineMs }: Statement, values: unknown[]): pg.QueryConfig {
    const statement = this.isPooled ? { text, values } : { name, text, values };
    return deadlineMs === undefined ? statement : Object.assign(statement, { query_timeout: deadlineMs });
  }

  private pool(): pg.Pool {
    return (this.dataSource.driver as unknown as { master: pg.Pool }).master;
  }
}

const WRITING = /\b(?:insert\s+into|update|delete\s+from|merge\s+into|pg_notify)\b/i;
const known = new WeakMap<Statement, boolean>();

/** Whether a statement changes anything; `for update` counts, since a lock lasts as long as its transaction. */
function writes(statement: Statement): boolean {
  const found = known.get(statement) ?? WRITING.test(statement.text);
  known.set(statement, found);
  return found;
}

/** SQLSTATE of a PostgreSQL error, or null when the error is not one of the server (EPIPE has five letters too, and no digit). */
export function sqlState(error: unknown): string | null {
  const candidate = error instanceof Error && 'driverError' in error ? error.driverError : error;
  const code = (candidate as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : null;
}

/** Whether a statement that ended in this error may have been committed all the same: whoever answers for it broke off. */
export function isOutcomeUnknown(error: unknown): boolean {
  const state = sqlState(error);
  return state === null || /^(08|57P)/.test(state);
}

/** True for an error that says nothing about the statement: no connection, a restart, too many clients, a time-out. */
export function isStorageAway(error: unknown): boolean {
  const state = sqlState(error);
  if (state === null) return true;
  return /^(08|53|57P|58|25006|XX)/.test(state) || state === '57014';
}
