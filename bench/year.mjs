/**
 * `node bench/year.mjs`: compares a database that holds ten million events of a year with an empty database. Prints a
 * table with the ratios, and marks ratios above `BOUND`. Such a ratio does not change the exit code.
 */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { nowMs } from './clock.mjs';
import { Database } from './database.mjs';
import { median } from './measure.mjs';
import { costOf } from './paired-report.mjs';
import { startPosthorn } from './posthorn.mjs';
import { startHelper, stopEverything } from './processes.mjs';
import { fairRate } from './report.mjs';
import { claimMs } from './scale.mjs';
import { alternate } from './slices.mjs';
import { breakIn } from './window.mjs';

const RETENTION_DAYS = 365;
const DAY_MS = 86_400_000;
/** Maximum ratio: the duration in the full database divided by that in the empty database. */
const BOUND = 1.1;
/** Number of events in the "empty" database: enough to fill a page of each list. */
const FEW = 6_000;
/** Number of events inserted by one statement. */
const CHUNK = 500_000;
const RETRIES = 100_000;
const CLAIM_ROUNDS = 5;
const FOLDS = 15;
const PASSED_DAYS = 3;
const ROWS_OF_A_DAY = 20_000;
/**
 * Number of rollup parts that one fold adds up. Each part has ten entries, as many as a commit with ten deliveries
 * stores.
 */
const PARTS = 600;
const ENTRIES = 10;
const ACCEPT_ROUNDS = 4;
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
];
const TYPE = 'bench.year.7';

/**
 * @typedef {import('./slices.mjs').Side & { subject: Awaited<ReturnType<typeof startPosthorn>>, url: string, client:
 * pg.Client }} Side
 */
/**
 * Measures one service with its database. Returns durations in milliseconds, or the values of another figure.
 *
 * @typedef {(side: Side) => Promise<number[]>} Probe
 */

/**
 * SQL expressions for event number n of $2: its creation time (evenly spread over the year), its unique id, and its
 * expiry day as in engine/expiry-day.ts.
 */
const MADE_MS = `((extract(epoch from now()) * 1000)::bigint - 3600000 - ($2::bigint - n) * ${(RETENTION_DAYS - 1) * DAY_MS} / $2::bigint)`;
const ID = `(lpad(to_hex(made_ms), 12, '0') || substr(md5(n::text), 1, 20))::uuid`;
const EXPIRES = `(date '1970-01-01' + (ceil((made_ms / ${DAY_MS} + ${RETENTION_DAYS}) / 12.0) * 12)::int)`;

/**
 * SQL statements that store the events. One in a hundred is a dead letter, and the newest events wait for a retry in a
 * day. Payloads have only 20 bytes, so that the data fits on the disk.
 */
const FILL = [
  `create temp table filled as
   select n, ${ID} as id, ${EXPIRES} as expires_on, to_timestamp(made_ms / 1000.0) as made_at, n > $2::int - $5::int as is_open, n % 100 = 0 as is_dead
   from (select n, ${MADE_MS} as made_ms from generate_series($3::int, $4::int) n where $1::int is not null) made`,
  `insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, payload)
   select $1, id, expires_on, $2, 'outbound', 'bench.year.' || n % 37, 20, '{"n":' || n || '}' from filled`,
  `insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, status, attempts, replayed, superseded, settled_at)
   select $1, id, 0, expires_on, $2, case when is_dead then 'dlq' else 'delivered' end, 1, false, false, made_at from filled where not is_open`,
  `insert into attempts (environment_id, event_id, ordinal, number, expires_on, started_at, duration_ms, status)
   select $1, id, 0, 1, expires_on, made_at, 5, case when is_dead then 503 else 200 end from filled where $2::uuid is not null`,
  `insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, due_at, parked, attempts, attempts_used, first_attempt_at, replayed, superseded)
   select $1, id, 0, expires_on, $2, now() + interval '1 day', false, 1, 1, now(), false, false from filled where is_open`,
];

/**
 * Creates the partitions of each day on which an event of the year expires. Does not change existing partitions.
 *
 * @param {pg.Client} client
 */
async function makePartitions(client) {
  const { rows } = await client.query(`
    select distinct ${EXPIRES.replaceAll('made_ms', 'm')}::text as day from generate_series((extract(epoch from now()) * 1000)::bigint - ${RETENTION_DAYS * DAY_MS}, (extract(epoch from now()) * 1000)::bigint, ${DAY_MS}) m order by 1`);
  for (const { day } of rows) await makePartition(client, day);
}

/** @param {pg.Client} client @param {string} day */
async function makePartition(client, day) {
  for (const table of TABLES)
    await client.query(
      `create table if not exists ${table}_p${day.replaceAll('-', '')} partition of ${table} for values from ('${day}') to (date '${day}' + 1)`,
    );
}

