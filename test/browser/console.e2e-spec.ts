import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { editorOf, screensOf } from '../support/console-chunks.js';
import { ConsolePage, HOSTILE, WAIT_MS_MAX } from '../support/console-page.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PosthornServer, startServer } from '../support/server.js';

const OUTPUT = path.resolve(import.meta.dirname, '..', '..', 'dist', 'console');
const WITH_PLOTS = ['OverviewScreen', 'DestinationScreen'];
const FIRST_LOAD_BYTES_MAX = 250_000;
const EDITOR_BYTES_MAX = 160_000;

/** JSON with numbers, escapes and keys that parsing would change. */
const EXACT = '{"n":12345678901234567890,"price":1.10,"letter":"\\u0041","twice":1,"twice":2,"e":1E400}';

(isChromiumInstalled() ? describe : describe.skip)('the console in a browser', () => {
  let server: PosthornServer;
  let browser: Browser;
  let receiver: Receiver;
  let page: Page;
  let shown: ConsolePage;

  beforeAll(async () => {
    [server, browser, receiver] = await Promise.all([
      startServer(),
      startBrowser(),
      startReceiver((request) =>
        request.path.includes('broken') ? { status: 500, body: `broken ${HOSTILE[0] ?? ''}` } : { body: 'thanks' },
      ),
    ]);
    shown = await ConsolePage.open(browser, server, 'console', 'events?status=dlq');
    page = shown.page;
    await page.getByRole('heading', { name: 'Events' }).waitFor();
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await receiver?.close();
  });

  afterEach(() => {
    expect(shown.wrongs()).toEqual([]);
  });

  const violations = (name: string): Promise<string[]> => shown.violations(name);

  async function destination(name: string, place: string): Promise<string> {
    return (await server.api('POST', '/v1/destinations', { name, type: 'https', url: `${receiver.url}/${place}` })).json
      .id as string;
  }

  async function send(body: object): Promise<string> {
    return (await server.api('POST', '/v1/send', body)).json.message_id as string;
  }

  const navigate = (name: string): Promise<void> => shown.navigate(name);
  const open = (place: string): Promise<void> => shown.open(place);

  it('after the sign-in the requested page opens, and an empty environment shows the first steps', async () => {
    expect(page.url()).toBe(`${server.url}/console/live/events?status=dlq`);
    await page.getByText('No events match these filters.').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('/v1/send').waitFor();

    expect(await page.getByRole('button', { name: 'Live', pressed: true }).count()).toBe(1);
    expect(await violations('01-empty')).toEqual([]);
  });

  it('a destination: created with a URL check, tested, its secret shown and hidden again, rotated, disabled and enabled', async () => {
    await navigate('Destinations');
    await page.getByText('No destinations yet').waitFor();
    await page.getByRole('button', { name: 'New destination' }).click();
    await page.getByLabel('Name').fill(`Orders ${HOSTILE[0] ?? ''}`);
    await page.getByLabel('URL').fill(`${receiver.url}/orders`);
    await page.getByText('Reachable.').waitFor();
    expect(await violations('02-new-destination')).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Orders' }).waitFor();

    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByText('HTTP 200').waitFor();
    await page.getByRole('button', { name: 'Show' }).click();
    const secret = await page.locator('code.secret').innerText();
    expect(secret).toMatch(/^whsec_/);
    await page.evaluate(() => window.dispatchEvent(new Event('blur')));
    await page.getByRole('button', { name: 'Show' }).waitFor();
    expect(await page.content()).not.toContain(secret);

    await page.getByRole('button', { name: 'Rotate' }).click();
    await page
      .getByRole('dialog')
      .getByLabel(/^Type/)
      .fill(`Orders ${HOSTILE[0] ?? ''}`);
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await page.locator('code.secret').waitFor();
    expect(await page.locator('code.secret').innerText()).not.toBe(secret);
    await page.getByRole('button', { name: 'Hide' }).click();
    for (const act of ['Disable', 'Enable']) {
      await page.getByRole('button', { name: act, exact: true }).click();
      await page.getByRole('button', { name: act === 'Disable' ? 'Enable' : 'Disable', exact: true }).waitFor();
      await page.getByText(`Orders ${HOSTILE[0] ?? ''} ${act.toLowerCase()}d`).waitFor();
    }
    expect(await violations('03-destination')).toEqual([]);
    await navigate('Destinations');
    await page.getByRole('link', { name: 'Orders' }).waitFor();
    expect(await violations('04-destinations')).toEqual([]);
  });

  it('events: filtered by the address, rows are links, updates are live, and new events wait while the user reads', async () => {
    const good = await destination('Good', 'good');
    for (let i = 0; i < 3; i += 1) await send({ destination: good, event_type: 'invoice.paid', payload: { i } });
    await open('events?event_type=invoice.paid&since=-1h');
    await page.getByRole('link', { name: 'invoice.paid' }).nth(2).waitFor();

    expect(await page.getByLabel('Event type').inputValue()).toBe('invoice.paid');
    expect(await page.getByLabel('Time').inputValue()).toBe('-1h');
    await send({ destination: good, event_type: 'invoice.paid', payload: { i: 3 } });
    await page.getByRole('link', { name: 'invoice.paid' }).nth(3).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await send({ destination: good, event_type: 'invoice.paid', payload: { i: 4 } });
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await page.getByRole('link', { name: 'invoice.paid' }).count()).toBe(4);
    await page.getByRole('button', { name: '1 new' }).click();
    await page.getByRole('link', { name: 'invoice.paid' }).nth(4).waitFor();
    await page.getByText('Delivered').nth(4).waitFor();
    expect(await violations('05-events')).toEqual([]);
  });

  it('one event with the keyboard alone: j, Enter, j, Escape, and the focus returns to the opened row', async () => {
    await page.keyboard.press('j');
    await page.locator('[data-id] a:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Payload' }).waitFor();
    const first = page.url();
    await page.keyboard.press('j');
    await page.waitForFunction((before) => location.href !== before, first);
    const second = page.url().split('/').at(-1) ?? '';
    await page.getByText('"i": 3').waitFor();
    await page.keyboard.press('Escape');
    await page.locator(`[data-id="${second}"] a:focus`).waitFor();

    expect(page.url()).toContain('event_type=invoice.paid');
  });

  it('a failed event shows its reason, is shown as text whatever it contains, and is replayed', async () => {
    const broken = await destination('Broken', 'broken');
    const message = await send({
      destination: broken,
      event_type: 'hostile.payload',
      headers: { 'x-tenant': HOSTILE[0] },
      payload: Object.fromEntries(HOSTILE.map((text, i) => [text, HOSTILE[(i + 1) % HOSTILE.length]])),
    });
    await open(`events/${message}`);
    await page.getByText('HTTP 500').first().waitFor();
    await page.getByText('Retry scheduled.').waitFor();

    for (const text of HOSTILE)
      expect(await page.locator('pre.payload').innerText()).toContain(JSON.stringify(text).slice(1, -1));
    expect(await page.locator('main :is(img, svg:not(.copy-icon > .icon)), script:not([src])').count()).toBe(0);
    expect(await violations('06-event')).toEqual([]);
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('dialog').getByText('Live').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
    await page.getByText('replay', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Cancel pending' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel pending' }).click();
    await page.getByText('canceled', { exact: true }).first().waitFor();
  });

  it('a payload is shown, copied and downloaded with its original characters', async () => {
    const response = await fetch(`${server.url}/v1/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
      body: `{"destination":"${receiver.url}/exact","event_type":"exact","payload":${EXACT}}`,
    });
    const { message_id: message } = (await response.json()) as { message_id: string };
    await open(`events/${message}`);
    await page.locator('pre.payload').waitFor();

    expect((await page.locator('pre.payload').innerText()).replaceAll(/\s/g, '')).toBe(EXACT);
    await page.getByRole('button', { name: 'As sent' }).click();
    expect(await page.locator('pre.payload').innerText()).toBe(EXACT);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(readFileSync(await download.path(), 'utf8')).toBe(EXACT);
    // Simulates plain http on an intranet, where browsers have no clipboard API.
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true }));
    await page.locator('section[aria-labelledby=payload]').getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await page.evaluate(
      (text) =>
        Object.assign(document.body.appendChild(document.createElement('textarea')), { id: 'paste', value: text }),
      '',
    );
    await page.locator('#paste').focus();
    await page.keyboard.press('Control+v');
    expect(await page.locator('#paste').inputValue()).toBe(EXACT);
    await page.evaluate(() => document.getElementById('paste')?.remove());
  });

  it('several events are selected with shift and replayed at once', async () => {
    await open('events?event_type=invoice.paid');
    await page.getByRole('checkbox').nth(0).click();
    await page
      .getByRole('checkbox')
      .nth(2)
      .click({ modifiers: ['Shift'] });
    await page.getByText('3 selected').waitFor();
    expect(await violations('07-selection')).toEqual([]);
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('dialog').getByText('Replay 3 events').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
    await page.getByText('3 selected').waitFor({ state: 'detached' });
  });

  it('the command menu opens an id, a screen and a destination by its name', async () => {
    const id = (await page.locator('[data-id]').first().getAttribute('data-id')) ?? '';
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search by ID' }).fill(id);
    expect(await violations('08-menu')).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/live/events/${id}`);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search by ID' }).fill('broken');
    await page.getByRole('option', { name: 'Broken' }).click();
    await page.getByRole('heading', { name: 'Broken' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
  });

  it('a key: created, shown once, rotated, revoked', async () => {
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('Billing');
    await page.getByLabel('Scope').selectOption('read');
    await page.getByRole('button', { name: 'Create' }).click();
    const made = await page.locator('code.secret').innerText();
    expect(made).toMatch(/^ek_live_/);
    expect((await server.api('GET', '/v1/events', undefined, { authorization: `Bearer ${made}` })).status).toBe(200);
    await page.getByRole('button', { name: 'Close' }).click();
    expect(await page.content()).not.toContain(made);
    expect(await violations('09-keys')).toEqual([]);
    await page.getByRole('button', { name: 'Actions for Billing' }).click();
    await page.getByRole('menuitem', { name: 'Rotate' }).click();
    await page.getByLabel('Grace period').selectOption('0');
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    const next = await page.locator('code.secret').innerText();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Actions for Billing' }).first().click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByLabel(/^Type/).fill('Billing');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    for (const gone of [made, next])
      expect((await server.api('GET', '/v1/events', undefined, { authorization: `Bearer ${gone}` })).status).toBe(401);
  });

  it("German and dark by choice, with times in the user's time zone and in UTC", async () => {
    await navigate('Events');
    const time = page.locator('time').first();
    const [iso = '', told, read, exact] = [
      (await time.getAttribute('datetime')) ?? '',
      await time.innerText(),
      await time.getAttribute('aria-label'),
      await time.getAttribute('title'),
    ];
    const local = new Intl.DateTimeFormat('en-GB', {
      dateStyle: 'medium',
      timeStyle: 'medium',
      timeZone: 'Europe/Berlin',
    }).format(new Date(iso));
    expect(told).toMatch(/ ago$|^now$/);
    expect(exact).toBe(`${local} · ${iso.replace('T', ' ').replace('Z', '')} UTC`);
    expect(read?.endsWith(`, ${local}`)).toBe(true);
    await page.locator('details.account > summary').click();
    await page.getByLabel('Appearance').selectOption('dark');
    await page.getByLabel('Language').selectOption('de');
    await page.getByRole('columnheader', { name: 'Event-Typ' }).waitFor();
    expect(
      await page.evaluate(() => [document.documentElement.lang, getComputedStyle(document.body).backgroundColor]),
    ).toEqual(['de', 'rgb(20, 23, 27)']);
    await shown.screenshot('10-german');
    expect(await page.evaluate(() => Object.values(localStorage).join(' '))).not.toMatch(/ek_|whsec_|session/);
    await page.locator('details.account > summary').click();
    await page.getByLabel('Sprache').selectOption('en');
    await page.getByRole('columnheader', { name: 'Event type' }).waitFor();
  });

  it('a user with the role read sees no button that the API would refuse, and signs out', async () => {
    const { key } = (await server.api('POST', '/v1/keys', { name: 'Reader', scope: 'read' })).json as { key: string };
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-GB' });
    const reader = await context.newPage();
    reader.setDefaultTimeout(WAIT_MS_MAX);
    await reader.goto(`${server.url}/signin?return_to=/console`);
    await reader.getByLabel('API key of your organization').fill(key);
    await reader.getByRole('button', { name: 'Sign in with the key' }).click();
    await reader.getByRole('link', { name: 'Events', exact: true }).click();
    await reader.getByRole('link', { name: 'invoice.paid' }).first().click();
    await reader.getByText('Read-only access.').waitFor();

    expect(await reader.getByRole('button', { name: 'Replay' }).count()).toBe(0);
    expect(await reader.getByRole('link', { name: 'API keys' }).count()).toBe(0);
    await reader.locator('details.account > summary').click();
    await reader.getByRole('button', { name: 'Sign out' }).click();
    await reader.getByLabel('API key of your organization').waitFor();
    expect((await context.cookies()).filter(({ name }) => name.includes('session'))).toEqual([]);
    await context.close();
  });

  it("a tenant's script does not run on Posthorn's origin", async () => {
    const slug = 'tenant-script';
    await server.api('POST', '/v1/endpoints', {
      slug,
      response: { type: 'static', status: 200, content_type: 'text/javascript', body: 'globalThis.ran = true' },
    });
    await page
      .evaluate(
        (address) => document.head.append(Object.assign(document.createElement('script'), { src: address })),
        `${server.url}/in/x/${slug}`,
      )
      .catch(() => undefined);

    expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false);
    expect(shown.wrongs().join(' ')).toMatch(/Trusted|TrustedScriptURL|script-src/);
  });

  it(`the first load of any screen, with all that it can load later except the code editor, is at most ${FIRST_LOAD_BYTES_MAX} bytes of script as gzip, and only screens with charts load the chart library`, () => {
    const screens = screensOf(OUTPUT);

    expect(screens.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['EventsScreen', 'EventScreen', 'OverviewScreen']),
    );
    for (const { name, bytes, chunks } of screens) {
      expect({ name, isSmall: bytes > 50_000 && bytes < FIRST_LOAD_BYTES_MAX }).toEqual({ name, isSmall: true });
      expect({ name, hasPlots: chunks.some((chunk) => chunk.includes('PlotCanvas')) }).toEqual({
        name,
        hasPlots: WITH_PLOTS.includes(name),
      });
    }
  });

  it(`the code editor is at most ${EDITOR_BYTES_MAX} bytes of script as gzip`, () => {
    expect(editorOf(OUTPUT)).toBeLessThan(EDITOR_BYTES_MAX);
  });
});
