/**
 * `node bench/console.mjs`: measures how fast the console's event pages load, update and scroll in a browser. Exceeding
 * a bound is not an error. See docs/console.md.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { chromium } from 'playwright-core';
import { Database } from './database.mjs';
import { median } from './measure.mjs';
import { startPosthorn } from './posthorn.mjs';
import { startHelper, stopEverything } from './processes.mjs';
import { DIGITS, MARK } from './protocol.mjs';
import { sleep } from './window.mjs';

const CHROMIUM = process.env.POSTHORN_TEST_CHROMIUM ?? '/usr/bin/chromium';
const STARTS = 5;
const KEY_EVERY_MS = 400;
const SENDING_CONNECTIONS = 64;
/** A burst of messages counts as fully shown after the page's counts have not changed for this time. */
const UNCHANGED_MS = 3_000;
const SETTLED_MS_MAX = 60_000;
const ROW_PX = 40;
const MIB = 1024 * 1024;

/** @typedef {{ name: string, measured: string, bound: string }} Figure */
/** @typedef {Awaited<ReturnType<typeof startPosthorn>>} Service */
/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('playwright-core').Browser} Browser */
/**
 * @typedef {{ browser: Browser, address: string, key: string, service: Service, countsPort: number, report: (figure:
 * Figure) => void }} Scene
 */

/** SQL expression for the ID of event number `n`. Events are six seconds apart. The newest event is six seconds old. */
const ID =
  "(lpad(to_hex((extract(epoch from now()) * 1000)::bigint - n * 6000), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 5, 15))::uuid";
const FILL = [
  `create temp table filled as select n, ${ID} as id, (now() - n * interval '6 seconds' + interval '30 days')::date as expires_on from generate_series(1, $1::int) n`,
  `insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, payload)
   select $1, id, expires_on, $2, 'outbound', 'bench.type.' || n % 40, 40, '{"n":' || n || '}' from filled`,
  `insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, status, attempts, replayed, superseded, settled_at)
   select $1, id, 0, expires_on, $2, case when n % 100 = 0 then 'dlq' else 'delivered' end, 1, false, false, now() from filled`,
  `insert into attempts (environment_id, event_id, ordinal, number, expires_on, started_at, duration_ms, status)
   select $1, id, 0, 1, expires_on, now() - n * interval '6 seconds', 5, case when n % 100 = 0 then 503 else 200 end from filled where $2::uuid is not null`,
];

/** @param {string} databaseUrl @param {number} count */
async function fill(databaseUrl, count) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query('select environment_id, id from destinations limit 1');
  for (const [i, text] of FILL.entries())
    await client.query(text, i === 0 ? [count] : [rows[0].environment_id, rows[0].id]);
  await client.query('vacuum (analyze)');
  await client.end();
}

