import { setTimeout as rest } from 'node:timers/promises';
import pg from 'pg';
import { dataSource } from '../../src/bootstrap/data-source.js';
import { BUCKET_FLOORS_MS, bucketOf } from '../../src/engine/histogram.js';
import type { Config } from '../../src/kernel/config/config.js';
import { Database } from '../../src/kernel/database/database.js';
import { RollupsStore, WHOLE } from '../../src/modules/metrics/rollups.store.js';
import { until } from '../api/polling.js';
import type { Sql } from '../api/scene.js';
import { openSql, WITHIN_MS } from '../api/scene.js';
import { explain, recorder } from '../architecture/plans.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';

const DAY_MS = 86_400_000;
const UNITS = { '1m': 'minute', '1h': 'hour', '1d': 'day' };

let database: TestDatabase;
let sql: Sql;

beforeEach(async () => {
  database = await createDatabase();
  sql = openSql({ databaseUrl: database.url });
});

afterEach(async () => {
  await sql?.close();
  await database?.drop();
});

/**
 * Inserts rollup parts for 7 values of `key_id` in 2 environments, spread over 5 hours around midnight, and keeps a
 * copy of them.
 */
async function addParts(count: number): Promise<void> {
  await sql.rows('create table if not exists remembered as select * from rollup_parts');
  await sql.rows(
    `with added as (
       insert into rollup_parts (environment_id, key_id, minute, received, delivered, failed, retried, dlq, latencies_ms)
       select 1 + i % 2, lpad(to_hex(i * 7919 % 7), 32, '0')::uuid,
              date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' + (i * 31 % 300 - 150) * interval '1 minute',
              i % 5, i % 4, i % 3, i % 7, i % 2,
              array(select (power(1.4, (i + n) % 30) + n)::int from generate_series(1, i % 4) n)
       from generate_series(1, $1) i returning *
     )
     insert into remembered select * from added`,
    [count],
  );
}

type Line = Record<string, unknown>;
const LINE = `environment_id, key_id, start, received::int, delivered::int, failed::int, retried::int, dlq::int, attempts::int`;

/** Returns the expected rollups at a resolution: the sums of the added parts, and the counts of their latencies. */
async function expected(resolution: keyof typeof UNITS): Promise<Line[]> {
  const rows = await sql.rows<Line & { ms: number[] }>(`
    select ${LINE}, ms from (
      select environment_id, key_id, date_trunc('${UNITS[resolution]}', minute, 'UTC') as start, sum(received) as received,
             sum(delivered) as delivered, sum(failed) as failed, sum(retried) as retried, sum(dlq) as dlq,
             sum(cardinality(latencies_ms)) as attempts, string_to_array(string_agg(nullif(array_to_string(latencies_ms, ','), ''), ','), ',')::int[] as ms
      from remembered group by 1, 2, 3
    ) sums order by 1, 2, 3`);
  return rows.map(({ ms, ...line }) => {
    const histogram = Array<number>(BUCKET_FLOORS_MS.length).fill(0);
    for (const bucket of (ms ?? []).map(bucketOf)) histogram[bucket] = (histogram[bucket] as number) + 1;
    return { ...line, histogram: histogram.slice(0, histogram.findLastIndex((n) => n > 0) + 1) };
  });
}

const stored = (resolution: string): Promise<Line[]> =>
  sql.rows(`select ${LINE}, histogram from rollups where resolution = $1 order by environment_id, key_id, start`, [
    resolution,
  ]);

async function expectExact(): Promise<void> {
  for (const resolution of ['1m', '1h', '1d'] as const) {
    const lines = await expected(resolution);
    expect(lines.length).toBeGreaterThanOrEqual(14);
    expect(await stored(resolution)).toEqual(lines);
  }
}

const waiting = async (): Promise<number> =>
  (await sql.rows<{ n: number }>('select count(*)::int as n from rollup_parts'))[0]?.n ?? 0;
const allFolded = (): Promise<number> => until(waiting, (parts) => parts === 0, WITHIN_MS);

