import { AsyncLocalStorage } from 'node:async_hooks';
import { Inject, Injectable } from '@nestjs/common';
import pg from 'pg';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { Config } from '../config/config.js';
import { connectionOptions } from './connection.js';
import { joinedDataSource } from './joined-data-source.js';
import { PlannedPool } from './planned-pool.js';

/** A prepared statement. A name must always have the same text, since connections cache texts by name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Deadline of the statement, if shorter than the pool's. The connection is destroyed after this time. */
  readonly deadlineMs?: number;
}

export interface BoundStatement {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

export interface PiggybackStatement extends BoundStatement {
  /** Called with the rows of the piggyback statement, once it has committed together with the main statement. */
  onCommitted(rows: unknown[]): void;
}

/**
 * Limits how long a piggyback statement waits for locks. Runs after the main statement, whose lock waits are not
 * limited.
 */
const SHORT_RIDE: Statement = { name: 'short_ride', text: `select set_config('lock_timeout', '50ms', true)` };

interface Unit {
  runner: QueryRunner | null;
  /** Set while the transaction begins, so that concurrent calls wait for the same transaction. */
  opening: Promise<void> | null;
  afterCommit: (() => void)[];
  /** Functions that run when the unit of work ends, whether it commits or not. */
  afterEnd: (() => void)[];
  /**
   * Writes data, such as an audit entry, in the transaction of the unit of work (see `accompanied`). Null once it has
   * run.
   */
  companion: (() => Promise<void>) | null;
  /** True if messages are accepted in the transaction of the unit of work. The transaction is then already open. */
  takesMessages: boolean;
  /**
   * True when the unit of work has ended. A statement that the unit did not await must not use the connection, because
   * it is released.
   */
  ended: boolean;
}

const HOT_CONNECTIONS = 4;
const READ_CONNECTIONS = 4;
/** Size of the heartbeat pool: one connection for heartbeats and one for taking over the work of failed workers. */
const VITAL_CONNECTIONS = 2;
const VITAL_DEADLINE_MS = 35_000;

/**
 * Access to PostgreSQL for all contexts: prepared statements, and units of work that commit once.
 *
 * Inside `transaction`, every query runs on the transaction's connection, including queries of other stores. Inside
 * `unitOfWork`, the first transaction stays open until the unit ends. The HTTP layer can thus commit an idempotency
 * record together with all writes of its request. A unit takes a connection only with its first write.
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

  /** Runs a statement, inside the current transaction if there is one. */
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
   * Runs a frequent statement in its own commit, or with `within` in the caller's transaction. The preceding statements
   * and a piggyback statement are committed together with it. Throws the error of any of these statements, including a
   * lock timeout of the piggyback statement.
   */
  async queryPrepared<R>(
    statement: Statement,
    values: unknown[],
    piggybackStatement: PiggybackStatement | 'within' | null = null,
    precedingStatements: readonly BoundStatement[] = [],
  ): Promise<R[]> {
    if (piggybackStatement === 'within') {
      for (const each of precedingStatements) await this.query(each.statement, each.values);
      return this.query<R>(statement, values);
    }
    if (piggybackStatement === null && precedingStatements.length === 0)
      return (await this.preparedPool.query(this.prepared(statement, values))).rows as R[];
    const followingStatements =
      piggybackStatement === null ? [] : [{ statement: SHORT_RIDE, values: [] }, piggybackStatement];
    const results = await this.preparedPool.together(
      [...precedingStatements, { statement, values }, ...followingStatements].map((each) =>
        this.prepared(each.statement, [...each.values]),
      ),
    );
    piggybackStatement?.onCommitted(results.at(-1)?.rows ?? []);
    return (results[precedingStatements.length]?.rows ?? []) as R[];
  }