/** Opens a signed-in browser context with an empty cache. @param {Scene} scene */
async function signIn({ browser, address, key }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(`${address}/signin?return_to=/console/live/keys`);
  await page.getByLabel('API key of your organization').fill(key);
  await page.getByRole('button', { name: 'Sign in with the key' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  const state = await context.storageState();
  await context.close();
  return browser.newContext({ viewport: { width: 1280, height: 900 }, storageState: state });
}

/**
 * Returns the milliseconds from the start of the navigation until the first event row is shown, measured inside the
 * page.
 *
 * @param {Page} page
 * @param {string} url
 */
async function firstRows(page, url) {
  await page.goto(url);
  const wait = await page.waitForFunction(
    () => (document.querySelector('[data-id]') === null ? 0 : performance.now()),
    undefined,
    { polling: 'raf' },
  );
  return /** @type {number} */ (await wait.jsonValue());
}

/**
 * Times of the steps of a page load up to the first event row, in ms from the start of the navigation.
 *
 * @typedef {Record<'page' | 'files' | 'session' | 'asked' | 'answered' | 'rows', number>} Way
 */

/** @param {Page} page @param {string} url @returns {Promise<Way>} */
async function wayToRows(page, url) {
  const rows = await firstRows(page, url);
  return page.evaluate((rows) => {
    const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType('navigation'));
    const resources = /** @type {PerformanceResourceTiming[]} */ (performance.getEntriesByType('resource')).filter(
      ({ startTime }) => startTime < rows,
    );
    const files = resources.filter(({ name }) => name.endsWith('.js')).map(({ responseEnd }) => responseEnd);
    const session = resources.find(({ name }) => name.endsWith('/v1/session'));
    const list = resources.find(({ name }) => /\/v1\/events\?/.test(name));
    return {
      page: navigation?.responseEnd ?? 0,
      files: Math.max(...files),
      session: session?.responseEnd ?? 0,
      asked: list?.startTime ?? 0,
      answered: list?.responseEnd ?? 0,
      rows,
    };
  }, rows);
}

/**
 * Measures the time until the first event row at three visits: with an empty cache, with cached files, and with cached
 * compiled code.
 *
 * @param {Scene} scene
 */
async function measureStarts(scene) {
  const url = `${scene.address}/console/live/events`;
  /** @type {Way[][]} */
  const visits = [[], [], []];
  for (let round = 0; round < STARTS; round += 1) {
    const context = await signIn(scene);
    const page = await context.newPage();
    for (const ways of visits) {
      ways.push(await wayToRows(page, url));
      await page.goto('about:blank');
    }
    await context.close();
  }
  for (const [i, name] of ['first rows, empty cache', 'first rows, warm cache', 'first rows, third visit'].entries()) {
    const ways = visits[i] ?? [];
    const middle = (/** @type {keyof Way} */ part) => median(ways.map((way) => way[part])).toFixed(0);
    const all = ways.map(({ rows }) => rows);
    scene.report({
      name,
      measured: `${middle('rows')} ms (${Math.min(...all).toFixed(0)} to ${Math.max(...all).toFixed(0)})`,
      bound: i === 0 ? '1,500 ms' : '500 ms',
    });
    scene.report({
      name: '  page, files, session; list requested, answered',
      measured: `${['page', 'files', 'session', 'asked', 'answered'].map((part) => middle(/** @type {keyof Way} */ (part))).join(', ')} ms`,
      bound: '',
    });
  }
}

/** Returns the page's heap size after a garbage collection and its number of DOM nodes. @param {Page} page */
async function sizeOf(page) {
  const session = await page.context().newCDPSession(page);
  for (let i = 0; i < 3; i += 1) await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  const nodes = await page.evaluate(() => {
    const walker = document.createTreeWalker(document, NodeFilter.SHOW_ALL);
    let count = 0;
    while (walker.nextNode()) count += 1;
    return count;
  });
  return { heapMiB: usedSize / MIB, nodes };
}

/** @param {Scene} scene @param {number} wanted */
async function measureScrolling(scene, wanted) {
  const context = await signIn(scene);
  const page = await context.newPage();
  await firstRows(page, `${scene.address}/console/live/events`);
  const before = await sizeOf(page);
  const startedAt = performance.now();
  for (let rows = 0; rows < wanted;) {
    rows = await page.evaluate(async (rowPx) => {
      const box = document.querySelector('.table-box');
      if (box === null) return Infinity;
      box.scrollTop = box.scrollHeight;
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20)));
      return Math.round((document.querySelector('.table-rows')?.clientHeight ?? 0) / rowPx);
    }, ROW_PX);
    if (performance.now() - startedAt > 20 * 60_000) throw new Error(`Only ${rows} rows after twenty minutes.`);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const { heapMiB, nodes } = await sizeOf(page);
  scene.report({
    name: `heap after ${wanted} rows`,
    measured: `${heapMiB.toFixed(1)} MiB (${before.heapMiB.toFixed(1)} before, ${seconds.toFixed(0)} s of scrolling)`,
    bound: '60 MiB',
  });
  scene.report({ name: 'DOM nodes', measured: String(nodes), bound: '1,500' });
  await context.close();
}

