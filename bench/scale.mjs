/**
 * Measures lists, claims and acceptance without stored events, and with a million events and a hundred thousand waiting
 * retries.
 */
import pg from 'pg';
import { nowMs } from './clock.mjs';
import { startPosthorn } from './posthorn.mjs';
import { breakIn, measure } from './window.mjs';

const STORED = 1_000_000;
const RETRIES = 100_000;
/** Number of events, enough to fill a page of each list, including dead letters. None of them waits for delivery. */
const FEW = 6_000;
const LIST_CALLS = 200;
const CLAIMS = 20;
const CLAIMED_AT_ONCE = 100;
const LISTS = { listMs: 'limit=50', listDlqMs: 'limit=50&status=dlq', listTypeMs: 'limit=50&event_type=bench.stored' };

/** PostgreSQL settings of the connection. The service uses the same settings for its prepared statements. */
const PLANS = [
  'jit=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'enable_seqscan=off',
  'enable_bitmapscan=off',
  'plan_cache_mode=force_generic_plan',
]
  .map((setting) => `-c ${setting}`)
  .join(' ');

/** SQL expression for the ID of event number `n`. IDs ascend by creation time. The last digits make them unique. */
const ID = `(lpad(to_hex((extract(epoch from now()) * 1000)::bigint - (${STORED} - n) * 1728), 12, '0') || substr(md5(n::text), 1, 20))::uuid`;
const EXPIRES = `(now() - ((${STORED} - n) * 1728) * interval '1 millisecond' + interval '30 days')::date`;

/** SQL for twenty days of events. One in a hundred is a dead letter. The newest tenth waits for a retry in an hour. */
const FILL = [
  `create temp table filled as select n, ${ID} as id, ${EXPIRES} as expires_on from generate_series($1::int, $2::int) n`,
  `insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, payload)
   select $1, id, expires_on, $2, 'outbound', 'bench.stored', 200, '{"pad":"' || repeat('x', 190) || '"}' from filled`,
  `insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, status, attempts, replayed, superseded, settled_at)
   select $1, id, 0, expires_on, $2, case when n % 100 = 0 then 'dlq' else 'delivered' end, 1, false, false, now()
   from filled where n <= ${STORED - RETRIES}`,
  `insert into attempts (environment_id, event_id, ordinal, number, expires_on, started_at, duration_ms, status)
   select $1, id, 0, 1, expires_on, now(), 5, 200 from filled where $2::uuid is not null`,
  `insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, due_at, parked, attempts, attempts_used,
                               first_attempt_at, replayed, superseded)
   select $1, id, 0, expires_on, $2, now() + interval '1 hour', false, 1, 1, now(), false, false
   from filled where n > ${STORED - RETRIES}`,
];

/** @typedef {import('./window.mjs').Figures & { probes: Record<string, number[]> }} ScaleFigures */

/** @type {import('./rows.mjs').Block} */
export const scale = {
  rows: ['scale'],
  async run(bench, _wanted, report) {
    const database = await bench.database.create();
    const targetUrl = `http://127.0.0.1:${bench.receiverPort}/ok`;
    const subject = await startPosthorn({
      databaseUrl: database.url,
      targetUrl,
      directory: bench.directory,
      roles: ['all', 'all'],
    });
    const measured = { ...subject, database: database.name };
    await breakIn(bench, measured);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();

    // Stores enough events to fill a page in both measurements, because an empty page costs nothing to read.
    await fillUp(client, 1, FEW);
    report({ name: 'scale:empty', figures: await probed(bench, measured, database.url) });
    await fillUp(client, FEW + 1, STORED);
    report({ name: 'scale', figures: await probed(bench, measured, database.url) });

    await client.end();
    await subject.stop();
    await bench.database.drop(database.name);
  },
};

/** Inserts the events `from` to `to` by number. @param {pg.Client} client @param {number} from @param {number} to */
async function fillUp(client, from, to) {
  const { rows } = await client.query('select environment_id, id from destinations limit 1');
  const { environment_id: environmentId, id } = rows[0];
  for (const [i, text] of FILL.entries()) await client.query(text, i === 0 ? [from, to] : [environmentId, id]);
  await client.query('drop table filled');
  await client.query('vacuum (analyze)');
  await client.query('checkpoint');
}

/**
 * @param {import('./rows.mjs').Bench} bench
 * @param {Required<import('./window.mjs').Subject> & { database: string }} subject
 * @param {string} databaseUrl
 * @returns {Promise<ScaleFigures>}
 */
async function probed(bench, subject, databaseUrl) {
  /** @type {Record<string, number[]>} */
  const probes = {};
  for (const [name, query] of Object.entries(LISTS)) probes[name] = await listMs(subject, query);
  probes.claimMs = await claimMs(databaseUrl);
  return { ...(await measure(bench, subject)), probes };
}

/**
 * Requests a page of a list several times, and returns the duration of each request in milliseconds.
 *
 * @param {Required<import('./window.mjs').Subject>} subject
 * @param {string} query
 */
async function listMs(subject, query) {
  const times = [];
  for (let i = 0; i < LIST_CALLS; i++) {
    const startedAt = nowMs();
    const response = await fetch(`http://127.0.0.1:${subject.ports[0]}/v1/events?${query}`, {
      headers: subject.headers,
    });
    if (response.status !== 200) throw new Error(`GET /v1/events?${query} answered ${response.status}.`);
    await response.text();
    times.push(nowMs() - startedAt);
  }
  return times;
}

/**
 * Claims a hundred deliveries several times, and returns the durations in milliseconds. Makes the rows due only inside
 * its own transaction, so that no worker claims them.
 *
 * @param {string} databaseUrl
 */
export async function claimMs(databaseUrl) {
  const { DueStore } = await import('../dist/src/modules/ledger/due.store.js');
  const client = new pg.Client({ connectionString: databaseUrl, options: PLANS });
  await client.connect();
  const hot = async (/** @type {pg.QueryConfig} */ { name, text }, /** @type {unknown[]} */ values) =>
    (await client.query({ name, text, values })).rows;
  const store = new DueStore(/** @type {any} */ ({ hot }));
  await client.query('begin');
  await client.query(`
    insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, due_at, parked, attempts, attempts_used,
                                replayed, superseded)
    select environment_id, id, 100, expires_on, target_id, now(), false, 1, 1, false, false from events limit ${CLAIMS * CLAIMED_AT_ONCE}`);
  await client.query(
    `update due_deliveries set due_at = now() - interval '1 minute' where claimed_by is null and ordinal = 100`,
  );
  const times = [];
  for (let i = 0; i < CLAIMS; i++) {
    const startedAt = nowMs();
    const claimed = await store.claimDue('00000000-0000-0000-0000-00000000be7c', CLAIMED_AT_ONCE);
    if (claimed.length !== CLAIMED_AT_ONCE) throw new Error(`Claimed ${claimed.length} instead of ${CLAIMED_AT_ONCE}.`);
    times.push(nowMs() - startedAt);
  }
  await client.query('rollback');
  await client.end();
  return times;
}