/** @param {Side} side @param {number} count @param {number} retries */
async function fill({ client, subject }, count, retries) {
  const { parseId } = await import('../dist/src/kernel/ids.js');
  const destination = /** @type {any} */ (parseId)('dst', subject.destination);
  const {
    rows: [{ environment_id: environmentId }],
  } = await client.query('select environment_id from destinations where id = $1', [destination]);
  const startedAt = nowMs();
  // Allows commits that a crash could lose, because lost rows can be inserted again.
  await client.query('set synchronous_commit = off');
  for (let from = 1; from <= count; from += CHUNK) {
    const until = Math.min(count, from + CHUNK - 1);
    for (const [i, text] of FILL.entries())
      await client.query(text, i === 0 ? [environmentId, count, from, until, retries] : [environmentId, destination]);
    await client.query('drop table filled');
    if (count > CHUNK)
      process.stderr.write(`filled ${until} of ${count} in ${((nowMs() - startedAt) / 1000).toFixed(0)} s\n`);
  }
  await client.query('vacuum (analyze)');
  await client.query('checkpoint');
}

/**
 * Starts a PostgreSQL server, and a service that keeps events for a year. Then stores `count` events.
 *
 * @param {string} directory
 * @param {string} targetUrl
 * @param {number} count
 * @param {number} retries
 * @returns {Promise<Side>}
 */
async function startSide(directory, targetUrl, count, retries) {
  await mkdir(directory, { recursive: true });
  const server = await Database.start(directory);
  const { name: database, url } = await server.create();
  const subject = await startPosthorn({ databaseUrl: url, targetUrl, directory, roles: ['all'] });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await subject.call('PATCH', '/v1/org', { retention_days: RETENTION_DAYS });
  await makePartitions(client);
  const side = { subject: { ...subject, database }, server, url, client };
  await fill(side, count, retries);
  return side;
}