describe('the store of rollups', () => {
  let stores: RollupsStore[];
  let close: () => Promise<void>;

  beforeEach(async () => {
    // Days are UTC days, whatever the time zone of the server.
    await sql.rows(`alter database ${new URL(database.url).pathname.slice(1)} set timezone to 'Australia/Eucla'`);
    const databases = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const source = await dataSource(database.url, 1).initialize();
        return new Database(source, { databaseUrl: database.url } as Config);
      }),
    );
    stores = databases.map((each) => new RollupsStore(each));
    close = async () => void (await Promise.all(databases.map((each) => each.close())));
  });

  afterEach(() => close?.());

  it('four concurrent folds give exact sums, count each part once, and do not deadlock', async () => {
    await addParts(6_000);
    const foldAll = async (store: RollupsStore, limit: number): Promise<number> => {
      let sum = 0;
      // Repeats until no rows are left. An empty result is not enough, because SKIP LOCKED ignores rows of a concurrent
      // fold.
      while ((await waiting()) > 0) sum += await store.fold(limit);
      return sum;
    };

    const folded = await Promise.all(stores.map((store, i) => foldAll(store, [50, 70, 110, 130][i] as number)));

    expect(folded.reduce((sum, parts) => sum + parts)).toBe(6_000);
    expect(folded.filter((parts) => parts > 0).length).toBeGreaterThan(1);
    await expectExact();
  });

  it('pauses between steps, and folds all of many entries and of many keys', async () => {
    await sql.rows(`
      insert into rollup_parts (environment_id, key_ids, other_ids, ats, whats, durations_ms)
      select 1, array_agg(lpad(to_hex(n % 130), 32, '0')::uuid), array_agg(null::uuid), array_agg(null::timestamptz), array_agg(1::smallint), array_agg(n)
      from generate_series(1, 40) part, generate_series(1, 300) n group by part`);
    const [store] = stores as [RollupsStore];

    expect(await store.fold(100)).toBe(40);

    const sums = await sql.rows(`
      select key_id = '${WHOLE}' as whole, count(distinct key_id)::int as keys, sum(received)::int as received, sum(attempts)::int as attempts
      from rollups where resolution = '1h' group by 1 order by 1`);
    expect(sums).toEqual([
      { whole: false, keys: 130, received: 12_000, attempts: 12_000 },
      { whole: true, keys: 1, received: 12_000, attempts: 12_000 },
    ]);
  });

  it('accepts impossible durations, and counts above the range of a histogram', async () => {
    const [store] = stores as [RollupsStore];
    const part = `insert into rollup_parts (environment_id, key_id, minute, received, delivered, failed, retried, dlq, latencies_ms)
                  values (1, '00000000-0000-0000-0000-000000000001', '2026-11-21T09:30:00Z', 1, 0, 0, 0, 0, $1)`;
    await sql.rows(part, [[-5, 0, 2_147_483_647]]);
    await store.fold(10);
    await sql.rows(`update rollups set histogram[1] = 2147483647`);

    await sql.rows(part, [[0]]);
    await store.fold(10);

    const [{ attempts, histogram } = {}] = await sql.rows<{ attempts: string; histogram: number[] }>(
      `select attempts, histogram from rollups where resolution = '1d'`,
    );
    expect([attempts, histogram?.length, histogram?.[0], histogram?.at(-1)]).toEqual(['4', 176, 2_147_483_647, 1]);
  });

  it('deletes no more rows than the limit, oldest first, and only of its window', async () => {
    const [store] = stores as [RollupsStore];
    await addParts(600);
    while ((await store.fold(500)) > 0);
    const [before, days] = [await stored('1m'), await stored('1d')];
    const starts = before.map(({ start }) => (start as Date).getTime()).sort((a, b) => a - b);
    const middleMs = starts[300] as number;

    expect(await store.deleteBefore('1m', middleMs, 100)).toBe(100);

    const left = await stored('1m');
    expect(left.map(({ start }) => (start as Date).getTime()).sort((a, b) => a - b)).toEqual(starts.slice(100));
    expect(await stored('1d')).toEqual(days);
    expect(await store.deleteBefore('1m', starts[0] as number, 100)).toBe(0);
  });

  it('statements use the indexes that their comments promise', async () => {
    const asked: [string, (store: RollupsStore) => Promise<unknown>, string[]][] = [
      ['fold', (store) => store.fold(100), ['rollup_parts_pkey', 'rollups_pkey']],
      [
        'find',
        (store) =>
          store.find(
            { environmentId: 1, organizationId: '', mode: 'live' },
            '00000000-0000-0000-0000-000000000001',
            '1m',
            { firstMs: Date.now() - 3_600_000, lastMs: Date.now() },
          ),
        ['rollups_pkey'],
      ],
      ['deleteBefore', (store) => store.deleteBefore('1m', Date.now() - DAY_MS, 100), ['rollups_start_idx']],
      ['oldestPartAgeSeconds', (store) => store.oldestPartAgeSeconds(), ['rollup_parts_pkey']],
    ];
    await addParts(20_000);
    await sql.rows(`
      insert into rollups select 1, lpad(to_hex(i % 7), 32, '0')::uuid, '1m', now() - i * interval '1 minute', 1, 1, 0, 0, 0, 1, '{1}'
      from generate_series(1, 20000) i`);
    // Autovacuum never analyzes `rollup_parts` (migrations/1732300300000-rollups.ts), so the test only vacuums it.
    await sql.rows('analyze rollups');
    await sql.rows('vacuum rollup_parts');
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    const client = await pool.connect();
    try {
      for (const [what, ask, expectedIndexes] of asked) {
        const { database: recording, recorded } = recorder();
        await ask(new RollupsStore(recording));
        for (const mode of ['generic', 'custom'] as const) {
          const { indexes, scanned } = await explain(client, recorded[0] as (typeof recorded)[number], mode);

          expect({ what, mode, indexes, scanned }).toEqual({ what, mode, indexes: expectedIndexes, scanned: [] });
        }
      }
    } finally {
      client.release();
      await pool.end();
    }
  });
});

