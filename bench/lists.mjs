/**
 * `node bench/lists.mjs`: measures how long the API's lists take with each filter, with a million events stored.
 * Exceeding a bound is not an error.
 */
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { nowMs } from './clock.mjs';
import { Database } from './database.mjs';
import { median } from './measure.mjs';
import { startPosthorn } from './posthorn.mjs';
import { stopEverything } from './processes.mjs';

const BOUND_MS = 150;
/** Page size of the lists in the console. */
const PAGE = 100;
const PAGES_MAX = 500;
const DESTINATIONS = 20;
const APPLICATIONS = 40;

/** @typedef {Awaited<ReturnType<typeof startPosthorn>>} Service */
/**
 * @typedef {{ destinations: string[], applications: string[], endpoints: string[], received: string, routed: string,
 * ids: Record<string, string> }} Stored
 */

/**
 * SQL expression for the unique ID of event number `n`, spread over twenty days. For a message to an application, this
 * is the message's ID, and the ID of its event ends with `0001`.
 */
const ID = `(lpad(to_hex((extract(epoch from now()) * 1000)::bigint - ($2 - n) * (1728000000 / $2)), 12, '0') || substr(md5(n::text), 1, 16) || '0000')::uuid`;
const EXPIRES = `(now() - ($2 - n) * (1728000000 / $2) * interval '1 millisecond' + interval '30 days')::date`;

/** SQL statements that store a mix of sent, received, failed, dead-lettered and waiting events. */
const FILL = [
  `create temp table filled as
   select n, ${ID} as id, ${EXPIRES} as expires_on, n % 10 as kind,
          case when n % 10000 = 5 then 'bench.rare' else 'bench.type.' || n % 37 end as event_type,
          case when n % 10 >= 8 and n % 200 in (8, 28, 48) then (array['quarantined', 'parked', 'ignored'])[1 + n % 200 / 20]
               when n % 50 = 2 or n > $2 * 0.995 then 'retrying'
               when n % 100 = 0 or n % 2500 = 6 then 'dlq' when n % 1000 = 1 then 'failed' else 'delivered' end as status,
          case when n % 10 < 6 then ($3::uuid[])[1 + n / 10 % ${DESTINATIONS}] when n % 10 = 6 then ($4::uuid[])[1]
               when n % 10 = 7 then ($4::uuid[])[2 + n / 10 % ${APPLICATIONS - 1}] else $5::uuid end as target_id,
          case when n % 10 = 6 then ($6::uuid[])[1] when n % 10 = 7 then ($6::uuid[])[2 + n / 10 % ${APPLICATIONS - 1}] end as application_id,
          case when n % 10 >= 8 then ($3::uuid[])[1] end as routed_id
   from generate_series(1, $2::int) n where $1::int is not null`,
  `alter table filled add column event_id uuid`,
  `update filled set event_id = case when application_id is null then id else overlay(id::text placing '0001' from 33)::uuid end`,
  `insert into messages (environment_id, id, expires_on, application_id, event_type, payload_bytes, payload, fanout)
   select $1, id, expires_on, application_id, event_type, 40, '{"n":' || n || '}', 1 from filled where application_id is not null order by n`,
  `insert into events (environment_id, id, expires_on, target_id, url, direction, event_type, payload_bytes, payload, message_id, disposition)
   select $1, event_id, expires_on, target_id, case when kind >= 8 then 'bench-lists' end, case when kind >= 8 then 'inbound' else 'outbound' end, event_type, 40,
          case when application_id is null then '{"n":' || n || '}' end, case when application_id is not null then id end,
          case when status in ('quarantined', 'parked', 'ignored') then status end
   from filled order by n`,
  `insert into requests (environment_id, id, expires_on, endpoint_id, method, url, path, query, headers, size_bytes, ip, verification)
   select $1, event_id, expires_on, target_id, 'POST', 'https://example.com/in', '', '', '[]', 40, '203.0.113.7', case when status = 'quarantined' then 'failed' else 'none' end
   from filled where kind >= 8 order by n`,
  `insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, status, attempts, replayed, superseded, settled_at)
   select $1, event_id, 0, expires_on, coalesce(routed_id, target_id), case when kind >= 8 then target_id end, status, 1, false, false, now()
   from filled where status in ('delivered', 'dlq', 'failed') order by n`,
  `insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, due_at, parked, attempts, attempts_used, first_attempt_at, replayed, superseded)
   select $1, event_id, 0, expires_on, coalesce(routed_id, target_id), case when kind >= 8 then target_id end, now() + interval '300 days', false, 1, 1, now(), false, false
   from filled where status = 'retrying' order by n`,
  `insert into attempts (environment_id, event_id, ordinal, number, expires_on, started_at, duration_ms, status, error)
   select $1, event_id, 0, 1, expires_on, now() - ($2 - n) * (1728000000 / $2) * interval '1 millisecond', 5,
          case when status = 'delivered' then 200 when n % 300 = 0 or n % 25000 = 6 then null when kind = 6 then 404 else 503 end,
          case when status = 'delivered' then null when n % 300 = 0 then 'timeout' when n % 25000 = 6 then 'tls' end
   from filled where status in ('delivered', 'dlq', 'failed', 'retrying') order by n`,
  `insert into emails (environment_id, id, expires_on, sender, to_list, cc, bcc, reply_to, subject, message_id, is_captured, tags, attachments, size_bytes, recipients, timeline, status, is_owed, version)
   select $1, event_id, expires_on, 'shop@example.com', '{customer@example.org}', '{}', '{}', '{}', 'Your order', '<' || n || '@example.com>', true, '[]', '[]', 2000, '[]', '[]',
          case when n % 10000 = 4 then 'complained' when n % 500 = 4 then 'bounced' else 'delivered' end, false, 1
   from filled where kind = 4 and $2::int is not null order by n`,
];