/** Makes the page record the latency of key presses and the duration of long tasks. @param {Page} page */
async function watch(page) {
  await page.addInitScript(() => {
    const seen = { keys: /** @type {number[]} */ ([]), tasks: /** @type {number[]} */ ([]) };
    Object.assign(globalThis, { seen });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (entry.name === 'keydown') seen.keys.push(entry.duration);
    }).observe({ type: 'event', durationThreshold: 16, buffered: true });
    new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
      type: 'longtask',
      buffered: true,
    });
  });
}

/** @param {Page} page @returns {Promise<{ keys: number[], tasks: number[] }>} */
const seenOf = (page) => page.evaluate(() => /** @type {any} */ (globalThis).seen);

/** @param {Scene} scene @param {number} perSecond @param {number} seconds */
async function measureBurst(scene, perSecond, seconds) {
  const context = await signIn(scene);
  const page = await context.newPage();
  await watch(page);
  await page.goto(`${scene.address}/console/live/events?event_type=bench.live`);
  await page.getByText('No events match these filters.').waitFor();
  await sleep(2_000);
  const startedAt = performance.now();
  let pressed = 0;
  const pressing = (async () => {
    while (performance.now() - startedAt < seconds * 1000) {
      await page.keyboard.press(pressed++ % 2 === 0 ? 'j' : 'k');
      await sleep(KEY_EVERY_MS);
    }
  })();
  const sent = await sendAtRate(scene, perSecond, seconds);
  const sentInSeconds = (performance.now() - startedAt) / 1000;
  await pressing;
  const { figures, afterMs } = await settled(page, sent.accepted, startedAt);
  const { keys, tasks } = await seenOf(page);
  // After a burst, the list may have dropped older rows. Only scrolling loads them again, so the rows are then counted
  // while scrolling.
  const isGoingOn = figures.shown < sent.accepted && figures.waiting === 0 && figures.missed === 0 && !figures.hasGap;
  const there = isGoingOn ? await seenOnTheWay(page) : { shown: figures.shown, twice: figures.twice };
  const figure = (/** @type {string} */ name, /** @type {string} */ measured, bound = '') =>
    scene.report({ name, measured, bound });
  const refused = Object.entries(sent.refusals)
    .map(([status, count]) => `, ${count} answered ${status}`)
    .join('');
  figure(
    `accepted in ${sentInSeconds.toFixed(1)} s`,
    `${sent.accepted} of ${perSecond * seconds}, ${(sent.accepted / sentInSeconds).toFixed(0)} a second${refused}`,
    `${perSecond} a second`,
  );
  figure('counts unchanged from', `${(afterMs / 1000).toFixed(1)} s on`);
  figure(
    'shown, waiting behind the button, reported as not shown',
    `${there.shown} + ${figures.waiting} + ${figures.missed}${figures.hasGap ? ', and a notice that rows are missing' : ''}${isGoingOn ? ` (${figures.shown} at once, the rest while scrolling)` : ''}`,
    `${sent.accepted} together, or a notice`,
  );
  figure('shown twice', String(there.twice), '0');
  // The browser reports only key presses longer than one frame. All other key presses count as 16 ms.
  const slowest = keys.toSorted((a, b) => b - a);
  const within = (/** @type {number} */ share) => `${(slowest[Math.floor(pressed * (1 - share))] ?? 16).toFixed(0)} ms`;
  figure(
    'slowest response to a key',
    `${Math.max(0, ...keys).toFixed(0)} ms (${within(0.5)} for half of ${pressed}, ${within(0.95)} for 95 %)`,
    '100 ms',
  );
  figure('longest task', `${Math.max(0, ...tasks).toFixed(0)} ms (${tasks.length} over 50 ms)`);
  await context.close();
}

/**
 * Sends messages at a fixed rate from a separate process, because this process drives the browser.
 *
 * @param {Scene} scene @param {number} perSecond @param {number} seconds
 */
async function sendAtRate({ service, countsPort }, perSecond, seconds) {
  const body = JSON.stringify({
    destination: service.destination,
    event_type: 'bench.live',
    payload: { number: MARK + '0'.repeat(DIGITS) },
  });
  const request = { path: '/v1/send', headers: service.headers, body, hasKey: false };
  const load = startHelper('load.mjs');
  await load.ask({
    kind: 'start',
    ports: service.ports,
    connections: SENDING_CONNECTIONS,
    countsPort,
    first: 0,
    accepts: 202,
    copies: 1,
    request,
    perSecond,
  });
  await sleep(seconds * 1000);
  const { sentAt, accepted, refusals } = await load.ask({ kind: 'stop' });
  load.child.kill();
  return { sent: sentAt.length, accepted, refusals };
}

