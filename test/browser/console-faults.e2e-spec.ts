import type { Browser, Locator, Page, Route } from 'playwright-core';
import { answerOf, JSON_TYPE, toApiError } from '#http/envelope.js';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { ConsolePage } from '../support/console-page.js';
import { type PosthornServer, startServer } from '../support/server.js';

/** Response of the API to an unexpected error. */
const BROKEN = answerOf(toApiError(new Error('broken')), 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1');
/** Makes the console retry at once, so that the error appears without the usual waits. */
const AT_ONCE = { 'retry-after': '0' };
const HEADLINE = 'The data could not be loaded because of an internal error';

(isChromiumInstalled() ? describe : describe.skip)('errors in the console', () => {
  let server: PosthornServer;
  let browser: Browser;
  let page: Page;
  let shown: ConsolePage;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer(), startBrowser()]);
    shown = await ConsolePage.open(browser, server, 'console-faults', 'secrets');
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  afterEach(async () => {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    // Browsers log every error response.
    expect(shown.wrongs().filter((line) => !/status of 5\d\d|status of 429/.test(line))).toEqual([]);
  });

  const fault = (): Locator => page.locator('main .fault');
  const banner = (): Locator => page.getByText('The service is not responding.');
  const retry = (): Locator => fault().getByRole('button', { name: 'Try again' });
  const fail = (path: RegExp, status = BROKEN.status, headers: Record<string, string> = AT_ONCE): Promise<unknown> =>
    page.route(path, (route: Route) => route.fulfill({ status, headers, contentType: JSON_TYPE, body: BROKEN.body }));

  it('500: an error of one call, in words for users, and no outage', async () => {
    await fail(/\/v1\/secrets\?/);
    await shown.open('secrets');
    await retry().waitFor();

    expect(await fault().innerText()).toContain(HEADLINE);
    expect(await fault().innerText()).toContain('req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1');
    expect(await page.locator('main').innerText()).not.toContain('Idempotency-Key');
    expect(await banner().count()).toBe(0);
  });

  it('503 of a proxy: an outage, with the time of the last successful response', async () => {
    await shown.open('secrets');
    await page.getByRole('region', { name: 'No secrets yet' }).waitFor();
    const before = Date.now();
    await page.waitForTimeout(1_100);
    await fail(/\/v1\//, 503);
    await shown.navigate('Members');
    await banner().waitFor();
    const at = await page.locator('.notice time').getAttribute('datetime');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await banner().waitFor({ state: 'detached' });

    expect(Date.parse(at ?? '')).toBeLessThanOrEqual(before);
  });

  it.each([
    ['overview', ['Totals, Needs attention, Failing targets, Running jobs']],
    ['domains', ['Domains, Endpoint hosts']],
    ['organization', ['Organization, Destination for system events, System events']],
  ])('%s: shows an error of all its parts once, and one button loads them again', async (place, [names = '']) => {
    await fail(/\/v1\/(?!session)/);
    await shown.open(place);
    await retry().waitFor();

    expect(await fault().count()).toBe(1);
    expect(await fault().innerText()).toContain(`Not loaded: ${names}.`);
    await shown.screenshot(`01-${place}`);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await retry().click();
    await fault().waitFor({ state: 'detached' });
  });

  it.each([
    ['applications', 0, /\/v1\/app\?/],
    ['destinations', 0, /\/v1\/destinations\?/],
    ['endpoints', 0, /\/v1\/endpoints\?/],
    ['event-types', 0, /\/v1\/event-types\?/],
    ['suppressions', 0, /\/v1\/suppressions\?/],
    ['emails', 0, /\/v1\/emails\?/],
    ['jobs', 0, /\/v1\/replays\?/],
    ['events', 1, /\/v1\/events\?/],
    ['audit', 2, /\/v1\/audit\?/],
  ])(
    '%s: a list that failed keeps its filters, and shows the error in place of the rows',
    async (place, exports, path) => {
      await fail(path);
      await shown.open(place);
      await retry().waitFor();
      const filters = page.locator('main').getByRole('search', { name: 'Filter' });

      expect(await filters.isVisible()).toBe(true);
      expect(await fault().count()).toBe(1);
      expect((await fault().boundingBox())?.y).toBeGreaterThan((await filters.boundingBox())?.y ?? Infinity);
      const buttons = await page.getByRole('button', { name: /^Export/ }).all();
      expect(buttons).toHaveLength(exports);
      for (const button of buttons) {
        expect(await button.isDisabled()).toBe(true);
        expect(await button.getAttribute('title')).toMatch(/could not be loaded/);
      }
    },
  );

  it('429 with Retry-After: counts down, and enables the button at the end', async () => {
    let isBusy = true;
    await page.route(/\/v1\/attention/, (route) =>
      isBusy
        ? route.fulfill({ status: 429, headers: { 'retry-after': '4' }, contentType: JSON_TYPE, body: BUSY })
        : route.continue(),
    );
    await shown.open('overview');
    await page.getByRole('timer').filter({ hasText: 'Try again in 3 s.' }).waitFor();
    expect(await retry().isDisabled()).toBe(true);
    await page.getByText('You can try again now.').waitFor();
    expect(await retry().isEnabled()).toBe(true);
    expect(await shown.violations('02-waited')).toEqual([]);
    isBusy = false;
    await retry().click();
    await fault().waitFor({ state: 'detached' });
  });

  it('send: a list of targets that failed says why, and is loaded again', async () => {
    await fail(/\/v1\/destinations\?/);
    await shown.open('send');
    await page.getByRole('combobox', { name: 'Destination' }).click();
    await retry().waitFor();
    expect(await fault().innerText()).toContain(HEADLINE);
    expect(await shown.violations('03-picker')).toEqual([]);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await retry().click();
    await fault().waitFor({ state: 'detached' });
  });

  it.each([
    ['events?since=-1h', 'Destination', /\/v1\/destinations\?/],
    ['events?since=-1h', 'Application', /\/v1\/app\?/],
    ['audit', 'Actor', /\/v1\/members\?/],
  ])(
    '%s: the filter %s shows why its options failed while it is used, and loads them again',
    async (place, name, path) => {
      await fail(path);
      await shown.open(place);
      const field = page.locator('main').getByRole('combobox', { name });
      await field.click();
      await retry().waitFor();
      expect(await fault().innerText()).toContain(HEADLINE);
      expect(await fault().innerText()).toContain('req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1');
      await page.keyboard.press('Escape');
      await fault().waitFor({ state: 'detached' });
      await field.click();
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await fault().waitFor({ state: 'detached' });

      expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
    },
  );
});

const BUSY = JSON.stringify({
  error: { type: 'rate_limited', message: 'Too many requests.', request_id: 'req_1', details: {} },
});