/** @param {pg.Client} client @param {number} count @param {Stored} stored */
async function fill(client, count, { destinations, applications, endpoints, received }) {
  const {
    rows: [row],
  } = await client.query('select environment_id from destinations limit 1');
  const uuids = async (/** @type {string} */ table, /** @type {string[]} */ ids) => {
    const { parseId } = await import('../dist/src/kernel/ids.js');
    return ids.map((id) => /** @type {any} */ (parseId)(table, id));
  };
  const made = [
    row.environment_id,
    count,
    await uuids('dst', destinations),
    await uuids('ep', endpoints),
    (await uuids('ep', [received]))[0],
    await uuids('app', applications),
  ];
  for (const [i, text] of FILL.entries()) {
    const used = Math.max(0, ...[...text.matchAll(/\$(\d)/g)].map(([, number]) => Number(number)));
    const startedAt = nowMs();
    await client.query(text, made.slice(0, used));
    process.stdout.write(`filled ${i + 1} of ${FILL.length} in ${((nowMs() - startedAt) / 1000).toFixed(0)} s\n`);
  }
  await client.query('drop table filled');
  await client.query('vacuum (analyze)');
  await client.query('checkpoint');
}

/**
 * Creates the destinations and endpoints that the events belong to.
 *
 * @param {Service} service
 * @param {string} targetUrl
 * @returns {Promise<Omit<Stored, 'ids'>>}
 */
async function createTargets({ call, destination }, targetUrl) {
  const destinations = [destination];
  for (let i = 1; i < DESTINATIONS; i += 1)
    destinations.push(
      (await call('POST', '/v1/destinations', { name: `lists ${i}`, type: 'https', url: `${targetUrl}${i}` })).id,
    );
  const applications = [];
  const endpoints = [];
  for (let i = 0; i < APPLICATIONS; i += 1) {
    applications.push((await call('POST', '/v1/app', { name: `customer ${i}`, uid: `customer-${i}` })).id);
    endpoints.push((await call('POST', `/v1/app/customer-${i}/endpoints`, { url: `${targetUrl}customer/${i}` })).id);
  }
  await call('POST', '/v1/app', { name: 'customer to whom nothing was sent', uid: 'customer-none' });
  const { id: received } = await call('POST', '/v1/endpoints', {
    slug: 'bench-lists',
    preset: 'gitlab',
    destinations: [destination],
  });
  return { destinations, applications, endpoints, received, routed: destination };
}

/** Returns IDs to filter the lists by. @param {pg.Client} client @returns {Promise<Record<string, string>>} */
async function someIds(client) {
  const { showId } = await import('../dist/src/kernel/ids.js');
  const one = async (/** @type {string} */ from) => (await client.query(`${from} offset 100 limit 1`)).rows[0].id;
  const [event, message, request] = [
    await one(
      `select id from events where event_type = 'bench.type.7' and direction = 'outbound' and message_id is null`,
    ),
    await one('select id from messages'),
    await one('select id from requests'),
  ];
  return { event: showId('evt', event), message: showId('msg', message), request: showId('req', request) };
}

/**
 * Returns each filter alone, and combinations of filters that match few or no events.
 *
 * @param {Stored} stored
 * @returns {[string, Record<string, string>][]}
 */
