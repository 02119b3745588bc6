import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Browser, Download, Page, Request } from 'playwright-core';
import { until } from '../api/polling.js';
import { openSql, type Sql } from '../api/scene.js';
import { freePort } from '../durability/processes.js';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { ConsolePage, HOSTILE } from '../support/console-page.js';
import { PrefixProxy } from '../support/prefix-proxy.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PosthornServer, startServer } from '../support/server.js';

/** A host name as in an intranet. Over plain http, browsers offer no clipboard, no randomUUID and no locks. */
const HOST = 'posthorn.intranet';
const PREFIX = '/hooks';

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
/** Text that replaces the headers of an attempt that succeeded. */
const KEPT = 'Headers are stored for failed attempts only.';

(isChromiumInstalled() ? describe : describe.skip)('events in the console, over plain http below a path', () => {
  let proxy: PrefixProxy;
  let server: PosthornServer;
  let browser: Browser;
  let receiver: Receiver;
  let page: Page;
  let shown: ConsolePage;
  let base: string;
  let sql: Sql;
  let good: string;
  let broken: string;

  beforeAll(async () => {
    proxy = await PrefixProxy.start(PREFIX);
    const port = await freePort();
    base = `http://${HOST}:${proxy.port}${PREFIX}`;
    [server, browser, receiver] = await Promise.all([
      startServer({ BASE_URL: base, PORT: String(port), RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' }),
      startBrowser([`--host-resolver-rules=MAP ${HOST} 127.0.0.1`]),
      startReceiver((request) =>
        request.path.includes('broken') ? { status: 503, body: `broken ${HOSTILE.join('\n')}` } : { body: 'thanks' },
      ),
    ]);
    proxy.target = `http://127.0.0.1:${port}`;
    sql = openSql(server);
    [good, broken] = await Promise.all([
      destination('Good orders', 'good'),
      destination(`Broken ${HOSTILE[1] ?? ''}`, 'broken', {
        retry: { max_attempts: 3, schedule: [0, 86_400, 86_400] },
      }),
    ]);
    shown = await ConsolePage.open(browser, { url: base, apiKey: server.apiKey }, 'console-events', 'events');
    page = shown.page;
    await page.getByRole('heading', { name: 'Events', exact: true }).waitFor();
  });

  afterAll(async () => {
    await browser?.close();
    await sql?.close();
    await server?.stop();
    await Promise.all([receiver?.close(), proxy?.close()]);
  });

  afterEach(() => {
    proxy.comeBack();
    proxy.instead = () => null;
    expect(shown.wrongs()).toEqual([]);
  });

  /** Calls the API directly, because only the browser resolves the host name of the intranet. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each test asserts the fields that it reads
  async function api(method: string, path: string, body: unknown): Promise<any> {
    const response = await fetch(proxy.target + path, {
      method,
      headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return response.json();
  }

  async function destination(name: string, place: string, more: object = {}): Promise<string> {
    return (await api('POST', '/v1/destinations', { name, type: 'https', url: `${receiver.url}/${place}`, ...more }))
      .id as string;
  }

  async function send(body: object): Promise<string> {
    return (await api('POST', '/v1/send', body)).message_id as string;
  }

  /** Sends a payload without changing its characters, and returns the message's id. */
  async function sendRaw(eventType: string, payload: string): Promise<string> {
    return (await api('POST', '/v1/send', `{"destination":"${good}","event_type":"${eventType}","payload":${payload}}`))
      .message_id as string;
  }

  async function saved(button: string): Promise<{ download: Download; text: string; bytes: Buffer }> {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: button, exact: true }).last().click(),
    ]);
    const bytes = readFileSync(await download.path());
    return { download, bytes, text: bytes.toString() };
  }

  const types = (name: string) => page.getByRole('link', { name, exact: true });
  const violations = (name: string): Promise<string[]> => shown.violations(name);

  it('filters by several states, direction, error, id and destination name: all filters are in the address, and rows show their progress', async () => {
    await Promise.all([
      send({ destination: good, event_type: 'invoice.paid', payload: {} }),
      send({ destination: broken, event_type: 'invoice.failed', payload: {} }),
    ]);
    await page.getByText('HTTP 503').first().waitFor();
    await page.locator('.filters .field', { hasText: 'Status' }).locator('summary').click();
    for (const state of ['Retrying', 'Dead-lettered']) await page.getByRole('checkbox', { name: state }).check();
    await page.keyboard.press('Escape');
    await types('invoice.paid').waitFor({ state: 'detached' });
    await types('invoice.failed').waitFor();
    await page.getByLabel('Error', { exact: true }).selectOption('5xx');
    await page.getByLabel('Direction').selectOption('outbound');
    await page.getByLabel('Time').selectOption('-1h');
    await page.getByRole('combobox', { name: 'Destination' }).click();
    await page.getByRole('combobox', { name: 'Destination' }).fill('brok');
    await page.getByRole('option', { name: 'Broken' }).click();
    await page.waitForURL((url) => url.searchParams.get('destination') === broken);

    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      status: 'retrying,dlq',
      error: '5xx',
      direction: 'outbound',
      since: '-1h',
      destination: broken,
    });
    const row = page.locator('[data-id]', { hasText: 'invoice.failed' });
    await row.getByText('HTTP 503').waitFor();
    expect(await row.getByRole('cell').nth(4).innerText()).toBe('1');
    expect(await row.getByRole('cell').nth(6).innerText()).toMatch(/\d/);
    await page.locator('.count', { hasText: '1' }).waitFor();
    await page.reload();
    await row.getByText('HTTP 503').waitFor();
    expect(await violations('01-filters')).toEqual([]);
    const id = (await row.getAttribute('data-id')) ?? '';
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('ID or type').fill(id);
    await page.keyboard.press('Enter');
    await types('invoice.paid').waitFor({ state: 'detached' });
    await page.waitForURL((url) => url.searchParams.get('q') === id);
  });

  it('columns are chosen, and a named view stores them with the filters', async () => {
    await shown.open('events?status=retrying,dlq&since=-1h');
    await types('invoice.failed').waitFor();
    await page.locator('.heading summary', { hasText: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'ID', exact: true }).check();
    await page.getByRole('checkbox', { name: 'Target' }).uncheck();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('columnheader').allInnerTexts()).toEqual([
      'Select',
      'Status',
      'Event type',
      'Attempts',
      'Last response',
      'Next attempt',
      'Received',
      'ID',
    ]);
    await page.locator('.heading summary', { hasText: 'Saved views' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(`Broken ${HOSTILE[0] ?? ''}`);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    expect(await violations('02-views')).toEqual([]);
    await shown.open('events');
    await types('invoice.paid').waitFor();
    await page.locator('.heading summary', { hasText: 'Saved views' }).click();
    await page.getByRole('link', { name: 'Broken' }).click();
    await types('invoice.paid').waitFor({ state: 'detached' });

    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      status: 'retrying,dlq',
      since: '-1h',
      columns: 'status,type,attempts,answer,next,received,id',
    });
    await page.getByRole('columnheader', { name: 'ID', exact: true }).waitFor();
  });

  it('selected events, or all that match, are exported as JSON lines, and as CSV without formulas', async () => {
    await sql.rows(
      "update events set event_type = '=HYPERLINK(\"http://evil.example\")' where event_type = 'invoice.paid'",
    );
    await shown.open('events');
    await page
      .getByRole('checkbox', { name: /^Select evt_/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Select all 2 matching events' }).click();
    await page.getByText('All 2 matching events selected').waitFor();
    expect(await violations('03-all')).toEqual([]);
    await page.locator('.selection').getByRole('button', { name: 'Export' }).click();
    await page.getByText('2 events, without payloads.').waitFor();
    const lines = (await saved('Export')).text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event_type: string; attempt_count: number });
    expect(lines.map(({ event_type, attempt_count }) => [event_type, attempt_count]).sort()).toEqual([
      ['=HYPERLINK("http://evil.example")', 1],
      ['invoice.failed', 1],
    ]);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.locator('.selection').getByRole('button', { name: 'Clear' }).click();
    await page.locator('.heading').getByRole('button', { name: 'Export' }).click();
    await page.getByRole('dialog').getByRole('combobox').selectOption('csv');
    const { text, download } = await saved('Export');
    expect(text).toContain('"\'=HYPERLINK(""http://evil.example"")"');
    expect([text.trim().split('\r\n').length, download.suggestedFilename()]).toEqual([3, 'events-live.csv']);
  });

  it('all matching events are replayed and cancelled by a job, after their number is shown', async () => {
    await Promise.all(Array.from({ length: 3 }, () => send({ destination: broken, event_type: 'bulk', payload: {} })));
    await shown.open('events?event_type=bulk');
    await types('bulk').nth(2).waitFor();
    await page.getByText('HTTP 503').nth(2).waitFor();
    for (const [act, sentence, action] of [
      ['Replay', 'Replay all 3 matching events in Live', 'replay'],
      ['Cancel pending', 'Cancel pending deliveries of 3 events in Live', 'cancel'],
    ] as const) {
      await page
        .getByRole('checkbox', { name: /^Select evt_/ })
        .first()
        .click();
      await page.getByRole('button', { name: 'Select all 3 matching events' }).click();
      await page.locator('.selection').getByRole('button', { name: act, exact: true }).click();
      await page.getByRole('dialog').getByText(sentence).waitFor();
      if (act === 'Replay') expect(await violations('03-bulk')).toEqual([]);
      await page.getByRole('dialog').getByRole('button', { name: act }).click();
      const link = page.getByRole('dialog').getByRole('link', { name: 'View job' });
      const id = /\/live\/jobs\/(rpj_\w+)$/.exec((await link.getAttribute('href')) ?? '')?.[1];
      expect(
        await until(
          () => api('GET', `/v1/replays/${id}`, undefined),
          ({ state }) => state === 'completed',
        ),
      ).toMatchObject({ kind: 'events', action, scanned: 3 });
      await page.getByRole('button', { name: 'Close' }).click();
      await page.locator('.selection').waitFor({ state: 'detached' });
    }
    await page.locator('.status', { hasText: 'Failed' }).nth(2).waitFor();
    await page
      .getByRole('checkbox', { name: /^Select evt_/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Select all 3 matching events' }).click();
    await page.locator('.selection').getByRole('button', { name: 'Cancel pending' }).click();
    await page.getByText('No matching event is in a state that allows this action.').waitFor();
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Cancel pending' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Close' }).click();
  });

  it('an event shows why and until when it waits and its step of the schedule, and is copied as a command', async () => {
    await shown.open('events?status=retrying');
    await types('invoice.failed').click();
    await page.locator('.why', { hasText: 'Next attempt' }).waitFor();
    await page.getByText('Attempt 1 of').waitFor();

    expect(await page.locator('.schedule-steps li[aria-current=step]').innerText()).toMatch(/Attempt 2.*up to/s);
    await page.locator('.attempt').getByText('Details', { exact: true }).click();
    expect(await page.getByRole('group', { name: 'Response', exact: true }).innerText()).toContain(
      'broken <img src=x onerror=alert(1)>',
    );
    await page.getByRole('group', { name: 'Response headers' }).waitFor();
    expect(await page.getByRole('group', { name: 'Sent request' }).innerText()).toMatch(
      /^POST http:\/\/127\.0\.0\.1:\d+\/broken\n[^]*webhook-signature: v1,/,
    );
    expect(await violations('04-event')).toEqual([]);
    expect(await page.getByText(KEPT).count()).toBe(0);
    await page.getByRole('button', { name: 'Copy as curl', exact: true }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await pasted()).toMatch(
      /^curl -X POST 'http:\/\/127\.0\.0\.1:\d+\/broken'[^]*webhook-signature: v1,SIGNATURE/,
    );
    await page.getByRole('button', { name: 'Copied' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Copy as signed curl' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await pasted()).toMatch(
      /^curl -X POST 'http:\/\/127\.0\.0\.1:\d+\/broken'[^]*webhook-timestamp: \d{10}'[^]*webhook-signature: v1,[\w+/]{43}=/,
    );
  });

  /** Pastes the content of the clipboard and returns it, because the page may have no clipboard API. */
  async function pasted(): Promise<string> {
    await page.evaluate(() =>
      Object.assign(document.body.appendChild(document.createElement('div')), {
        id: 'paste',
        contentEditable: 'plaintext-only',
        onpaste: (event: ClipboardEvent) =>
          Object.assign(globalThis, { pasted: event.clipboardData?.getData('text/plain') }),
      }),
    );
    await page.locator('#paste').focus();
    await page.keyboard.press('Control+v');
    const text = await page.evaluate(() => (globalThis as unknown as { pasted: string }).pasted);
    await page.evaluate(() => document.getElementById('paste')?.remove());
    return text;
  }

  const DEEP = `{"deep":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
  const LARGE = JSON.stringify({
    lines: Array.from({ length: 18_000 }, (_, i) => ({
      key: `value ${i}`,
      price: 1.5,
      text: i === 17_000 ? 'needle in it' : 'hay',
    })),
  });
  it.each([
    [
      'numbers, escapes and keys',
      '{"n":12345678901234567890,"price":1.10,"letter":"\\u0041","twice":1,"twice":2,"e":1E400,"line":"a\\r\\nb"}',
    ],
    ['five thousand levels', DEEP],
    ['a megabyte', LARGE],
  ])('%s are shown, copied and downloaded as they were sent', async (name, payload) => {
    const message = await sendRaw('exact', payload);
    await shown.open(`events/${message}`);
    await page.getByRole('heading', { name: 'Payload', exact: true }).waitFor();
    if (payload.length > 256_000) await page.getByRole('button', { name: 'Load', exact: true }).click();
    await page.getByRole('button', { name: 'Download' }).waitFor();
    const { bytes } = await saved('Download');
    expect(sha256(bytes)).toBe(sha256(payload));
    await page.locator('section[aria-labelledby=payload]').getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(sha256(await pasted())).toBe(sha256(payload));
    await page.getByText(KEPT).waitFor();
    if (payload.length < 1_000)
      expect((await page.locator('pre.payload').innerText()).replaceAll(/\s/g, '')).toBe(payload);
    if (name === 'a megabyte') {
      await page.getByRole('button', { name: 'Formatted', pressed: true }).waitFor();
      await page.getByRole('searchbox').fill('NEEDLE IN');
      await page.locator('mark.current', { hasText: 'needle in' }).waitFor();
      expect(await violations('05-megabyte')).toEqual([]);
    }
  });

  it('binary bytes are shown as bytes, copied as base 64 and downloaded unchanged, and a received body is compared with the result of its transform', async () => {
    const bytes = Buffer.from([0, 255, 0xc3, 0x28, ...Array.from({ length: 5_000 }, (_, i) => i % 256)]);
    const endpoint = await api('POST', '/v1/endpoints', { slug: 'bytes', destinations: [good] });
    await fetch(`${proxy.target}${new URL(endpoint.url as string).pathname.replace(PREFIX, '')}`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: bytes,
    });
    await shown.open('events?direction=inbound');
    await page.locator('[data-id] a').first().click();
    await page.getByText('Not UTF-8 text.').waitFor();

    expect(await page.locator('.text-row').first().innerText()).toBe(
      `000000  00 ff c3 28 00 01 02 03 04 05 06 07 08 09 0a 0b  ...(............`,
    );
    expect(await page.locator('.text-row').count()).toBeLessThan(100);
    expect(sha256((await saved('Download')).bytes)).toBe(sha256(bytes));
    await page.getByRole('button', { name: 'Copy as base64' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await pasted()).toBe(bytes.toString('base64'));
  });

  it('two payloads are compared line by line', async () => {
    const one = await sendRaw('compared', '{"amount":1.10,"same":true}');
    const other = await sendRaw('compared', '{"amount":1.1,"same":true}');
    await shown.open(`events/${other}`);
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByLabel('Event ID').fill(one);
    await page.locator('.compare').getByRole('button', { name: 'Compare' }).click();
    await page.locator('.compare .added').waitFor();

    expect([
      await page.locator('.compare .removed').innerText(),
      await page.locator('.compare .added').innerText(),
    ]).toEqual(['-   "amount": 1.10,', '+   "amount": 1.1,']);
    expect(await violations('06-compare')).toEqual([]);
  });

  it('sixty hostile texts in types, headers, payloads and responses are shown as text', async () => {
    const message = await send({
      destination: broken,
      event_type: 'hostile',
      headers: Object.fromEntries(
        HOSTILE.flatMap((text, i) => (/^[\x20-\x7e]+$/.test(text) ? [[`x-hostile-${i}`, text]] : [])),
      ),
      payload: { texts: HOSTILE },
    });
    await shown.open(`events/${message}`);
    await page.locator('pre.payload').waitFor();
    await page.getByText('HTTP 503', { exact: true }).waitFor();
    await page.getByText('Headers', { exact: true }).click();
    const [payload, whole] = [await page.locator('pre.payload').innerText(), await page.locator('main').innerText()];
    for (const text of HOSTILE) expect(payload).toContain(JSON.stringify(text));
    for (const text of HOSTILE.slice(0, 15)) expect(whole).toContain(text);
    await Promise.all(HOSTILE.map((_, i) => send({ destination: good, event_type: `hostile.${i}`, payload: {} })));
    await sql.rows(
      "update events e set event_type = h.hostile from unnest($1::text[]) with ordinality h(hostile, n) where e.event_type = 'hostile.' || (h.n - 1)",
      [HOSTILE],
    );
    await shown.open('events?columns=type,id');
    await page.waitForFunction(() => document.querySelectorAll('[data-id]').length > 15);
    const seen = new Set<string>();
    for (let step = 0; step < 12; step += 1) {
      for (const text of await page.locator('[data-id] a').allTextContents()) seen.add(text);
      await page.locator('.table-box').evaluate((box) => box.scrollBy(0, 400));
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    }
    expect(HOSTILE.filter((text) => !seen.has(text))).toEqual([]);
    expect(
      await page
        .locator('main')
        .locator(
          'img, script, svg:not(:is(.density, .copy-icon) > .icon), iframe, object, embed, video, audio, form[action], base, meta, link',
        )
        .count(),
    ).toBe(0);
    expect(await violations('07-hostile')).toEqual([]);
  });

  it('five hundred events that arrive at once are each shown once, and wait and are counted while the user reads', async () => {
    await shown.open('events?event_type=burst');
    await page.getByText('No events match these filters.').waitFor();
    await Promise.all(Array.from({ length: 500 }, () => send({ destination: good, event_type: 'burst', payload: {} })));
    await page.waitForFunction(() => document.querySelector('[role=table]')?.getAttribute('aria-rowcount') === '501');
    await page.getByRole('button', { name: 'Pause' }).click();
    await Promise.all(Array.from({ length: 50 }, () => send({ destination: good, event_type: 'burst', payload: {} })));
    await page.getByRole('button', { name: '50 new' }).click();
    await page.waitForFunction(() => document.querySelector('[role=table]')?.getAttribute('aria-rowcount') === '551');
    const rows = await page.locator('[data-id]').evaluateAll((all) => all.map((row) => row.getAttribute('data-id')));

    expect(new Set(rows).size).toBe(rows.length);
    expect(await page.getByText('not shown').count()).toBe(0);
  });

  it('requests the session and the first rows while its other files still load, each only once', async () => {
    await send({ destination: good, event_type: 'early', payload: {} });
    const asked: string[] = [];
    const list = page.waitForRequest(/\/v1\/events\?/);
    const note = (request: Request): void => void asked.push(request.url().slice(base.length));
    page.on('request', note);
    const stream = page.waitForRequest(/\/v1\/events\/stream/);
    await page.route(/\/assets\/console-[^/]*\.js$/, async (route) => {
      await list;
      await route.continue();
    });
    await shown.open('events?status=dlq,delivered,retrying&event_type=early');
    await types('early').waitFor();
    await stream;
    page.off('request', note);
    await page.unroute(/\/assets\/console-[^/]*\.js$/);

    const before = asked.slice(
      0,
      asked.findIndex((url) => url.startsWith('/v1/events/stream')),
    );
    expect(before.filter((url) => url === '/v1/session')).toHaveLength(1);
    expect(before.filter((url) => url.startsWith('/v1/events?'))).toEqual([
      '/v1/events?status=delivered&status=retrying&status=dlq&event_type=early&limit=100',
    ]);
  });

  it('a long search for rare events shows how far it has come, and stops when the user asks for it', async () => {
    const empty = { data: [], next_cursor: 'x', searched_to: '2026-11-01T08:00:00.000Z' };
    proxy.instead = (path) =>
      path.startsWith(`${PREFIX}/v1/events?`) && !path.includes('since=')
        ? { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(empty) }
        : null;
    await shown.open('events?event_type=rare&columns=type');
    await page.getByText('Searched back to').waitFor();
    await page.getByRole('link', { name: 'Stop searching' }).click();
    await page.getByText('No events match these filters.').waitFor();

    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      event_type: 'rare',
      columns: 'type',
      since: '2026-11-01T08:00:00.000Z',
    });
  });

  it('while the service is down, the page keeps its content, shows since when it is down, and recovers by itself', async () => {
    await shown.open('events?event_type=compared');
    await types('compared').first().waitFor();
    proxy.goDown();
    await page.getByText('The service is not responding. Last updated').waitFor();
    expect(await types('compared').count()).toBe(2);
    await shown.screenshot('08-away');
    await send({ destination: good, event_type: 'compared', payload: {} });
    proxy.comeBack();
    await page.getByText('The service is not responding.').waitFor({ state: 'detached' });
    await types('compared').nth(2).waitFor();
    // Browsers log every request without an answer as an error.
    expect(shown.wrongs().filter((line) => !/net::ERR_/.test(line))).toEqual([]);
  });

  it('429: waits as long as the service requests, and shows it', async () => {
    let refused = 0;
    proxy.instead = (path) =>
      path.startsWith(`${PREFIX}/v1/events?`) && refused++ < 1
        ? {
            status: 429,
            headers: { 'retry-after': '1', 'content-type': 'application/json' },
            body: '{"error":{"type":"rate_limited","message":"Too many requests.","request_id":"req_x","details":{}}}',
          }
        : null;
    await send({ destination: good, event_type: 'waited', payload: {} });
    await shown.open('events?event_type=waited&since=-6h');
    await page.getByText('Resuming in 1 s').waitFor();
    await types('waited').first().waitFor();

    expect(refused).toBeGreaterThanOrEqual(2);
    expect(shown.wrongs().filter((line) => !line.includes('429'))).toEqual([]);
  });

  it('after a deployment that replaced the files, shows a notice, and the next click loads the new page', async () => {
    await shown.open('events');
    await page.locator('[data-id]').first().waitFor();
    proxy.goDown();
    await page.getByText('The service is not responding.').waitFor();
    // Simulates an update: the page now refers to other files, and the earlier files are gone.
    proxy.instead = (path) =>
      path === `${PREFIX}/console/`
        ? {
            status: 200,
            headers: { 'content-type': 'text/html' },
            body: '<script type="module" src="./assets/index-NEXT.js"></script>',
          }
        : null;
    proxy.comeBack();
    await page.getByText('A new version of the console is available.').waitFor();
    expect(await violations('09-replaced')).toEqual([]);
    proxy.instead = () => null;
    await page.evaluate(() => Object.assign(globalThis, { isOld: true }));
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Destinations' }).click();
    await page.getByRole('heading', { name: 'Destinations' }).waitFor();

    expect(await page.evaluate(() => 'isOld' in globalThis)).toBe(false);
    expect(shown.wrongs().filter((line) => !/net::ERR_/.test(line))).toEqual([]);
  });

  it("with a clock that is ten minutes off, a range uses the service's time", async () => {
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/v1/events?')) asked.push(request.url());
    });
    await page.addInitScript(() => {
      const now = Date.now;
      Date.now = () => now() - 600_000;
    });
    await send({ destination: good, event_type: 'late', payload: {} });
    await shown.open('events?since=-15m&event_type=late');
    await types('late').first().waitFor();

    const since = Date.parse(new URL(asked.at(-1) ?? '').searchParams.get('since') ?? '');
    expect(Math.abs(Date.now() - 15 * 60_000 - since)).toBeLessThan(60_000);
  });
});
