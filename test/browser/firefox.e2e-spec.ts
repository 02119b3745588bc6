import type { Browser, ElementHandle, Page } from 'puppeteer-core';
import { openPortal } from '../api/portals.js';
import { expectStatus } from '../api/scene.js';
import { HOSTILE, WAIT_MS_MAX } from '../support/console-page.js';
import { complaintsInFirefox, firefoxScreenshots, isFirefoxInstalled, startFirefox } from '../support/firefox.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

/** A number that a double cannot represent, and text that an unsafe page would interpret. */
const PAYLOAD = `{"id": 12345678901234567890, "text": ${JSON.stringify(HOSTILE[0])}}`;
const SCREENS = [
  'overview',
  'events',
  'send',
  'destinations',
  'endpoints',
  'applications',
  'event-types',
  'emails',
  'templates',
  'inbox',
  'suppressions',
  'domains',
  'jobs',
  'pull',
  'secrets',
  'keys',
  'members',
  'audit',
  'organization',
];

(isFirefoxInstalled() ? describe : describe.skip)('the console, the portal and Swagger UI in Firefox', () => {
  let server: PosthornServer;
  let browser: Browser;
  let receiver: Receiver;
  let page: Page;
  let complaints: string[];
  const take = firefoxScreenshots();

  beforeAll(async () => {
    [server, browser, receiver] = await Promise.all([
      sharedServer(),
      startFirefox(),
      startReceiver(() => ({ body: 'thanks' })),
    ]);
    page = await browser.newPage();
    page.setDefaultTimeout(WAIT_MS_MAX);
    await page.setViewport({ width: 1280, height: 900 });
    complaints = complaintsInFirefox(page);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await receiver?.close();
  });

  afterEach(() => {
    expect(complaints.splice(0)).toEqual([]);
  });

  const open = (place: string): Promise<unknown> => page.goto(`${server.url}/console/live/${place}`);
  /** Finds an element by its tag and its whole text. Firefox does not find elements by role over WebDriver BiDi. */
  const withText = (tag: 'a' | 'button' | 'h1' | 'h2', text: string) =>
    page.locator(`::-p-xpath(//${tag}[normalize-space(.)="${text}"])`);
  const click = (tag: 'a' | 'button', text: string): Promise<void> => withText(tag, text).click();
  const appears = async (selector: string): Promise<ElementHandle | null> => page.waitForSelector(selector);
  const isTooWide = (): Promise<boolean> =>
    page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

  it('signs in with a key, and takes the first steps without a terminal', async () => {
    await open('overview');
    await page.locator('input[name=key]').fill(server.apiKey);
    await click('button', 'Sign in with the key');
    await withText('h2', 'First steps').wait();
    // Ignores the expected error: the first request has no session and is rejected.
    complaints.splice(0);
    await click('button', 'Create destination');
    await appears('.first-steps li.done');
    await click('button', 'Send sample event');
    await appears('.first-steps li.done + li.done');
    await take(page, '01-first-steps');
  });

  it('shows a payload with its original characters, and a new event without a reload', async () => {
    const { id } = expectStatus(
      await server.api('POST', '/v1/destinations', { name: 'Orders', type: 'https', url: receiver.url }),
      201,
    ).json;
    await open('events');
    await withText('h1', 'Events').wait();
    // Written as text, because JSON.stringify would round the number.
    await fetch(`${server.url}/v1/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
      body: `{"destination": "${String(id)}", "event_type": "order.paid", "payload": ${PAYLOAD}}`,
    });
    await click('a', 'order.paid');
    await withText('h1', 'order.paid').wait();
    await page.locator('::-p-text(HTTP 200)').wait();
    await page.locator('::-p-text(12345678901234567890)').wait();
    await take(page, '02-event');
    expect(await page.evaluate(() => document.body.innerText)).toContain(HOSTILE[0]);
  });

  it.each(SCREENS)(
    '%s fits the window of a computer and of a phone',
    async (screen) => {
      await open(screen);
      await appears('main h1');
      await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
      const wide = await isTooWide();
      await take(page, `03-${screen}-1280`);
      await page.setViewport({ width: 375, height: 812 });
      const narrow = await isTooWide();
      await take(page, `03-${screen}-375`);
      await page.setViewport({ width: 1280, height: 900 });

      expect({ wide, narrow }).toEqual({ wide: false, narrow: false });
    },
    60_000,
  );

  it('previews a template without its scripts, and makes no request for its images', async () => {
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(server.url)) foreign.push(request.url());
    });
    const html =
      '<h2 onclick="alert(1)">Hello {{name}}</h2><script>parent.document.title="ran"</script><img src="https://tracker.example/x.png" alt="logo">';
    const { id } = expectStatus(
      await server.api('POST', '/v1/templates', { name: 'Welcome', alias: 'welcome', subject: 'Hi {{name}}', html }),
      201,
    ).json;
    await open(`templates/${id}`);
    const frame = await (await appears('.mail-preview iframe'))?.contentFrame();
    const text = await frame?.waitForFunction(() => document.querySelector('h2')?.outerHTML);

    expect(await text?.jsonValue()).toMatch(/^<h2>Hello .*<\/h2>$/);
    expect(await page.title()).not.toBe('ran');
    expect(await frame?.$$eval('script, [src]', (elements) => elements.length)).toBe(0);
    expect(foreign).toEqual([]);
  });

  it('is operated with the keyboard: a menu of commands opens a screen', async () => {
    await open('overview');
    await appears('main h1');
    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
    await appears('dialog[open] input');
    await page.keyboard.type('Suppressions');
    await page.keyboard.press('Enter');
    await withText('h1', 'Suppressions').wait();
  });

  it('edits a payload in the code editor: styled, folded, with its errors, and left with the keyboard', async () => {
    await open('send');
    const display = await page.waitForFunction(() => {
      const scroller = document.querySelector('.cm-scroller');
      return scroller === null ? null : getComputedStyle(scroller).display;
    });
    await page.locator('.cm-content').click();
    await page.keyboard.down('Control');
    await page.keyboard.press('a');
    await page.keyboard.up('Control');
    await page.keyboard.type('{\n"order": {\n"id": 1');
    await appears('.code-fault');
    await page.keyboard.type('\n}}');
    await page.waitForFunction(() => document.querySelector('.code-fault') === null);
    await page.locator('.cm-foldGutter [title="Fold line"]').click();
    const folded = await page.$$eval('.cm-line', (lines) => lines.map(({ textContent }) => textContent));
    await take(page, '06-editor');
    await page.locator('.cm-content').click();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');

    expect(await display.jsonValue()).toBe('flex');
    expect(folded).toEqual(['{…}']);
    expect(await page.evaluate(() => document.activeElement?.closest('.cm-editor'))).toBeNull();
  });

  it("opens a customer's portal", async () => {
    const { id } = expectStatus(await server.api('POST', '/v1/app', { name: 'Globex' }), 201).json;
    const { url } = await openPortal(server, id as string);
    await page.goto(url);
    await appears('main :is(h1, h2)');
    await page.locator('::-p-text(Add endpoint)').wait();
    await take(page, '04-portal');

    expect(await isTooWide()).toBe(false);
  });

  it('shows the API in Swagger UI, and runs a call', async () => {
    await page.goto(`${server.url}/docs#/Destinations/listDestinations`);
    await appears('.opblock.is-open .try-out__btn');
    await page.locator('.auth-wrapper .authorize').click();
    await page.locator('.auth-container input').fill(server.apiKey);
    await page.locator('.auth-btn-wrapper .authorize').click();
    await page.locator('.auth-btn-wrapper .btn-done').click();
    await page.locator('.opblock.is-open .try-out__btn').click();
    await page.locator('.opblock.is-open .execute').click();
    await appears('.opblock.is-open .live-responses-table');
    await take(page, '05-docs');

    expect(await page.$eval('.opblock.is-open .live-responses-table', (table) => table.textContent)).toContain(
      'Orders',
    );
  });
});
