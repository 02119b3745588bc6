import { AsyncLocalStorage } from 'node:async_hooks';
import { Inject, Injectable } from '@nestjs/common';
import pg from 'pg';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import { Config } from './config.js';

/** A prepared statement: one name for one text, for ever, since connections remember texts by name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** What happens in one unit of work: the transaction once something began it, and what waits for its commit. */
interface Unit {
  runner: QueryRunner | null;
  afterCommit: (() => void)[];
  /** What the unit started and did not wait for must not find a connection that has been given back. */
  ended: boolean;
}

/**
 * How the hot statements must be planned. They touch a few rows by key each; a planner that meets tables which grow
 * faster than their statistics would flip them to scans and hash joins (reference/performance.md, end to end).
 */
const HOT_SETTINGS = [
  'jit=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'enable_seqscan=off',
  'enable_bitmapscan=off',
  'plan_cache_mode=force_generic_plan',
  'statement_timeout=30s',
];

/** A little more than the server's own limit: for a server that does not answer at all any more. */
const QUERY_TIMEOUT_MS = 35_000;

const HOT_CONNECTIONS = 4;
const READ_CONNECTIONS = 4;

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
  private readonly hotPool: pg.Pool;
  private readonly readPool: pg.Pool;
  private unitsOpen = 0;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    config: Config,
  ) {
    this.hotPool = plannedPool(config.databaseUrl, 'posthorn-ledger', HOT_CONNECTIONS);
    this.readPool = plannedPool(config.databaseUrl, 'posthorn-reads', READ_CONNECTIONS);
  }

  /** Rows of one statement, inside the current transaction when there is one. */
  async query<R>(statement: Statement, values: readonly unknown[] = []): Promise<R[]> {
    const runner = this.current()?.runner;
    const client = (runner ? await runner.connect() : this.pool()) as pg.Pool;
    const result = await client.query({ name: statement.name, text: statement.text, values: [...values] });
    return result.rows as R[];
  }

  /** Rows of a hot statement: outside of any transaction, planned for tables of any size. */
  async hot<R>(statement: Statement, values: unknown[]): Promise<R[]> {
    const result = await this.hotPool.query({ name: statement.name, text: statement.text, values });
    return result.rows as R[];
  }

  /** Rows of a statement that only reads: planned like a hot one, on connections that no accept waits for. */
  async read<R>(statement: Statement, values: unknown[]): Promise<R[]> {
    const result = await this.readPool.query({ name: statement.name, text: statement.text, values });
    return result.rows as R[];
  }

  /** TypeORM's entity manager, bound to the current transaction when there is one. */
  manager(): EntityManager {
    return this.current()?.runner?.manager ?? this.dataSource.manager;
  }

  /** Runs `work` in one transaction; inside a transaction it joins that one. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    const unit = this.current();
    if (!unit) return this.unit(() => this.transaction(work));
    if (!unit.runner) {
      const runner = this.dataSource.createQueryRunner();
      try {
        await runner.startTransaction();
      } catch (error) {
        await runner.release();
        throw error;
      }
      unit.runner = runner;
    }
    return work();
  }

  /** Runs `work`; what its transactions wrote is committed when it ends, or rolled back when it throws. */
  async unit<T>(work: () => Promise<T>): Promise<T> {
    const unit: Unit = { runner: null, afterCommit: [], ended: false };
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
      this.unitsOpen -= 1;
      // While a storage is enabled every promise of the process pays for its hooks; the hot path has no unit.
      if (this.unitsOpen === 0) this.units.disable();
    }
  }

  /** Runs `notify` once the current unit has committed, or now when there is none. */
  afterCommit(notify: () => void): void {
    const unit = this.current();
    if (unit) unit.afterCommit.push(notify);
    else notify();
  }

  /** Connections in use and waited for, of each pool. */
  poolFigures(): { pool: string; total: number; idle: number; waiting: number }[] {
    return [
      ['ordinary', this.pool()],
      ['ledger', this.hotPool],
      ['reads', this.readPool],
    ].map(([pool, p]) => ({
      pool: pool as string,
      total: (p as pg.Pool).totalCount,
      idle: (p as pg.Pool).idleCount,
      waiting: (p as pg.Pool).waitingCount,
    }));
  }

  /** Closes every connection; the last thing that a process does. */
  async close(): Promise<void> {
    await Promise.all([this.hotPool.end(), this.readPool.end()]);
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  private current(): Unit | undefined {
    const unit = this.units.getStore();
    return unit?.ended ? undefined : unit;
  }

  private pool(): pg.Pool {
    return (this.dataSource.driver as unknown as { master: pg.Pool }).master;
  }
}

/** Connections whose statements are planned for tables of any size. */
function plannedPool(connectionString: string, name: string, max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: 5_000,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    application_name: name,
    options: HOT_SETTINGS.map((setting) => `-c ${setting}`).join(' '),
  });
  // A connection that breaks while it is idle is replaced by the next query; without a listener it would end the process.
  pool.on('error', () => undefined);
  return pool;
}

/** SQLSTATE of a PostgreSQL error, or null when the error is not one of the server. */
export function sqlState(error: unknown): string | null {
  const candidate = error instanceof Error && 'driverError' in error ? error.driverError : error;
  const code = (candidate as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

/** True for an error that says nothing about the statement: no connection, a restart, too many clients, a time-out. */
export function isStorageAway(error: unknown): boolean {
  const state = sqlState(error);
  if (state === null) return true;
  return /^(08|53|57P|58|25006|XX)/.test(state) || state === '57014';
}