/**
 * Returns the page's counts once they no longer change, and the time of the last change.
 *
 * @param {Page} page
 * @param {number} accepted
 * @param {number} startedAt
 */
async function settled(page, accepted, startedAt) {
  const deadline = performance.now() + SETTLED_MS_MAX;
  let figures = await figuresOf(page);
  let changedAt = performance.now();
  while (
    figures.shown + figures.waiting + figures.missed < accepted &&
    performance.now() - changedAt < UNCHANGED_MS &&
    performance.now() < deadline
  ) {
    await sleep(250);
    const now = await figuresOf(page);
    if (JSON.stringify(now) !== JSON.stringify(figures)) changedAt = performance.now();
    figures = now;
  }
  return { figures, afterMs: changedAt - startedAt };
}

/**
 * Scrolls through the whole list. Returns the number of distinct events and of duplicate rows.
 *
 * @param {Page} page
 */
async function seenOnTheWay(page) {
  return page.evaluate(
    async ({ rowPx, unchangedMs }) => {
      const box = /** @type {HTMLElement} */ (document.querySelector('.table-box'));
      const places = /** @type {Map<string, string>} */ (new Map());
      const again = new Set();
      box.scrollTop = 0;
      let movedAt = performance.now();
      for (let before = ''; performance.now() - movedAt < unchangedMs;) {
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
        for (const row of box.querySelectorAll('[data-id]')) {
          const [id, place] = [row.getAttribute('data-id') ?? '', row.getAttribute('aria-rowindex') ?? ''];
          if ((places.get(id) ?? place) !== place) again.add(place);
          else places.set(id, place);
        }
        const now = `${box.scrollTop} ${box.scrollHeight}`;
        if (now !== before) movedAt = performance.now();
        before = now;
        // Scrolls by less than one viewport, and only after the rows are drawn, so that no row is skipped.
        const isDrawn =
          box.querySelector(`[data-id][aria-rowindex="${Math.floor(box.scrollTop / rowPx) + 4}"]`) !== null;
        if (isDrawn) box.scrollTop += Math.max(rowPx, box.clientHeight - 6 * rowPx);
      }
      return { shown: places.size, twice: again.size };
    },
    { rowPx: ROW_PX, unchangedMs: UNCHANGED_MS },
  );
}

/**
 * Returns three numbers of rows: shown in the list, held until a click on the button for new events, and reported as
 * missing.
 *
 * @param {Page} page
 */
async function figuresOf(page) {
  return page.evaluate((rowPx) => {
    const number = (/** @type {RegExp} */ pattern) =>
      Number(pattern.exec(document.querySelector('.news')?.textContent ?? '')?.[1]?.replaceAll(',', '') ?? 0);
    const ids = [...document.querySelectorAll('[data-id]')].map((row) => row.getAttribute('data-id'));
    return {
      shown: Math.round((document.querySelector('.table-rows')?.clientHeight ?? 0) / rowPx),
      waiting: number(/^([\d,]+) new/),
      missed: number(/(?<!new )([\d,]+)\+? not shown/),
      hasGap: /Some changes are not shown/.test(document.querySelector('.news')?.textContent ?? ''),
      twice: ids.length - new Set(ids).size,
    };
  }, ROW_PX);
}

