import { createHmac } from 'node:crypto';
import type { Browser, Locator, Page } from 'playwright-core';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { ConsolePage } from '../support/console-page.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

const GITHUB_ID = '72d3162e-cc78-11e3-81ab-4c9367dc0958';
const STRIPE_ID = 'evt_1NG8Du2eZvKYlo2CUI79vXWy';
const SECRET = 's3cret';
const LONG_ID = 'delivery-'.repeat(100);

(isChromiumInstalled() ? describe : describe.skip)(
  'exact filters of the event list in the console, from an empty installation',
  () => {
    let server: PosthornServer;
    let browser: Browser;
    let receiver: Receiver;
    let shown: ConsolePage;
    let page: Page;

    beforeAll(async () => {
      [server, browser, receiver] = await Promise.all([
        sharedServer(),
        startBrowser(),
        startReceiver(({ path }) => ({ status: Number(path.slice(1)), body: 'answer' })),
      ]);
      shown = await ConsolePage.open(browser, server, 'console-event-filters', 'events');
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

    const row = (type: string): Locator => page.locator('[data-id]', { hasText: type });
    const search = (): Record<string, string> => Object.fromEntries(new URL(page.url()).searchParams);

    async function send(status: number): Promise<void> {
      const { json } = await server.api('POST', '/v1/destinations', {
        name: `Answers ${status}`,
        type: 'https',
        url: `${receiver.url}/${status}`,
        retry: { max_attempts: 2, schedule: [0, 86_400] },
      });
      await server.api('POST', '/v1/send', {
        destination: json.id as string,
        event_type: `answer.${status}`,
        payload: {},
      });
      await row(`answer.${status}`).getByText(`HTTP ${status}`).waitFor();
    }

    const signatureOf = (text: string): string => createHmac('sha256', SECRET).update(text).digest('hex');

    /** Receives a request at a new endpoint. */
    async function receive(
      slug: string,
      settings: object,
      body: string,
      headers: Record<string, string>,
    ): Promise<void> {
      const { json } = await server.api('POST', '/v1/endpoints', { slug, ...settings });
      if ('preset' in settings) await server.api('PUT', `/v1/endpoints/${String(json.id)}/secret`, { secret: SECRET });
      const answer = await fetch(`${server.url}/in/${String(json.path)}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      });
      expect(answer.status).toBe(200);
    }

    it('finds events by one status of the last response, or by a class of statuses', async () => {
      for (const status of [503, 502, 204]) await send(status);
      const field = page.getByLabel('Response status', { exact: true });

      await field.fill('503');
      await field.press('Enter');
      await row('answer.502').waitFor({ state: 'detached' });
      await row('answer.503').waitFor();
      expect([await row('answer.204').count(), search()]).toEqual([0, { response_status: '503' }]);
      expect(await shown.violations('01-status')).toEqual([]);

      await page.reload();
      await row('answer.503').waitFor();
      expect(await field.inputValue()).toBe('503');

      await field.fill('204');
      await field.press('Enter');
      await row('answer.204').waitFor();
      await row('answer.503').waitFor({ state: 'detached' });

      await field.fill('5xx');
      await field.press('Enter');
      await row('answer.502').waitFor();
      await row('answer.503').waitFor();
      await row('answer.204').waitFor({ state: 'detached' });
      expect([await field.inputValue(), search()]).toEqual(['', { error: '5xx' }]);
      expect(await page.getByLabel('Error', { exact: true }).inputValue()).toBe('5xx');

      await field.fill('42');
      await field.press('Enter');
      await page.getByRole('alert').getByText('Enter a status from 200 to 599').waitFor();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      expect(await shown.violations('02-refused')).toEqual([]);
      await page.getByRole('button', { name: 'Clear' }).click();
      await row('answer.204').waitFor();
      expect([await page.getByRole('alert').count(), await field.inputValue()]).toEqual([0, '']);
    });

    it('a new event with the status appears by itself', async () => {
      await shown.open('events?response_status=500');
      await page.getByText('No events match these filters.').waitFor();

      await send(500);
      expect(await page.locator('[data-id]').count()).toBe(1);
    });

    it("finds received events by the provider's delivery id, in the search field and in its own filter", async () => {
      const opened = JSON.stringify({ action: 'opened' });
      await receive('github', { preset: 'github' }, opened, {
        'x-github-delivery': GITHUB_ID,
        'x-github-event': 'issues',
        'x-hub-signature-256': `sha256=${signatureOf(opened)}`,
      });
      const paid = JSON.stringify({ id: STRIPE_ID, type: 'invoice.paid' });
      const at = Math.floor(Date.now() / 1000);
      await receive('stripe', { preset: 'stripe' }, paid, {
        'stripe-signature': `t=${at},v1=${signatureOf(`${at}.${paid}`)}`,
      });
      await receive('own', { deduplicate: { source: 'header', name: 'x-delivery' } }, '{}', { 'x-delivery': LONG_ID });
      await shown.open('events');
      await row('issues.opened').waitFor();
      const anything = page.getByLabel('ID or type');

      for (const [id, type, sentence] of [
        [GITHUB_ID, 'issues.opened', 'Finds the received events with this provider delivery ID.'],
        [STRIPE_ID, 'invoice.paid', 'Not a complete ID of this service.'],
      ] as const) {
        await shown.open('events');
        await anything.fill(id);
        await page.locator('.search-hint', { hasText: sentence }).waitFor();
        await anything.press('Enter');
        await page.waitForURL((url) => url.search !== '');
        await row(type).waitFor();
        expect(await page.locator('[data-id]').count()).toBe(1);
        expect(search()).toEqual({ dedupe_id: id });
        expect(await page.getByLabel('Provider’s delivery ID').inputValue()).toBe(id);
      }
      expect(await shown.violations('03-provider-id')).toEqual([]);

      const own = page.getByLabel('Provider’s delivery ID');
      await own.fill(LONG_ID);
      await own.press('Enter');
      await row('invoice.paid').waitFor({ state: 'detached' });
      await page.locator('[data-id]').waitFor();
      expect(search()).toEqual({ dedupe_id: LONG_ID });
      expect(await shown.violations('04-long-id')).toEqual([]);

      await own.fill('unknown');
      await own.press('Enter');
      await page.getByText('No events match these filters.').waitFor();
    });

    it('says the same in German', async () => {
      await page.evaluate(() => localStorage.setItem('posthorn.preferences', JSON.stringify({ language: 'de' })));
      await shown.open('events');
      await page.getByLabel('ID oder Typ').fill(GITHUB_ID);
      await page.locator('.search-hint', { hasText: 'Zustellungs-ID des Anbieters' }).waitFor();
      await page.getByLabel('Antwortstatus').fill('42');
      await page.getByLabel('Antwortstatus').press('Enter');
      await page.getByRole('alert').getByText('Einen Status von 200 bis 599 eingeben').waitFor();
      expect(await shown.violations('05-german')).toEqual([]);
    });
  },
);