function filtersOf({
  destinations: [first = '', second = ''],
  endpoints: [largeEndpoint = '', otherEndpoint = ''],
  received,
  ids,
}) {
  const ago = (/** @type {number} */ days) => new Date(Date.now() - days * 86_400_000).toISOString();
  const none = 'bench.none';
  return [
    ['all', {}],
    ...['delivered', 'retrying', 'failed', 'dlq', 'quarantined', 'parked', 'ignored'].map(
      (status) => /** @type {[string, Record<string, string>]} */ ([status, { status }]),
    ),
    ['dlq or failed', { status: 'dlq,failed' }],
    ['not delivered', { status: 'retrying,failed,dlq' }],
    ['delivered or failed', { status: 'delivered,failed' }],
    ['went nowhere', { status: 'quarantined,parked,ignored' }],
    ['all but delivered', { status: 'retrying,failed,dlq,quarantined,parked,ignored' }],
    ['received', { direction: 'inbound' }],
    ['sent', { direction: 'outbound' }],
    ...['5xx', '4xx', 'timeout', 'tls', 'dns'].map(
      (error) => /** @type {[string, Record<string, string>]} */ ([`error ${error}`, { error }]),
    ),
    ['type', { event_type: 'bench.type.7' }],
    ['rare type', { event_type: 'bench.rare' }],
    ['no such type', { event_type: none }],
    ['destination', { destination: second }],
    ['destination with routed events', { destination: first }],
    ['no such destination', { destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' }],
    ['ad-hoc URL, never sent to', { destination: 'https://example.com/never' }],
    ['inbound endpoint', { endpoint: received }],
    ["customer's endpoint", { endpoint: otherEndpoint }],
    ["large customer's endpoint", { endpoint: largeEndpoint }],
    ['large customer', { application: 'customer-0' }],
    ['customer', { application: 'customer-3' }],
    ['customer to whom nothing was sent', { application: 'customer-none' }],
    ['event id', { q: ids.event ?? '' }],
    ['delivery id', { q: `${ids.event}.0` }],
    ['message id', { q: ids.message ?? '' }],
    ['request id', { q: ids.request ?? '' }],
    ['no such id', { q: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' }],
    ['message', { message_id: ids.message ?? '' }],
    ['last day', { since: ago(1) }],
    ['before ten days', { until: ago(10) }],
    ['a day, ten days ago', { since: ago(11), until: ago(10) }],
    ['before all', { until: ago(40) }],
    ['the 400 of the large customer', { application: 'customer-0', status: 'dlq' }],
    ['the 400 dlq or failed', { application: 'customer-0', status: 'dlq,failed' }],
    ['the 400 by 4xx', { application: 'customer-0', error: '4xx' }],
    ['the 40 by tls', { application: 'customer-0', error: 'tls' }],
    ['the 400 by dns: none', { application: 'customer-0', error: 'dns' }],
    ['the 400 at its endpoint', { endpoint: largeEndpoint, status: 'dlq' }],
    ["a customer's dlq: none", { application: 'customer-3', status: 'dlq' }],
    ["a customer's failed: none", { application: 'customer-3', status: 'failed' }],
    ["a customer's type: few", { application: 'customer-3', event_type: 'bench.type.7' }],
    ['large customer, no such type', { application: 'customer-0', event_type: none }],
    ['large customer, retrying', { application: 'customer-0', status: 'retrying' }],
    ['large customer, delivered', { application: 'customer-0', status: 'delivered' }],
    ['rare type, dlq: none', { event_type: 'bench.rare', status: 'dlq' }],
    ['type, dlq', { event_type: 'bench.type.7', status: 'dlq' }],
    ['type, dlq or failed', { event_type: 'bench.type.7', status: 'dlq,failed' }],
    ['type, timeout', { event_type: 'bench.type.7', error: 'timeout' }],
    ['type, received', { event_type: 'bench.type.7', direction: 'inbound' }],
    ['rare type, received: none', { event_type: 'bench.rare', direction: 'inbound' }],
    ['destination, dlq', { destination: second, status: 'dlq' }],
    ['destination, failed', { destination: second, status: 'failed' }],
    ['destination, type', { destination: second, event_type: 'bench.type.7' }],
    ['destination, rare type', { destination: second, event_type: 'bench.rare' }],
    ['destination, retrying', { destination: second, status: 'retrying' }],
    ['destination, 5xx', { destination: second, error: '5xx' }],
    ['destination, received: none', { destination: second, direction: 'inbound' }],
    ['routed destination, dlq', { destination: first, status: 'dlq' }],
    ['routed destination, received', { destination: first, direction: 'inbound' }],
    ['routed destination, delivered, type', { destination: first, status: 'delivered', event_type: 'bench.type.7' }],
    ['routed destination, retrying', { destination: first, status: 'retrying' }],
    ['routed destination, by endpoint', { destination: first, endpoint: received }],
    ['endpoint, parked', { endpoint: received, status: 'parked' }],
    ['endpoint, type', { endpoint: received, event_type: 'bench.type.7' }],
    ['endpoint, dlq', { endpoint: received, status: 'dlq' }],
    ['endpoint, retrying', { endpoint: received, status: 'retrying' }],
    ['received, failed: none', { direction: 'inbound', status: 'failed' }],
    ['received, dlq', { direction: 'inbound', status: 'dlq' }],
    ['received, delivered', { direction: 'inbound', status: 'delivered' }],
    ['sent, delivered', { direction: 'outbound', status: 'delivered' }],
    [
      'all filters at once: none',
      {
        status: 'dlq,failed',
        application: 'customer-0',
        event_type: 'bench.type.7',
        direction: 'outbound',
        error: 'timeout',
        since: ago(15),
        until: ago(1),
      },
    ],
  ];
}

/** @typedef {{ ms: number, body: any }} Asked */

/**
 * @param {Service} service
 * @param {string} method
 * @param {string} address
 * @param {object} [json]
 * @returns {Promise<Asked>}
 */
async function ask(service, method, address, json) {
  const startedAt = nowMs();
  const sent =
    json === undefined
      ? { headers: service.headers }
      : { headers: { ...service.headers, 'content-type': 'application/json' }, body: JSON.stringify(json) };
  const response = await fetch(`http://127.0.0.1:${service.ports[0]}${address}`, { method, ...sent });
  const text = await response.text();
  const ms = nowMs() - startedAt;
  if (!response.ok) throw new Error(`${method} ${address} answered ${response.status}: ${text}`);
  return { ms, body: JSON.parse(text) };
}

/**
 * Returns the duration of the first call, and the median duration of `times` further calls.
 *
 * @param {number} times
 * @param {() => Promise<Asked>} call
 */
async function several(times, call) {
  const { ms: firstMs, body } = await call();
  const all = [];
  for (let i = 0; i < times; i += 1) all.push((await call()).ms);
  return { firstMs, ms: median(all), body };
}

const formatMs = (/** @type {number} */ ms) => `${ms.toFixed(0)}${ms > BOUND_MS ? '*' : ''}`;
const addressOf = (/** @type {string} */ list, /** @type {Record<string, string>} */ query) =>
  `${list}?${new URLSearchParams(query)}`;

/**
 * @param {Service} service
 * @param {string} list
 * @param {string} name
 * @param {Record<string, string>} query
 * @param {number} times
 */
async function measureList(service, list, name, query, times) {
  const of = { ...query, limit: String(PAGE) };
  const first = await several(times, () => ask(service, 'GET', addressOf(list, of)));
  const cells = [name, formatMs(first.ms), formatMs(first.firstMs), String(first.body.data.length)];
  const cursor = first.body.next_cursor;
  const next =
    cursor === null ? null : await several(times, () => ask(service, 'GET', addressOf(list, { ...of, cursor })));
  cells.push(next === null ? '' : formatMs(next.ms));
  if (list === '/v1/events') {
    const count = await several(times, () => ask(service, 'GET', addressOf('/v1/events/count', query)));
    cells.push(formatMs(count.ms), `${count.body.count}${count.body.is_capped ? '+' : ''}`);
    const { status, ...rest } = query;
    const filter = { ...rest, ...(status !== undefined && { status: status.split(',') }) };
    const dryRun = await several(times, () =>
      ask(service, 'POST', '/v1/replays', { action: 'replay', filter, dry_run: true }),
    );
    cells.push(formatMs(dryRun.ms));
  }
  // Reads pages until they contain a full page of matches, or until all events are scanned.
  let [rows, pages, ms, at] = [first.body.data.length, 1, first.ms, cursor];
  let slowestMs = first.ms;
  while (rows < PAGE && at !== null && pages < PAGES_MAX) {
    const page = await ask(service, 'GET', addressOf(list, { ...of, cursor: at }));
    [rows, pages, ms, at] = [rows + page.body.data.length, pages + 1, ms + page.ms, page.body.next_cursor];
    slowestMs = Math.max(slowestMs, page.ms);
  }
  cells.push(
    `${rows} in ${pages}${at !== null && rows < PAGE ? ', and more' : ''}, ${ms.toFixed(0)} ms${slowestMs > BOUND_MS ? ` (one ${formatMs(slowestMs)})` : ''}`,
  );
  row(cells);
}

const WIDTHS = [38, 7, 8, 6, 7, 7, 8, 9];
const row = (/** @type {string[]} */ cells) =>
  process.stdout.write(
    `${cells.map((cell, i) => (i === 0 ? cell.padEnd(WIDTHS[0] ?? 0) : i === cells.length - 1 ? `  ${cell}` : cell.padStart(WIDTHS[i] ?? 0))).join('')}\n`,
  );

/** @param {Service} service @param {Stored} stored @param {{ times: number, only: RegExp }} options */
async function measureAll(service, stored, { times, only }) {
  row([
    'GET /v1/events, limit=100',
    'first',
    '(once)',
    'rows',
    'next',
    'count',
    '',
    'dry run',
    'until 100 or all seen: rows in pages',
  ]);
  for (const [name, query] of filtersOf(stored))
    if (only.test(name)) await measureList(service, '/v1/events', name, query, times);
  const [largeEndpoint] = stored.endpoints;
  /** @type {[string, Record<string, string>][]} */
  const others = [
    ...['', 'delivered', 'bounced', 'complained', 'dlq', 'failed', 'scheduled'].map(
      (status) => /** @type {[string, Record<string, string>]} */ (['/v1/emails', status === '' ? {} : { status }]),
    ),
    ['/v1/app/customer-0/messages', {}],
    ['/v1/app/customer-0/events', { status: 'dlq' }],
    ['/v1/app/customer-0/events', { endpoint: largeEndpoint ?? '', error: 'tls' }],
    [`/v1/endpoints/${stored.received}/requests`, {}],
    [`/v1/endpoints/${stored.received}/requests`, { status: 'parked' }],
    ['/v1/app', {}],
    ['/v1/destinations', {}],
  ];
  row(['other lists', 'first', '(once)', 'rows', 'next', '']);
  for (const [list, query] of others)
    if (only.test(list))
      await measureList(
        service,
        list,
        list.replace(/(ep_.{4})\w+/, '$1…').replace('/v1/', '') +
          Object.entries(query)
            .map(([name, value]) => ` ${name}=${value.slice(0, 10)}`)
            .join(''),
        query,
        times,
      );
}

/** @param {string} directory @param {{ events: number, times: number, only: RegExp }} options */
async function run(directory, options) {
  const database = await Database.start(directory);
  // Answers the request with which the service probes each new destination. No events are delivered.
  const target = http.createServer((_request, response) => response.writeHead(204).end()).listen(0, '127.0.0.1');
  await once(target, 'listening');
  const targetUrl = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (target.address()).port}/`;
  const service = await startPosthorn({ databaseUrl: database.server.url, targetUrl, directory, roles: ['all'] });
  const client = new pg.Client({ connectionString: database.server.url });
  try {
    await client.connect();
    await client.query('create table if not exists bench_lists (stored jsonb not null)');
    let {
      rows: [kept],
    } = await client.query('select stored from bench_lists');
    if (kept === undefined) {
      kept = { stored: await createTargets(service, targetUrl) };
      await fill(client, options.events, { ...kept.stored, ids: {} });
      await client.query('insert into bench_lists values ($1)', [kept.stored]);
    }
    const stored = { ...kept.stored, ids: await someIds(client) };
    const {
      rows: [{ count }],
    } = await client.query('select count(*) from events');
    process.stdout.write(
      `${count} events, ${os.cpus().length} cores, load ${os.loadavg()[0]?.toFixed(1)}, node ${process.version}, PostgreSQL ${database.settings.server_version}, ms, * over ${BOUND_MS}\n`,
    );
    await measureAll(service, stored, options);
  } finally {
    await client.end();
    await service.stop();
    await database.stop();
  }
}

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    times: { type: 'string', default: '7' },
    only: { type: 'string', default: '' },
    keep: { type: 'string' },
  },
});
const directory = values.keep ?? (await mkdtemp(path.join(os.tmpdir(), 'posthorn-bench-')));
// PostgreSQL refuses to run as root, so it is started as another user. That user needs access to the directory.
await chmod(directory, 0o755);
try {
  await run(directory, { events: Number(values.events), times: Number(values.times), only: new RegExp(values.only) });
} finally {
  await stopEverything();
  if (values.keep === undefined) await rm(directory, { recursive: true, force: true });
}
process.exit();
