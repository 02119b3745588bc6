import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { freePort } from '../durability/processes.js';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { ConsolePage } from '../support/console-page.js';
import { PrefixProxy } from '../support/prefix-proxy.js';
import { type PosthornServer, startServer } from '../support/server.js';

const PREFIX = '/hooks';
const ASSETS = path.resolve(import.meta.dirname, '../../dist/console/assets');
/** Every screen with a list: its address and its heading. */
const LISTS = [
  ['overview', 'Overview'],
  ['events', 'Events'],
  ['destinations', 'Destinations'],
  ['endpoints', 'Inbound endpoints'],
  ['applications', 'Applications'],
  ['event-types', 'Event types'],
  ['emails', 'Emails'],
  ['inbox', 'Inbox'],
  ['suppressions', 'Suppressions'],
  ['domains', 'Domains'],
  ['pull', 'Pull consumers'],
  ['jobs', 'Jobs'],
  ['secrets', 'Secrets'],
  ['keys', 'API keys'],
  ['members', 'Members'],
  ['sessions', 'Sessions'],
  ['audit', 'Audit log'],
  ['organization', 'Organization'],
] as const;
const HINT = 'Ignored parameters in this link:';

(isChromiumInstalled() ? describe : describe.skip)('links into the console, and a service that restarts', () => {
  let proxy: PrefixProxy;
  let server: PosthornServer;
  let browser: Browser;
  let page: Page;
  let shown: ConsolePage;

  beforeAll(async () => {
    proxy = await PrefixProxy.start(PREFIX);
    const port = await freePort();
    const base = `http://localhost:${proxy.port}${PREFIX}`;
    [server, browser] = await Promise.all([
      startServer({ BASE_URL: base, PORT: String(port), RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' }),
      startBrowser(),
    ]);
    proxy.target = `http://127.0.0.1:${port}`;
    await open('console-links', 'events?status=bogus&since=2026-13-45');
  }, 180_000);

  /** Opens a screen in a browser that has no file of the console cached. */
  async function open(suite: string, place: string): Promise<void> {
    shown = await ConsolePage.open(
      browser,
      { url: `http://localhost:${proxy.port}${PREFIX}`, apiKey: server.apiKey },
      suite,
      place,
    );
    page = shown.page;
    page.setDefaultTimeout(60_000);
  }

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await proxy?.close();
  });

  beforeEach(() => {
    proxy.comeBack();
    proxy.instead = () => null;
  });

  const heading = (name: string): Promise<void> => page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
  const hint = (): Promise<string> => page.getByRole('status').filter({ hasText: HINT }).innerText();
  const file = (name: string): string =>
    readdirSync(ASSETS).find((each) => each.startsWith(`${name}-`) && each.endsWith('.js')) ?? '';

  it('a link keeps all its parameters through the sign-in, and the hint can be closed', async () => {
    await heading('Events');

    expect(await hint()).toMatch(/status=bogus.*since=2026-13-45/);
    expect(await shown.violations('01-hint')).toEqual([]);
    await page.getByRole('button', { name: 'Dismiss' }).click();
    expect(await page.getByText(HINT).count()).toBe(0);
    expect(shown.wrongs()).toEqual([]);
  });

  it.each([
    ['since=2026-13-45'],
    ['status=bogus'],
    ['utm_source=x'],
    ['until=2026-02-31'],
    ['since=-271821-04-20'],
    ['status=dlq%2Cbogus', 'status=bogus'],
    ['columns=none'],
    ['since=%7B%22a%22%3A1%7D', 'since={"a":1}'],
  ])('the list of events with %s', async (query, said = query) => {
    await shown.open(`events?${query}`);
    await heading('Events');
    await page
      .getByText(/No events match these filters|\/v1\/send/)
      .first()
      .waitFor();

    expect(await hint()).toContain(said);
    expect(shown.wrongs()).toEqual([]);
  });

  it.each(LISTS)('%s, with parameters that no screen reads', async (place, name) => {
    await shown.open(
      `${place}?since=2026-13-45&status=bogus&utm_source=x&range=5y&state=bogus&origin=bogus&circuit=bogus`,
    );
    await heading(name);

    expect(await hint()).toMatch(/since=2026-13-45.*status=bogus.*utm_source=x/);
    expect(new URL(page.url()).search).toBe('');
    expect(shown.wrongs()).toEqual([]);
  });

  it('a link without unknown parameters shows no hint, and neither does the next screen', async () => {
    await shown.open('events?status=dlq,failed&since=-1h');
    await heading('Events');
    expect(await page.getByText(HINT).count()).toBe(0);
    expect(new URL(page.url()).searchParams.get('since')).toBe('-1h');
    await shown.open('events?utm_source=x');
    await page.getByText(HINT).waitFor();
    await shown.navigate('Jobs');
    await heading('Jobs');

    expect(await page.getByText(HINT).count()).toBe(0);
    expect(shown.wrongs()).toEqual([]);
  });

  it('the navigation shrinks to icons, also after a reload, and opens with a button on phones', async () => {
    await open('console-navigation', 'events');
    await heading('Events');
    const screens = page.getByRole('navigation', { name: 'Main' });
    const widthOf = async (): Promise<number> => (await screens.boundingBox())?.width ?? 0;
    const full = await widthOf();
    await page.getByRole('button', { name: 'Collapse navigation' }).click();
    await page.reload();
    await heading('Events');
    const collapsed = await widthOf();
    expect(await shown.violations('01-collapsed')).toEqual([]);
    await shown.navigate('Jobs');
    await heading('Jobs');

    const phone = { width: 375, height: 812 };
    await page.setViewportSize(phone);
    const button = page.getByRole('button', { name: 'Navigation' });
    expect(await screens.isVisible()).toBe(false);
    await button.click();
    expect(await shown.violations('02-phone')).toEqual([]);
    await page.setViewportSize(phone);
    await page.keyboard.press('Escape');
    await screens.waitFor({ state: 'hidden' });
    await button.click();
    await shown.navigate('Secrets');
    await heading('Secrets');
    await screens.waitFor({ state: 'hidden' });

    expect([full, collapsed].map(Math.round)).toEqual([216, 56]);
    expect(shown.wrongs()).toEqual([]);
  });

  it('a click while the service restarts keeps the page, which shows the screen once the service is back', async () => {
    await open('console-away', 'events');
    await heading('Events');
    await page.evaluate(() => Object.assign(globalThis, { isSame: true }));
    proxy.goDown();
    await shown.navigate('Secrets');
    await heading('This page could not be loaded');
    expect(await shown.violations('02-away')).toEqual([]);
    expect(await page.getByRole('navigation', { name: 'Main' }).isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Try again' }).click();
    await heading('This page could not be loaded');
    proxy.comeBack();
    await heading('Secrets');

    expect(await page.evaluate(() => 'isSame' in globalThis)).toBe(true);
    // Browsers log every request without an answer, and the router logs the screen that could not be loaded.
    expect(shown.wrongs().filter((line) => !/net::ERR_|could not be loaded/.test(line))).toEqual([]);
  }, 180_000);

  it('a file that is permanently missing: the page reloads once, then offers to try again', async () => {
    const missing = file('MembersScreen');
    let reloads = 0;
    await open('console-gone', 'events');
    await heading('Events');
    proxy.instead = (at) => {
      if (at.startsWith(`${PREFIX}/console/live/`)) reloads += 1;
      return at.includes(missing) ? { status: 404 } : null;
    };
    await shown.navigate('Members');
    await page.getByText('The files of this page failed to load.').waitFor();
    expect(await shown.violations('03-gone')).toEqual([]);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('The files of this page failed to load.').waitFor();

    expect(reloads).toBe(1);
    proxy.instead = () => null;
    await page.getByRole('button', { name: 'Reload' }).click();
    await heading('Members');
    shown.wrongs();
  }, 180_000);

  it('after an upgrade with other file names, a click opens the screen of the new version', async () => {
    await open('console-upgraded', 'events');
    await heading('Events');
    await page.evaluate(() => Object.assign(globalThis, { isOld: true }));
    const [missing, next] = [file('DomainsScreen'), '<script type="module" src="./assets/index-NEXT.js"></script>'];
    let isAsked = false;
    proxy.instead = (at) => {
      if (at.includes(missing) && !isAsked) return { status: 404 };
      if (at !== `${PREFIX}/console/` || isAsked) return null;
      isAsked = true;
      return { status: 200, headers: { 'content-type': 'text/html' }, body: next };
    };
    await shown.navigate('Domains');
    await heading('Domains');

    expect(await page.evaluate(() => 'isOld' in globalThis)).toBe(false);
    shown.wrongs();
  }, 180_000);
});
