import pg from 'pg';
import { connectionOptions } from './connection.js';
import { PipelinedTransaction } from './pipelined-transaction.js';

/**
 * Settings for plans that use indexes. With stale statistics, the planner would choose scans and hash joins for
 * statements that touch only a few rows by key.
 */
export const PLANNED_SETTINGS = [
  'jit=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'enable_seqscan=off',
  'enable_bitmapscan=off',
  'plan_cache_mode=force_generic_plan',
  'statement_timeout=30s',
] as const;

/** Deadline for a server that does not enforce its `statement_timeout`, which is slightly shorter. */
const DEADLINE_MS = 35_000;

/** Behind a pooler, sessions are shared. The settings are therefore sent with each statement, in the same packet. */
const BEGIN_PLANNED = [
  'begin',
  ...PLANNED_SETTINGS.map((setting) => `set local ${setting.replace(/=(.*)/, " = '$1'")}`),
].join('; ');

/**
 * Idle time after which the pool closes all connections but one, because the cached plans of each connection take 3 to
 * 10 MB of the server's memory.
 */
const IDLE_MS_MAX = 60_000;

/** A pool with planner settings that suit tables of any size. Each statement is a separate transaction. */
export class PlannedPool {
  readonly pool: pg.Pool;

  constructor(
    url: string,
    name: string,
    max: number,
    private readonly isPooled: boolean,
  ) {
    this.pool = new pg.Pool({
      ...connectionOptions({ url, name, deadlineMs: DEADLINE_MS, settings: PLANNED_SETTINGS, isPooled }),
      max,
      min: 1,
      idleTimeoutMillis: IDLE_MS_MAX,
      pipeline: isPooled,
    });
    // Ignored, because the next query replaces a connection that broke while it was idle.
    this.pool.on('error', () => undefined);
  }

  async query(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    if (!this.isPooled) return this.pool.query(statement);
    const [result] = await this.planned([statement]);
    return result as pg.QueryResult;
  }

  /** Runs all statements in one round trip and one commit. Returns results in order. If one fails, none commits. */
  async together(statements: readonly pg.QueryConfig[]): Promise<pg.QueryResult[]> {
    if (this.isPooled) return this.planned(statements);
    return (await this.pool.query(
      new PipelinedTransaction(statements) as unknown as pg.QueryConfig,
    )) as unknown as pg.QueryResult[];
  }

  /** Runs the statements in one round trip. The connection stays reserved until the last response. */
  private async planned(statements: readonly pg.QueryConfig[]): Promise<pg.QueryResult[]> {
    const client = await this.pool.connect();
    const answers = await Promise.allSettled([
      client.query(BEGIN_PLANNED),
      ...statements.map((each) => client.query(each)),
      client.query('commit'),
    ]);
    client.release();
    const refused = answers.find(({ status }) => status === 'rejected');
    if (refused) throw (refused as PromiseRejectedResult).reason;
    return answers.slice(1, -1).map((answer) => (answer as PromiseFulfilledResult<pg.QueryResult>).value);
  }
}
