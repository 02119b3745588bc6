import pg from 'pg';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { until } from './polling.js';
import type { Sql, Targets } from './scene.js';
import {
  destinationAt,
  eventAfter,
  eventIn,
  openSql,
  RARE_RETRIES,
  send,
  sendMany,
  startTargets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';

const TABLES = ['events', 'deliveries', 'attempts', 'requests', 'pull_items', 'messages', 'blob_chunks'];

describe('expiry of events', () => {
  let database: TestDatabase;
  let targets: Targets;
  let sql: Sql;
  let server: PosthornServer;
  /**
   * Date of the day before the test began, as `YYYYMMDD`. Computed only once, because the test can run past midnight.
   */
  let yesterday: string;

  beforeEach(async () => {
    targets = await startTargets();
    database = await createDatabase();
    sql = openSql({ databaseUrl: database.url });
    const [day] = await sql.rows<{ name: string }>(
      `select to_char((now() at time zone 'UTC')::date - 1, 'YYYYMMDD') as name`,
    );
    yesterday = day?.name ?? '';
    server = await startServer({ DATABASE_URL: database.url });
  });

  afterEach(async () => {
    await server.stop();
    await sql.close();
    await database.drop();
    await targets.close();
  });

  const restart = async (): Promise<void> => {
    await server.stop();
    server = await startServer({ ...server.env });
  };

  /** Moves all rows of an event to the partitions of yesterday. */
  async function expire(messageId: string): Promise<void> {
    for (const table of TABLES) {
      await sql.rows(
        `create table if not exists ${table}_p${yesterday} partition of ${table} for values from ('${yesterday}') to ('${yesterday}'::date + 1)`,
      );
    }
    for (const [table, key] of [
      ['events', 'id'],
      ['due_deliveries', 'event_id'],
      ['attempts', 'event_id'],
    ]) {
      await sql.rows(`update ${table} set expires_on = $2::date where ${key} = $1`, [uuidOf(messageId), yesterday]);
    }
  }

  const partitions = async (): Promise<number> => {
    const [row] = await sql.rows<{ count: number }>(
      `select count(*)::int as count from pg_class where relname ~ ('_p' || $1 || '$')`,
      [yesterday],
    );
    return row?.count ?? -1;
  };

  const counted = async (metric: string): Promise<number> => {
    const text = await (
      await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.apiKey}` } })
    ).text();
    return Number(new RegExp(`^\\w*${metric} (\\d+)`, 'm').exec(text)?.[1] ?? NaN);
  };

  it('a delivery that is still open ends visibly as failed with reason expired; its partition is dropped by a later run', async () => {
    const target = targets.open(() => ({ status: 500 }));
    const id = await send(server, await destinationAt(server, target.url, RARE_RETRIES));
    await eventAfter(server, id, 1);
    await server.stop();
    await expire(id);

    server = await startServer({ ...server.env });
    const event = await eventIn(server, id, 'failed');

    expect(event.deliveries).toMatchObject([{ status: 'failed', reason: 'expired' }]);
    expect(event.attempts).toHaveLength(1);
    expect(server.logs()).toContain('1 undelivered deliveries as expired');
    expect(await counted('deliveries_expired_total')).toBe(1);
    expect(await partitions()).toBe(TABLES.length);
    await restart();
    await until(partitions, (count) => count === 0, WITHIN_MS);
  });

  // Needs a longer timeout, because it restarts the server twice.
  it('a long transaction blocks no acceptance, and the partitions are dropped once it has ended', async () => {
    const target = targets.open();
    const destination = await destinationAt(server, target.url);
    const id = await send(server, destination);
    await eventIn(server, id, 'delivered');
    await expire(id);
    const backup = new pg.Client({ connectionString: database.url });
    await backup.connect();
    await backup.query('begin');
    for (const table of TABLES) await backup.query(`select 1 from ${table} limit 1`);

    await restart();
    await sendMany(server, destination, 50);
    await until(
      async () => server.logs(),
      (logs) => logs.includes('held by a long transaction'),
      WITHIN_MS,
    );
    expect(await partitions()).toBe(TABLES.length);
    await target.arrived(51);

    await backup.query('rollback');
    await backup.end();
    await restart();
    await until(partitions, (count) => count === 0, WITHIN_MS);
  });
});
