import type { Browser, Locator, Page } from 'playwright-core';
import { until } from '../api/polling.js';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { ConsolePage } from '../support/console-page.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

/** Numbers that a double cannot represent, an escape, and values of every kind. */
const EXACT =
  '{"id":12345678901234567890,"price":1.10,"letter":"\\u0041","paid":true,"note":null,"lines":[{"sku":"A-1","needle":"here"},{"sku":"B-2"}]}';
const LONG_TYPE = `order.${'very-long-name.'.repeat(8)}created`;
const LONG_NAME = 'Ships '.repeat(20).trim();

(isChromiumInstalled() ? describe : describe.skip)(
  'searching, following and replaying events in the console, from an empty installation',
  () => {
    let server: PosthornServer;
    let browser: Browser;
    let receiver: Receiver;
    let shown: ConsolePage;
    let page: Page;
    let broken: string;
    let good: string;
    let pulled: string;

    beforeAll(async () => {
      [server, browser, receiver] = await Promise.all([
        sharedServer(),
        startBrowser(),
        startReceiver(({ path }) =>
          path.includes('broken') ? { status: 503, body: 'out of order' } : { body: 'thanks' },
        ),
      ]);
      [broken, good, pulled] = await Promise.all([
        destination({
          name: 'Broken',
          type: 'https',
          url: `${receiver.url}/broken`,
          retry: { max_attempts: 2, schedule: [0, 86_400] },
        }),
        destination({ name: LONG_NAME, type: 'https', url: `${receiver.url}/good` }),
        destination({ name: 'Consumer', type: 'pull' }),
      ]);
      shown = await ConsolePage.open(browser, server, 'console-event-views', 'events');
      page = shown.page;
    });

    afterAll(async () => {
      await browser?.close();
      await server?.stop();
      await receiver?.close();
    });

    afterEach(() => {
      expect(shown.wrongs()).toEqual([]);
    });

    async function destination(body: object): Promise<string> {
      return (await server.api('POST', '/v1/destinations', body)).json.id as string;
    }

    /** Sends an event, waits until it has the state, and returns its id. */
    async function send(to: string, type: string, status: string, payload = '{}'): Promise<string> {
      const body = `{"destination":"${to}","event_type":"${type}","payload":${payload}}`;
      const { message_id: id } = (await server.api('POST', '/v1/send', body)).json as { message_id: string };
      const event = await until(
        async () => (await server.api('GET', `/v1/events/${id}`)).json,
        (json) => json.status === status && (status === 'delivered' || json.attempts.length > 0),
      );
      return event.id as string;
    }

    const timeline = (): Locator => page.getByRole('list', { name: 'Timeline' });
    const row = (type: string): Locator => page.locator('[data-id]', { hasText: type });

    it('the search field tells ids from free text, says what it searches, and sets the matching filter', async () => {
      const id = await send(broken, 'invoice.failed', 'retrying');
      await send(good, LONG_TYPE, 'delivered');
      await shown.open('events');
      await row(LONG_TYPE).waitFor();
      const field = page.getByLabel('ID or type');
      await page.getByText('Any other text is searched as an exact event type.').waitFor();

      for (const [text, sentence, search] of [
        [id, 'Finds the event with this ID.', { q: id }],
        [id.slice(4), 'without its prefix', { q: id }],
        ['invoice.failed', 'exactly this type', { event_type: 'invoice.failed' }],
        [broken, 'sent to this destination', { destination: broken }],
        [`${receiver.url}/good`, 'sent to this URL', { destination: `${receiver.url}/good` }],
        ['msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', 'Not a complete ID', { dedupe_id: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W' }],
      ] as const) {
        await shown.open('events');
        await field.fill(text);
        await page.locator('.search-hint', { hasText: sentence }).waitFor();
        await field.press('Enter');
        await page.waitForURL((url) => url.search !== '');
        expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual(search);
      }
      await page.getByText('No events match these filters.').waitFor();
      expect(await shown.violations('01-search')).toEqual([]);
    });

    it('the error filter separates status classes from missing responses', async () => {
      await shown.open('events');
      await page.getByLabel('Error', { exact: true }).selectOption('5xx');
      await row('invoice.failed').waitFor();
      await row(LONG_TYPE).waitFor({ state: 'detached' });
      await page.getByLabel('Error', { exact: true }).selectOption('timeout');
      await page.getByText('No events match these filters.').waitFor();
      expect(
        await page.locator('optgroup').evaluateAll((all) => all.map((each) => each.getAttribute('label'))),
      ).toEqual(['Response status', 'No response']);
    });

    it('rows show relative times with the exact one on hover, stay on one line, and their height is remembered', async () => {
      await shown.open('events');
      await row(LONG_TYPE).waitFor();
      const time = row(LONG_TYPE).locator('time');
      expect(await time.innerText()).toMatch(/^\d+ sec\. ago$|^now$/);
      expect(await time.getAttribute('title')).toMatch(/\d{1,2}:\d{2}:\d{2}.* · \d{4}-\d{2}-\d{2} .* UTC/);
      expect(await time.getAttribute('aria-label')).toMatch(/(ago|now), .*\d{1,2}:\d{2}:\d{2}/);
      expect(await row(LONG_TYPE).getByRole('link').getAttribute('title')).toBe(LONG_TYPE);
      expect(await row(LONG_TYPE).getByTitle(LONG_NAME).count()).toBe(1);
      expect(await heightOf(LONG_TYPE)).toBe(40);
      expect(await shown.violations('02-comfortable')).toEqual([]);

      await page.getByRole('button', { name: 'Compact rows' }).click();
      await until(
        () => heightOf(LONG_TYPE),
        (px) => px === 30,
      );
      await page.reload();
      await row(LONG_TYPE).waitFor();
      expect(await heightOf(LONG_TYPE)).toBe(30);
      expect(await page.getByRole('button', { name: 'Compact rows', pressed: true }).count()).toBe(1);
      expect(await shown.violations('03-compact')).toEqual([]);
      await page.getByRole('button', { name: 'Compact rows' }).click();
    });

    it('on a phone, a row has two lines: type and status, target and time', async () => {
      await shown.open('events');
      await row(LONG_TYPE).waitFor();
      await page.setViewportSize({ width: 375, height: 812 });
      await until(
        () => heightOf(LONG_TYPE),
        (px) => px === 60,
      );
      const boxes = await row(LONG_TYPE)
        .getByRole('cell')
        .evaluateAll((cells) => cells.slice(1).map((cell) => cell.getBoundingClientRect().toJSON() as DOMRect));
      const [type, status, target, received] = boxes;

      expect(type?.width).toBeGreaterThan(150);
      for (const [left, right] of [
        [type, status],
        [target, received],
      ])
        expect(Math.abs((left?.y ?? 0) - (right?.y ?? 99))).toBeLessThan(6);
      expect((target?.y ?? 0) - (type?.y ?? 0)).toBeGreaterThan(15);
      expect(Math.max(...boxes.map(({ right }) => right))).toBeLessThanOrEqual(375);
      expect(await shown.violations('03-phone')).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 900 });
    });

    const heightOf = async (type: string): Promise<number> => (await row(type).boundingBox())?.height ?? 0;

    it('an event shows its whole life in one timeline, newest first, with the details of an attempt behind it', async () => {
      await page.getByRole('link', { name: 'invoice.failed' }).click();
      await timeline().getByText('Next attempt').waitFor();
      await timeline().getByText('Attempt 1 of 2').waitFor();
      const steps = await timeline().locator('> li').allInnerTexts();

      expect(steps.map((text) => /Next attempt|Attempt 1 of 2|Accepted/.exec(text)?.[0])).toEqual([
        'Next attempt',
        'Attempt 1 of 2',
        'Accepted',
      ]);
      expect(steps[1]).toMatch(/HTTP 503.* · .*ms/s);
      expect(await page.locator('.schedule-steps li').first().innerText()).toContain('✕');
      expect(await page.locator('pre', { hasText: 'out of order' }).isVisible()).toBe(false);
      await timeline().locator('summary').press('Enter');
      await page.getByRole('group', { name: 'Response', exact: true }).getByText('out of order').waitFor();
      await page.getByRole('group', { name: 'Sent request' }).getByText('webhook-signature').waitFor();
      await page.getByRole('button', { name: 'Copy request as curl' }).waitFor();
      expect(await shown.violations('04-timeline')).toEqual([]);
    });

    it('a replay replaces the earlier delivery, which is not shown as a failure', async () => {
      await page.getByRole('button', { name: 'Replay', exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Replay', exact: true }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await timeline().locator('.status', { hasText: 'Replaced' }).waitFor();

      expect(await timeline().locator('.status', { hasText: 'Replaced' }).getAttribute('class')).toBe('status dull');
      expect(await timeline().getByText('replaced by a replay').count()).toBe(1);
      expect(await shown.violations('05-replaced')).toEqual([]);
    });

    it('an event for a pull consumer is ready to pull, not delivered, in the list and on its page', async () => {
      const id = await send(pulled, 'pulled.event', 'delivered');
      await shown.open('events?event_type=pulled.event');
      await row('pulled.event').getByText('Ready to pull').waitFor();
      await shown.open(`events/${id}`);
      await page.locator('.why', { hasText: 'Ready to pull' }).waitFor();
      await timeline().getByText('Ready to pull').waitFor();
      expect(await page.getByText('Delivered', { exact: true }).count()).toBe(0);
      expect(await shown.violations('06-pull')).toEqual([]);

      const { json } = await server.api('GET', `/v1/pull/${pulled}`);
      await server.api('POST', `/v1/pull/${pulled}/ack`, { cursor: json.next_cursor as string });
      await shown.open('events?event_type=pulled.event');
      await row('pulled.event').getByText('Acknowledged').waitFor();
      await shown.open(`events/${id}`);
      await page.locator('.why', { hasText: 'A consumer acknowledged this event.' }).waitFor();
      await timeline().getByRole('link', { name: 'Consumer' }).waitFor();
      expect(await timeline().innerText()).toMatch(/Acknowledged.*Feed Consumer · last acknowledgment .*(ago|now)/s);
      expect(await page.getByText('Ready to pull').count()).toBe(0);
      expect(await shown.violations('06-acknowledged')).toEqual([]);
    });

    it('an event is sent to another destination, picked by name: from its page, and for selected events', async () => {
      const id = await send(broken, 'exact.copy', 'retrying', EXACT);
      await shown.open(`events/${id}`);
      await page.getByRole('button', { name: 'Replay', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('One destination').check();
      await dialog.getByText('Send this event to one destination in').waitFor();
      expect(await dialog.getByRole('button', { name: 'Replay', exact: true }).isDisabled()).toBe(true);
      await dialog.getByRole('combobox', { name: 'Destination' }).fill('Ships');
      await dialog.getByRole('option', { name: 'Ships' }).click();
      expect(await shown.violations('07-replay-to')).toEqual([]);
      await dialog.getByRole('button', { name: 'Replay', exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
      const copies = (): number =>
        receiver.requests.filter(({ path, rawBody }) => path === '/good' && rawBody.toString() === EXACT).length;
      await until(
        () => Promise.resolve(copies()),
        (count) => count === 1,
      );

      await shown.open('events?event_type=exact.copy&status=retrying');
      await page.getByRole('checkbox', { name: `Select ${id}` }).click();
      await page.locator('.selection').getByRole('button', { name: 'Replay', exact: true }).click();
      await dialog.getByLabel('One destination').check();
      await dialog.getByRole('combobox', { name: 'Destination' }).fill('Ships');
      await dialog.getByRole('option', { name: 'Ships' }).click();
      expect(await shown.violations('08-replay-selected')).toEqual([]);
      await dialog.getByRole('button', { name: 'Replay', exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
      await until(
        () => Promise.resolve(copies()),
        (count) => count === 2,
      );
    });

    it('a payload is colored and exact, its objects fold with the keyboard alone, and a search opens them', async () => {
      await shown.open('events?event_type=exact.copy&status=retrying');
      await row('exact.copy').getByRole('link').click();
      const payload = page.getByRole('group', { name: 'Payload' });
      await payload.locator('.json-key', { hasText: '"price"' }).waitFor();
      expect((await payload.innerText()).replaceAll(/\s/g, '')).toBe(EXACT);
      expect(await payload.locator('.json-number').allInnerTexts()).toEqual(['12345678901234567890', '1.10']);
      expect(await payload.locator('.json-keyword').allInnerTexts()).toEqual(['true', 'null']);
      expect(await shown.violations('09-payload')).toEqual([]);

      await payload.locator('[data-line="0"]').focus();
      await page.keyboard.press('ArrowDown');
      expect(await focused()).toBe('Array, lines 7 to 15');
      await page.keyboard.press('ArrowDown');
      expect(await focused()).toBe('Object, lines 8 to 11');
      await page.keyboard.press('ArrowLeft');
      await payload.getByText('2 lines').waitFor();
      await page.keyboard.press('ArrowLeft');
      expect(await focused()).toBe('Array, lines 7 to 15');
      await page.keyboard.press('Enter');
      await payload.getByText('7 lines').waitFor();
      expect(await payload.getByText('"sku"').count()).toBe(0);
      expect(await shown.violations('10-folded')).toEqual([]);
      await page.getByRole('searchbox').fill('here');
      await payload.locator('mark.current', { hasText: 'here' }).waitFor();
      await page.getByRole('searchbox').fill('');
      await page.getByRole('button', { name: 'Collapse all' }).click();
      await payload.getByText('7 lines').waitFor();
      await page.getByRole('button', { name: 'Expand all' }).click();
      expect((await payload.innerText()).replaceAll(/\s/g, '')).toBe(EXACT);
      await page.getByRole('button', { name: 'As sent' }).click();
      expect(await payload.innerText()).toBe(EXACT);
    });

    const focused = (): Promise<string | null> =>
      page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? null);

    it('a payload of half a megabyte is colored and folded where it is visible, and as sent without colors', async () => {
      const large = JSON.stringify({
        items: Array.from({ length: 9_000 }, (_, i) => ({
          key: `value ${i}`,
          price: i,
          deep: { text: i === 8_500 ? 'needle' : 'hay' },
        })),
      });
      expect(large.length).toBeGreaterThan(500_000);
      const id = await send(good, 'large', 'delivered', large);
      await shown.open(`events/${id}`);
      await page.getByRole('button', { name: 'Load', exact: true }).click();
      const payload = page.getByRole('group', { name: 'Payload' });
      await payload.locator('.json-key').first().waitFor();
      expect(await payload.locator('.text-row').count()).toBeLessThan(100);
      await payload.locator('[data-line="0"]').focus();
      await page.keyboard.press('End');
      await page.waitForFunction(() =>
        /^Object, lines 62,999 to 63,001/.test(document.activeElement?.getAttribute('aria-label') ?? ''),
      );
      await page.keyboard.press('Home');
      await page.waitForFunction(() => document.activeElement?.getAttribute('data-line') === '0');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowLeft');
      await payload.getByText(/lines$/).waitFor();
      expect(await payload.locator('.text-row').count()).toBe(3);
      expect(await shown.violations('11-large')).toEqual([]);
      await page.getByRole('searchbox').fill('needle');
      await payload.locator('mark.current', { hasText: 'needle' }).waitFor();
      await page.getByRole('button', { name: 'As sent' }).click();
      await page.getByText('Colors are off for large payloads').waitFor();
      await page.locator('.text-rows mark.current', { hasText: 'needle' }).waitFor();
    });

    it('a user without the write role sees the timeline and no replay', async () => {
      const { key } = (await server.api('POST', '/v1/keys', { name: 'reader', scope: 'read' })).json as { key: string };
      const reader = await ConsolePage.open(
        browser,
        server,
        'console-event-views-reader',
        'events?event_type=large',
        key,
      );
      await reader.page.getByRole('link', { name: 'large' }).click();
      await reader.page.getByRole('list', { name: 'Timeline' }).getByText('Accepted').waitFor();
      await reader.page.getByText('Read-only access.').waitFor();
      expect(await reader.page.getByRole('button', { name: 'Replay' }).count()).toBe(0);
      expect(reader.wrongs()).toEqual([]);
      await reader.page.close();
    });
  },
);