const LARGE = JSON.stringify({
  lines: Array.from({ length: 14_000 }, (_, i) => ({ key: `value ${i}`, price: 1.5, text: 'in a megabyte of lines' })),
});
/** @type {Record<string, string>} */
const PAYLOADS = {
  'a megabyte of JSON': LARGE,
  'a megabyte in one text': JSON.stringify({ text: 'ä<'.repeat(330_000) }),
  '5,000 levels': `{"deep":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
  'numbers and keys': '{"n":12345678901234567890,"price":1.10,"twice":1,"twice":2}',
};

/** @param {Scene} scene */
async function measurePayloads(scene) {
  const context = await signIn(scene);
  for (const [name, payload] of Object.entries(PAYLOADS)) {
    const answer = await fetch(`${scene.address}/v1/send`, {
      method: 'POST',
      headers: { ...scene.service.headers, 'content-type': 'application/json' },
      body: `{"destination":"${scene.service.destination}","event_type":"bench.payload","payload":${payload}}`,
    });
    if (answer.status !== 202) throw new Error(`${name}: ${answer.status} ${await answer.text()}`);
    const { message_id: message } = await answer.json();
    const page = await context.newPage();
    await watch(page);
    await page.goto(`${scene.address}/console/live/events/${message}`);
    await page.getByRole('heading', { name: 'Payload', exact: true }).waitFor();
    // Discards the long tasks recorded during the page load, because the page load is measured separately.
    await page.evaluate(() => /** @type {any} */ (globalThis).seen.tasks.splice(0));
    if (payload.length > 256 * 1024) await page.getByRole('button', { name: 'Load', exact: true }).click();
    await page.getByRole('button', { name: 'Download' }).waitFor();
    await page.getByText('Formatting…').waitFor({ state: 'detached' });
    await page.getByRole('searchbox').pressSequentially('xt');
    if (payload.length > 20_000 && name !== '5,000 levels') await page.getByRole('button', { name: 'As sent' }).click();
    await page
      .getByRole('group', { name: 'Payload', exact: true })
      .evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await page.getByRole('button', { name: 'Copy', exact: true }).last().click();
    await sleep(1_000);
    const { tasks } = await seenOf(page);
    scene.report({
      name: `longest task, ${name}`,
      measured: `${Math.max(0, ...tasks).toFixed(0)} ms`,
      bound: '200 ms',
    });
    await page.close();
  }
  await context.close();
}

/** @param {string} directory @param {{ events: number, rate: number, seconds: number, only: string[] }} options */
async function run(directory, { events, rate, seconds, only }) {
  const database = await Database.start(directory);
  const receiver = startHelper('receiver.mjs');
  const { port, countsPort } = await receiver.ask({ kind: 'ports' });
  const { url } = await database.create();
  const service = await startPosthorn({
    databaseUrl: url,
    targetUrl: `http://127.0.0.1:${port}/mute`,
    directory,
    roles: ['all'],
  });
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  try {
    await fill(url, events + 1_000);
    const scene = {
      browser,
      service,
      countsPort,
      address: `http://127.0.0.1:${service.ports[0]}`,
      key: String(service.headers.authorization).replace('Bearer ', ''),
      report: (/** @type {Figure} */ { name, measured, bound }) =>
        process.stdout.write(`${name.padEnd(64)} ${measured}${bound === '' ? '' : `   [${bound}]`}\n`),
    };
    process.stdout.write(
      `${os.cpus().length} cores, load ${os.loadavg()[0]?.toFixed(1)}, node ${process.version}, Chromium ${browser.version()}\n`,
    );
    if (only.includes('starts')) await measureStarts(scene);
    if (only.includes('payloads')) await measurePayloads(scene);
    if (only.includes('burst')) await measureBurst(scene, rate, seconds);
    if (only.includes('scrolling')) await measureScrolling(scene, events);
  } finally {
    await browser.close();
    await service.stop();
    await database.stop();
  }
}

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '100000' },
    rate: { type: 'string', default: '500' },
    seconds: { type: 'string', default: '60' },
    only: { type: 'string', default: 'starts,payloads,burst,scrolling' },
  },
});
const directory = await mkdtemp(path.join(os.tmpdir(), 'posthorn-bench-'));
// PostgreSQL refuses to run as root, so it is started as another user. That user needs access to the directory.
await chmod(directory, 0o755);
try {
  await run(directory, {
    events: Number(values.events),
    rate: Number(values.rate),
    seconds: Number(values.seconds),
    only: values.only.split(','),
  });
} finally {
  await stopEverything();
  await rm(directory, { recursive: true, force: true });
}
process.exit();