describe('the folding job', () => {
  const running: PosthornServer[] = [];
  let env: Readonly<Record<string, string>> = {};

  const start = async (role: string): Promise<PosthornServer> => {
    const server = await startServer({ DATABASE_URL: database.url, ...env, ROLE: role });
    ({ env } = server);
    running.push(server);
    return server;
  };

  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.stop().catch(() => undefined)));
    env = {};
  });

  it('killed with kill -9 again and again while two workers fold: every part counts once', async () => {
    const parts = 250_000;
    await addParts(parts);
    let kills = 0;

    await start('worker');
    for (let left = await waiting(); left > 0; left = await waiting()) {
      const [oldest, ...others] = running;
      if (others.length === 0) {
        await start('worker');
      } else if (left < parts - kills * 40_000) {
        await oldest?.kill('SIGKILL');
        running.shift();
        kills += 1;
      } else {
        await rest(1);
      }
    }

    expect(kills).toBeGreaterThan(0);
    await expectExact();
  });

  it('killed with kill -9 in the middle of its statement: every part counts once', async () => {
    await addParts(700);
    const folder = await start('worker');
    await allFolded();
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query(`select from rollups where resolution = '1d' for update`);
      await addParts(700);
      const held = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%from rollup_parts%' and datname = current_database()`;
      await until(
        () => sql.rows(held),
        (rows) => rows.length > 0,
        WITHIN_MS,
      );

      await folder.kill('SIGKILL');
      running.shift();
    } finally {
      await holder.end();
    }
    await start('worker');

    await allFolded();
    await expectExact();
  });

  it('does not run in a process with ROLE=api', async () => {
    await addParts(10);
    const api = await start('api');
    const worker = await start('worker');
    await allFolded();

    const folded = async ({ url }: PosthornServer): Promise<string | undefined> =>
      /^posthorn_rollup_parts_folded_total (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
    expect([await folded(api), await folded(worker)]).toEqual(['0', '10']);
  });

  it('deletes minutes after 7 days, hours after 90 and days after 400', async () => {
    await sql.rows(`
      insert into rollups
      select 1, '00000000-0000-0000-0000-000000000001', resolution, now() - days * interval '1 day' + shift * interval '1 hour', 1, 1, 0, 0, 0, 0, '{}'
      from (values ('1m', 7), ('1h', 90), ('1d', 400)) kept(resolution, days), (values (-1), (1)) shifts(shift)`);
    await sql.rows(`
      insert into rollups select 1, '00000000-0000-0000-0000-000000000002', '1m', now() - interval '30 days' - i * interval '1 minute', 1, 1, 0, 0, 0, 0, '{}'
      from generate_series(1, 12000) i`);

    await start('worker');

    const left = await until(
      () =>
        sql.rows<{ resolution: string; age: number }>(
          `select resolution, round(extract(epoch from now() - start) / 3600)::int as age from rollups order by age`,
        ),
      (rows) => rows.length <= 3,
      WITHIN_MS,
    );
    expect(left).toEqual([
      { resolution: '1m', age: 7 * 24 - 1 },
      { resolution: '1h', age: 90 * 24 - 1 },
      { resolution: '1d', age: 400 * 24 - 1 },
    ]);
  });
});
