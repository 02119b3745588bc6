import type { Browser, Locator, Page } from 'playwright-core';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { ConsolePage, violationsOf } from '../support/console-page.js';
import { type PosthornServer, startServer } from '../support/server.js';

/** Name of 128 characters with right-to-left text, emoji and markup. */
const LONG = `Ωμέγα שלום مرحبا 🐎 <b>${'long '.repeat(40)}`.slice(0, 128).trim();

(isChromiumInstalled() ? describe : describe.skip)('lists, toasts and API calls in the console', () => {
  let server: PosthornServer;
  let browser: Browser;
  let page: Page;
  let shown: ConsolePage;
  let dialog: Locator;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer(), startBrowser()]);
    shown = await ConsolePage.open(browser, server, 'console-lists', 'secrets');
    page = shown.page;
    dialog = page.getByRole('dialog');
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  afterEach(() => {
    expect(shown.wrongs()).toEqual([]);
  });

  const toast = (text: string): Locator => page.getByRole('region', { name: 'Notifications' }).getByText(text);

  it('an empty list explains itself, has one primary action and links to its section of the API reference', async () => {
    for (const [place, title, action, section] of [
      ['secrets', 'No secrets yet', 'New secret', 'Secrets'],
      ['members', 'No members yet', 'Add member', 'Members'],
      ['applications', 'No applications yet', 'New application', 'Applications'],
      ['event-types', 'No event types yet', 'New event type', 'Event%20types'],
      ['domains', 'No domains yet', 'New domain', 'Domains'],
      ['jobs', 'No jobs yet', 'Go to events', 'Replay'],
    ] as const) {
      await shown.open(place);
      const empty = page.getByRole('region', { name: title });
      await empty.getByRole('button', { name: action }).waitFor();

      expect(await page.locator('main button.primary').count()).toBe(1);
      expect(await page.locator('main button.danger').count()).toBe(0);
      expect(await empty.getByRole('link', { name: 'API reference' }).getAttribute('href')).toBe(
        `${server.url}/docs#/${section}`,
      );
      expect(await shown.violations(`01-empty-${place}`)).toEqual([]);
    }
  });

  it('a list that could not be loaded says why, and is loaded again with a button', async () => {
    const message = 'The service is in maintenance.';
    await page.route('**/v1/secrets?*', (route) =>
      route.fulfill({
        status: 500,
        contentType: 'application/json',
        body: JSON.stringify({ error: { type: 'internal', message, request_id: 'req_1', details: {} } }),
      }),
    );
    await shown.open('secrets');
    const fault = page.getByRole('alert').filter({ hasText: message });
    await fault.getByRole('button', { name: 'Try again' }).waitFor();
    expect(await shown.violations('02-failed')).toEqual([]);
    await page.unroute('**/v1/secrets?*');
    await fault.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('region', { name: 'No secrets yet' }).waitFor();

    expect(await fault.count()).toBe(0);
    expect(shown.wrongs().every((line) => line.includes('status of 500'))).toBe(true);
  });

  it('a list that is loading shows rows of the same height as the list, and their text to screen readers only', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/v1/keys?*', async (route) => {
      await held;
      await route.continue();
    });
    await shown.open('keys');
    const loading = page.getByRole('status').filter({ hasText: 'Loading…' });
    await loading.waitFor();
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const animations = await page.evaluate(() => document.getAnimations().length);
    expect(await shown.violations('02-loading')).toEqual([]);
    await page.emulateMedia({ reducedMotion: null });
    release();
    await page.getByRole('table', { name: 'API keys' }).waitFor();
    await page.unroute('**/v1/keys?*');

    expect(animations).toBe(0);
    expect(await loading.count()).toBe(0);
  });

  it('a row has one line, shows the full text on hover, and opens its actions with the keyboard', async () => {
    for (let i = 0; i < 40; i += 1)
      await server.api('POST', '/v1/keys', { name: i === 39 ? LONG : `Key ${i}`, scope: 'read' });
    await page.reload();
    const row = page.getByRole('row').filter({ hasText: LONG });
    await row.waitFor();
    const heights = await page.locator('tbody tr').evaluateAll((rows) => rows.map(({ clientHeight }) => clientHeight));
    expect(Math.max(...heights) - Math.min(...heights)).toBeLessThanOrEqual(1);
    expect(await row.locator('[title]').first().getAttribute('title')).toBe(LONG);
    expect(await row.locator('bdi').first().innerText()).toBe(LONG);
    expect(await page.locator('time').first().getAttribute('title')).toMatch(/UTC$/);

    const menu = row.getByRole('button', { name: `Actions for ${LONG}` });
    await menu.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Rotate' }).waitFor();
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Revoke');
    expect(await violationsOf(page)).toEqual([]);
    await shown.screenshot('03-menu');
    await page.keyboard.press('Escape');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(`Actions for ${LONG}`);
    await page.keyboard.press('Enter');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await dialog.getByLabel(/^Type/).fill(LONG);
    expect(await dialog.locator('button.danger').innerText()).toBe('Revoke');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await toast('Key revoked').waitFor();
    // A message stays visible while it has the focus.
    await page.getByRole('button', { name: 'Dismiss' }).focus();
    expect(await shown.violations('04-toast')).toEqual([]);
    await page.keyboard.press('Enter');
    await toast('Key revoked').waitFor({ state: 'detached' });
    await row.getByText('Revoked').waitFor();
    expect(await row.getByRole('button').count()).toBe(0);
  });

  it('the header stays visible, the table is as wide as the window, and compact rows are remembered', async () => {
    await page.setViewportSize({ width: 1920, height: 900 });
    const table = page.getByRole('table', { name: 'API keys' });
    const heightOf = async (): Promise<number> => (await page.locator('tbody tr').first().boundingBox())?.height ?? 0;
    const [wide, comfortable] = [await table.boundingBox(), await heightOf()];
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    const header = await page.getByRole('columnheader', { name: 'Name' }).boundingBox();
    await shown.screenshot('05-sticky-1920');
    await page.getByRole('button', { name: 'Compact rows' }).click();
    const compact = await heightOf();
    await page.reload();
    await table.waitFor();

    expect(wide?.width).toBeGreaterThan(1_600);
    expect(header?.y).toBeGreaterThanOrEqual(0);
    expect(header?.y).toBeLessThan(40);
    expect(compact).toBeLessThan(comfortable - 6);
    expect(Math.abs((await heightOf()) - compact)).toBeLessThanOrEqual(1);
    expect(await page.getByRole('button', { name: 'Compact rows' }).getAttribute('aria-pressed')).toBe('true');
    await page.getByRole('button', { name: 'Compact rows' }).click();
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  it('on a phone each row is a card that names its values, and is still a table for screen readers', async () => {
    await page.setViewportSize({ width: 375, height: 812 });
    const cell = page.getByRole('row').filter({ hasText: 'Key 3' }).first().getByRole('cell').nth(2);
    const label = await cell.evaluate((element) => getComputedStyle(element, '::before').content);
    await page.setViewportSize({ width: 1280, height: 900 });

    expect(label).toBe('"Scope"');
    expect(await shown.violations('06-cards')).toEqual([]);
  });

  it('the API calls of a page are copied as curl, without secrets, and opened in the API reference', async () => {
    await page.evaluate(() =>
      Object.defineProperty(navigator, 'clipboard', {
        value: { writeText: async (text: string) => void Object.assign(globalThis, { copied: text }) },
        configurable: true,
      }),
    );
    await page.locator('details.account > summary').click();
    await page.getByRole('button', { name: 'API calls of this page' }).click();
    await dialog.getByRole('button', { name: 'Copy as curl: GET /v1/keys?limit=100' }).click();
    expect(await page.evaluate(() => (globalThis as unknown as { copied: string }).copied)).toBe(
      `curl '${server.url}/v1/keys?limit=100' \\\n  -H "Authorization: Bearer $POSTHORN_API_KEY"`,
    );
    expect(await shown.violations('07-calls')).toEqual([]);
    const link = dialog.getByRole('link', { name: 'Open in API docs: GET /v1/keys?limit=100' });
    await page.waitForFunction(() => document.querySelector('a[href$="#/Keys/listKeys"]') !== null);
    const [docs] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
    await docs.locator('.opblock.is-open[id$="-listKeys"]').waitFor();
    await docs.close();
    await page.keyboard.press('Escape');

    await shown.navigate('Secrets');
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByLabel('Name').fill('CRM_TOKEN');
    await page.getByLabel('Value', { exact: true }).fill('the-value');
    await page.getByRole('button', { name: 'Save' }).click();
    await toast('Secret created').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('api calls');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Copy as curl: POST /v1/secrets' }).click();

    expect(await page.evaluate(() => (globalThis as unknown as { copied: string }).copied)).toContain(
      `--data-raw '{"name":"CRM_TOKEN","value":"***"`,
    );
    expect(await dialog.getByText('GET /v1/destinations').count()).toBe(0);
    await page.keyboard.press('Escape');
  });

  it('every list with long names, in German, breaks no layout', async () => {
    await server.api('POST', '/v1/members', { email: `${'a'.repeat(60)}@example.com`, role: 'read', name: LONG });
    await server.api('POST', '/v1/app', { name: LONG, uid: 'u'.repeat(120) });
    await server.api('POST', '/v1/event-types', {
      name: `order.${'x'.repeat(120)}`,
      group: LONG.slice(0, 100),
      description: LONG.repeat(3),
    });
    await page.evaluate(() => localStorage.setItem('posthorn.preferences', JSON.stringify({ language: 'de' })));
    for (const place of ['secrets', 'keys', 'members', 'sessions', 'applications', 'event-types', 'domains']) {
      await shown.open(place);
      await page.getByRole('table').first().waitFor();
      expect(await shown.violations(`08-long-${place}`)).toEqual([]);
      await page.setViewportSize({ width: 1920, height: 900 });
      await shown.screenshot(`08-long-${place}-1920`);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      await page.setViewportSize({ width: 1280, height: 900 });
    }
  });
});