  /**
   * Runs a frequent, read-only statement on separate connections, so that it never delays the storage of accepted
   * messages.
   */
  async readPrepared<R>(statement: Statement, values: unknown[]): Promise<R[]> {
    const result = await this.readPool.query(this.prepared(statement, values));
    return result.rows as R[];
  }

  /** Runs a statement of the worker's heartbeat, on connections that are reserved for such statements. */
  async heartbeatQuery<R>(statement: Statement, values: unknown[]): Promise<R[]> {
    const result = await this.heartbeatPool.query(this.prepared(statement, values));
    return result.rows as R[];
  }

  /** Returns the entity manager, bound to the current transaction if there is one. */
  manager(): EntityManager {
    return this.current()?.runner?.manager ?? this.dataSource.manager;
  }

  /** Returns TypeORM's data source for repositories: its queries and transactions join the current unit of work. */
  joinedDataSource(): DataSource {
    return joinedDataSource(this.dataSource, (mode) => {
      const unit = this.current();
      const joins = unit?.runner != null || unit?.opening != null || (unit?.companion != null && mode === 'master');
      return joins ? () => this.connectionOf(unit) : null;
    });
  }

  /** Runs `work` in a transaction. Joins the current transaction if there is one. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    const unit = this.current();
    if (!unit) return this.unitOfWork(() => this.transaction(work));
    await this.begin(unit);
    return work();
  }

  /** Runs `work` as a unit of work. Commits when `work` ends, and rolls back when it throws. */
  async unitOfWork<T>(work: () => Promise<T>): Promise<T> {
    const unit: Unit = {
      runner: null,
      opening: null,
      afterCommit: [],
      afterEnd: [],
      companion: null,
      takesMessages: false,
      ended: false,
    };
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
      // An enabled AsyncLocalStorage slows down every promise of the process, so it is enabled only while a unit of
      // work is open.
      if (this.unitsOpen === 0) this.units.disable();
    }
  }

  /** Runs `work` in the current unit of work, or in a new one if there is none. Returns its result. */
  inCurrentUnit<T>(work: () => Promise<T>): Promise<T> {
    return this.current() ? work() : this.unitOfWork(work);
  }

  /**
   * Runs `work` in the current unit of work or in a new one. `companion` writes data that must be committed together
   * with the unit's writes. It runs once: when `commitEarly` is called, or when `work` calls its argument `settle`.
   */
  accompanied<T>(companion: () => Promise<void>, work: (settle: () => Promise<void>) => Promise<T>): Promise<T> {
    return this.inCurrentUnit(async () => {
      const unit = this.units.getStore() as Unit;
      unit.companion = companion;
      return work(() => this.settle(unit));
    });
  }

  /**
   * Commits the writes of an `accompanied` unit of work so far, together with its companion. Call it before an effect
   * outside of the transaction, or before waiting for other processes to see the writes. A second call, or a call
   * outside of such a unit, does nothing.
   */
  async commitEarly(): Promise<void> {
    const unit = this.current();
    if (!unit?.companion) return;
    await this.settle(unit);
    const { runner, afterCommit, afterEnd } = unit;
    await runner?.commitTransaction();
    await runner?.release();
    Object.assign(unit, { runner: null, afterCommit: [], afterEnd: [], takesMessages: false });
    // Leaves the unit of work first, because `notify` may wake a background loop, whose statements must not join the
    // unit.
    this.units.exit(() => {
      for (const notify of [...afterCommit, ...afterEnd]) notify();
    });
  }

  /** Returns whether messages that are accepted now must be stored in the transaction of the current unit of work. */
  isAccompanied(): boolean {
    const unit = this.current();
    return unit !== undefined && (unit.companion !== null || unit.takesMessages);
  }

  /** Runs `work`. The messages that `work` accepts commit with the current unit of work, if there is one. */
  joined<T>(work: () => Promise<T>): Promise<T> {
    const unit = this.current();
    if (!unit || unit.companion) return work();
    return this.transaction(() => {
      unit.takesMessages = true;
      return work();
    });
  }

  /** Returns whether a write at this moment would join the transaction of the current unit of work. */
  isInTransaction(): boolean {
    const unit = this.current();
    return unit !== undefined && (unit.runner !== null || unit.companion !== null);
  }

  /** Calls `notify` once the current unit of work has committed, or immediately if there is none. */
  afterCommit(notify: () => void): void {
    const unit = this.current();
    if (unit) unit.afterCommit.push(notify);
    else notify();
  }

  /** Calls `notify` once the current unit of work has committed or rolled back, or immediately if there is none. */
  afterEnd(notify: () => void): void {
    const unit = this.current();
    if (unit) unit.afterEnd.push(notify);
    else notify();
  }

  /** Returns the number of connections, idle connections and waiting requests of each pool. */
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

  /** Closes all pools. Call it last when a process ends. */
  async close(): Promise<void> {
    await Promise.all([this.preparedPool.pool.end(), this.readPool.pool.end(), this.heartbeatPool.end()]);
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  /**
   * Runs the companion of a unit of work (`accompanied`). Resets `unit.companion` only afterwards, so that the
   * companion's writes join the unit's transaction.
   */
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
      // The unit of work ended while its transaction began, so only this method can roll the transaction back.
      await runner.rollbackTransaction().catch(() => undefined);
      await runner.release();
      throw new Error('The unit of work ended while its transaction began.');
    }
    unit.runner = runner;
  }

  /** Begins the transaction of the unit of work if it has not begun, and returns its connection. */
  private async connectionOf(unit: Unit): Promise<unknown> {
    if (unit.ended) throw new Error('The unit of work of this query has ended: await the query.');
    await this.begin(unit);
    return unit.runner?.connect();
  }

  private async begin(unit: Unit): Promise<void> {
    if (!unit.runner) await (unit.opening ??= this.open(unit).finally(() => (unit.opening = null)));
  }

  private current(): Unit | undefined {
    const unit = this.units.getStore();
    return unit?.ended ? undefined : unit;
  }

  /**
   * Returns the query of a statement. Omits its name behind a pooler, where the next session may not have prepared it.
   */
  private prepared({ name, text, deadlineMs }: Statement, values: unknown[]): pg.QueryConfig {
    const statement = this.isPooled ? { text, values } : { name, text, values };
    return deadlineMs === undefined ? statement : Object.assign(statement, { query_timeout: deadlineMs });
  }

  /** Returns the pool of TypeORM's driver. `master` is a documented member: "Pool for master database." */
  private pool(): pg.Pool {
    return (this.dataSource.driver as PostgresDriver).master as pg.Pool;
  }
}

const WRITING = /\b(?:insert\s+into|update|delete\s+from|merge\s+into|pg_notify)\b/i;
const known = new WeakMap<Statement, boolean>();

/** Returns whether a statement writes. `for update` is included, since its lock lasts as long as the transaction. */
function writes(statement: Statement): boolean {
  const found = known.get(statement) ?? WRITING.test(statement.text);
  known.set(statement, found);
  return found;
}

/**
 * Returns the SQLSTATE, or null for other errors. Requires a digit, because codes such as EPIPE also have five letters.
 */
export function sqlState(error: unknown): string | null {
  const candidate = error instanceof Error && 'driverError' in error ? error.driverError : error;
  const code = (candidate as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : null;
}

/** Returns whether the failed statement may have committed, because the connection broke before the response. */
export function isOutcomeUnknown(error: unknown): boolean {
  const state = sqlState(error);
  return state === null || /^(08|57P)/.test(state);
}

/** Returns whether an unavailable storage caused the error: no connection, a restart, too many clients, a timeout. */
export function isStorageAway(error: unknown): boolean {
  const state = sqlState(error);
  if (state === null) return true;
  return /^(08|53|57P|58|25006|XX)/.test(state) || state === '57014';
}