/** Returns the duration of a request. @param {Side} side @param {string} address */
async function askedMs({ subject }, address) {
  const startedAt = nowMs();
  const response = await fetch(`http://127.0.0.1:${subject.ports[0]}${address}`, { headers: subject.headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`GET ${address} answered ${response.status}: ${text}`);
  return nowMs() - startedAt;
}

/** @param {(side: Side) => string | Promise<string>} addressOf @param {number} times @returns {Probe} */
const asking = (addressOf, times) => async (side) => {
  const address = await addressOf(side);
  const all = [];
  for (let i = 0; i < times; i += 1) all.push(await askedMs(side, address));
  return all;
};

/** Returns a probe that measures the second page of a list. @param {string} query */
const nextPage =
  (query) =>
  async (/** @type {Side} */ { subject }) => {
    const { next_cursor: cursor } = await subject.call('GET', `/v1/events?${query}`);
    return `/v1/events?${query}&cursor=${cursor}`;
  };

/** Returns the API path of one stored event. @param {Side} side */
async function someEvent({ client }) {
  const { showId } = await import('../dist/src/kernel/ids.js');
  const {
    rows: [row],
  } = await client.query(
    `select id from events where event_type = $1 and expires_on = (select expires_on from events where event_type = $1 limit 1) limit 1`,
    [TYPE],
  );
  return `/v1/events/${showId('evt', row.id)}`;
}

/** Measures the statement that folds rollup parts, on parts that only this transaction can see. @type {Probe} */
async function folds({ url, client }) {
  const { RollupsStore } = await import('../dist/src/modules/metrics/rollups.store.js');
  const {
    rows: [{ environment_id: environmentId, id: key }],
  } = await client.query('select environment_id, id from destinations limit 1');
  const own = new pg.Client({ connectionString: url });
  await own.connect();
  const store = new RollupsStore(
    /** @type {any} */ ({
      query: async (/** @type {pg.QueryConfig} */ { text }, /** @type {unknown[]} */ values) =>
        (await own.query(text, values)).rows,
    }),
  );
  const all = [];
  for (let i = 0; i < FOLDS; i += 1) {
    await own.query('begin');
    await own.query(
      `
      insert into rollup_parts (environment_id, key_ids, other_ids, ats, whats, durations_ms)
      select $1, array_fill($2::uuid, array[$4::int]), array_fill(null::uuid, array[$4::int]), array_fill(now(), array[$4::int]), array_fill(2::smallint, array[$4::int]), array_fill(7, array[$4::int])
      from generate_series(1, $3::int)`,
      [environmentId, key, PARTS, ENTRIES],
    );
    const startedAt = nowMs();
    if ((await store.fold(PARTS)) === 0) throw new Error('Nothing was folded.');
    all.push(nowMs() - startedAt);
    await own.query('rollback');
  }
  await own.end();
  return all;
}

/**
 * Measures the daily query for open deliveries of past days, with a hundred thousand waiting deliveries and without
 * waiting deliveries.
 *
 * @type {Probe}
 */
async function opens({ url }) {
  return withPartitions(url, async (store) => {
    const startedAt = nowMs();
    await store.openDays();
    return [nowMs() - startedAt];
  });
}

/** Measures the hourly run of the partition job when no day has ended since the previous run. @type {Probe} */
async function looks({ url }) {
  return withPartitions(url, async (store) => {
    const all = [];
    for (let i = 0; i < FOLDS; i += 1) {
      const startedAt = nowMs();
      await store.makeNext([30, RETENTION_DAYS], 4);
      if (await store.hasPassed()) throw new Error('A day has passed.');
      all.push(nowMs() - startedAt);
    }
    return all;
  });
}

/**
 * Fills the partitions of a day in `events`, `deliveries` and `attempts`, each with `ROWS_OF_A_DAY` rows.
 *
 * @param {pg.Client} client
 * @param {string} day
 */
async function fillDay(client, day) {
  const {
    rows: [{ environment_id: environmentId, id }],
  } = await client.query('select environment_id, id from destinations limit 1');
  await makePartition(client, day);
  const values = [environmentId, id, day];
  const from = `from generate_series(1, ${ROWS_OF_A_DAY}) n`;
  const ids = `('00000000-0000-0000-0000-' || lpad(to_hex(n), 12, '0'))::uuid`;
  await client.query(
    `insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, payload) select $1, ${ids}, $3::date, $2, 'outbound', '${TYPE}', 20, '{}' ${from}`,
    values,
  );
  await client.query(
    `insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, status, attempts, replayed, superseded, settled_at) select $1, ${ids}, 0, $3::date, $2, 'delivered', 1, false, false, now() ${from}`,
    values,
  );
  await client.query(
    `insert into attempts (environment_id, event_id, ordinal, number, expires_on, started_at, duration_ms, status) select $1, ${ids}, 0, 1, $3::date, now(), 5, 200 ${from} where $2::uuid is not null`,
    values,
  );
}

/** Drops the partitions of a past day as the service does, but without the pauses between the drops. @type {Probe} */
async function drops({ client }) {
  const all = [];
  for (let i = 1; i <= PASSED_DAYS; i += 1) {
    const {
      rows: [{ day }],
    } = await client.query(`select ((now() at time zone 'UTC')::date - $1::int)::text as day`, [i]);
    await fillDay(client, day);
    const startedAt = nowMs();
    for (const table of TABLES) await client.query(`drop table ${table}_p${day.replaceAll('-', '')}`);
    all.push(nowMs() - startedAt);
  }
  return all;
}

/** @template T @param {string} url @param {(store: any) => Promise<T>} use @returns {Promise<T>} */
async function withPartitions(url, use) {
  const [{ dataSource }, { Database: Connected }, { PartitionsStore }] = await Promise.all([
    import('../dist/src/bootstrap/data-source.js'),
    import('../dist/src/kernel/database/database.js'),
    import('../dist/src/modules/ledger/partitions.store.js'),
  ]);
  const source = dataSource(url, 2);
  const database = new Connected(await source.initialize(), /** @type {any} */ ({ databaseUrl: url, isPooled: false }));
  try {
    return await use(new PartitionsStore(database));
  } finally {
    await database.close();
  }
}

/** @param {number} times @returns {[string, Probe][]} */
const probesOf = (times) => [
  ['GET /v1/events', asking(() => '/v1/events?limit=50', times)],
  ['its second page', asking(nextPage('limit=50'), times)],
  ['dead letters', asking(() => '/v1/events?limit=50&status=dlq', times)],
  ['of a type', asking(() => `/v1/events?limit=50&event_type=${TYPE}`, times)],
  [
    'made half a year ago',
    asking(
      () =>
        `/v1/events?limit=50&until=${encodeURIComponent(new Date(Date.now() - (RETENTION_DAYS / 2) * DAY_MS).toISOString())}`,
      times,
    ),
  ],
  ['an event by its id', asking(someEvent, times)],
  ['a claim of a hundred', ({ url }) => claimMs(url)],
  [`a fold of ${PARTS * ENTRIES}`, folds],
  ['a look for passed days', looks],
  ['what is open of it', opens],
  ['dropping a passed day', drops],
];

const WIDTHS = [26, 11, 11, 8];
const line = (/** @type {string[]} */ cells) =>
  process.stdout.write(
    `${cells.map((cell, i) => (i === 0 ? cell.padEnd(WIDTHS[0] ?? 0) : cell.padStart(WIDTHS[i] ?? 0))).join('')}\n`,
  );
const shown = (/** @type {number} */ ratio) => `${ratio.toFixed(2)}${ratio > BOUND ? '*' : ' '}`;

/**
 * Measures the full and the empty database alternately, so that a machine that gets slower affects both equally.
 *
 * @param {string} name
 * @param {Side[]} sides
 * @param {Probe} probe
 */
async function compare(name, [empty, full], probe) {
  /** @type {[number[], number[]]} */
  const all = [[], []];
  for (let round = 0; round < CLAIM_ROUNDS; round += 1) {
    for (const at of round % 2 === 0 ? [0, 1] : [1, 0])
      all[at]?.push(...(await probe(/** @type {Side} */ (at === 0 ? empty : full))));
  }
  const [before, after] = all.map(median);
  line([
    name,
    `${before?.toFixed(2)} ms`,
    `${after?.toFixed(2)} ms`,
    shown(/** @type {number} */ (after) / /** @type {number} */ (before)),
  ]);
}

/**
 * Measures accepting and delivering messages at the highest rate, with the full and with the empty database.
 *
 * @param {import('./window.mjs').Bench} bench
 * @param {Side[]} sides
 * @param {number} seconds
 */
async function compareAccepts(bench, sides, seconds) {
  const contestants = sides.map((side, i) => ({ ...side, name: i === 0 ? 'empty' : 'full' }));
  for (const { subject, server } of contestants) {
    const own = { ...bench, database: server };
    await breakIn(own, subject);
    bench.nextNumber = own.nextNumber;
  }
  /** @type {import('./window.mjs').Figures[][]} */
  const figures = [[], []];
  for (let round = 0; round < ACCEPT_ROUNDS; round += 1) {
    await alternate(
      bench,
      sides,
      contestants,
      { round, seconds },
      (slice) => void figures[slice.name === 'empty' ? 0 : 1]?.push(slice.figures),
    );
  }
  const of = (/** @type {(each: import('./window.mjs').Figures) => number} */ figure) =>
    figures.map((each) => median(each.map(figure)));
  const [rateBefore = 0, rateAfter = 0] = of(fairRate);
  line([
    'accepted and delivered',
    `${rateBefore.toFixed(0)}/s`,
    `${rateAfter.toFixed(0)}/s`,
    shown(rateBefore / rateAfter),
  ]);
  const [before = 0, after = 0] = of(costOf);
  line(['CPU of one', `${before.toFixed(0)} us`, `${after.toFixed(0)} us`, shown(after / before)]);
}

/** @param {string} directory @param {{ events: number, times: number, only: RegExp, slice: number }} options */
async function run(directory, { events, times, only, slice }) {
  const load = startHelper('load.mjs');
  const receiver = startHelper('receiver.mjs');
  const { port: receiverPort, countsPort } = await receiver.ask({ kind: 'ports' });
  const targetUrl = `http://127.0.0.1:${receiverPort}/ok`;
  const sides = [
    await startSide(path.join(directory, 'empty'), targetUrl, FEW, 0),
    await startSide(path.join(directory, 'full'), targetUrl, events, Math.min(RETRIES, events / 10)),
  ];
  const [empty, full] = /** @type {[Side, Side]} */ (sides);
  const {
    rows: [{ count, bytes }],
  } = await full.client.query(
    `select (select count(*) from pg_inherits where inhparent = 'events'::regclass) as count, pg_size_pretty(pg_database_size(current_database())) as bytes`,
  );
  process.stdout.write(
    `${events} events of ${RETENTION_DAYS} days, ${bytes}, ${count} partitions of a table; ${os.cpus().length} cores, load ${os.loadavg()[0]?.toFixed(1)}, node ${process.version}, PostgreSQL ${full.server.settings.server_version}; * over ${BOUND}\n`,
  );
  line(['', `${FEW} events`, 'full', 'ratio']);
  for (const [name, probe] of probesOf(times)) if (only.test(name)) await compare(name, sides, probe);
  const bench = {
    load,
    receiver,
    receiverPort,
    countsPort,
    database: empty.server,
    directory,
    seconds: slice,
    slice,
    connections: 128,
    nextNumber: 1,
  };
  if (only.test('accepts')) await compareAccepts(bench, sides, slice);
  for (const { client, subject, server } of sides) {
    await client.end();
    await subject.stop();
    await server.stop();
  }
}

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '10000000' },
    times: { type: 'string', default: '40' },
    slice: { type: 'string', default: '4' },
    only: { type: 'string', default: '' },
  },
});
const directory = await mkdtemp(path.join(os.tmpdir(), 'posthorn-bench-'));
// PostgreSQL refuses to run as root, so it is started as another user. That user needs access to the directory.
await chmod(directory, 0o755);
try {
  await run(directory, {
    events: Number(values.events),
    times: Number(values.times),
    slice: Number(values.slice),
    only: new RegExp(values.only),
  });
} finally {
  await stopEverything();
  await rm(directory, { recursive: true, force: true });
}
process.exit();
