import type { Browser, Locator, Page } from 'playwright-core';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { ConsolePage, HOSTILE, WAIT_MS_MAX } from '../support/console-page.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PosthornServer, startServer } from '../support/server.js';

const LONG_NAME = `${'Very long name '.repeat(8)}end`.slice(0, 128);
const BROKEN_NAME = `Broken ${HOSTILE[0] ?? ''}`;
const SINCE = String.raw`since \d\d:\d\d \(\d+ (s|min)\)`;
const TRIES_MAX = 20;
const TRY_MS = 1_500;

(isChromiumInstalled() ? describe : describe.skip)('health of targets, and the audit log, in the console', () => {
  let server: PosthornServer;
  let browser: Browser;
  let receiver: Receiver;
  let page: Page;
  let shown: ConsolePage;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    [server, browser, receiver] = await Promise.all([
      startServer(),
      startBrowser(),
      startReceiver(({ path, rawBody }) => {
        if (path.includes('gone')) return { status: 410, body: 'gone' };
        if (path.includes('broken') || /"fail":\s*true/.test(rawBody.toString()))
          return { status: 500, body: 'out of order' };
        return { body: 'thanks' };
      }),
    ]);
    shown = await ConsolePage.open(browser, server, 'console-health', 'destinations');
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

  async function destination(name: string, place: string, settings: object = {}): Promise<string> {
    const { json } = await server.api('POST', '/v1/destinations', {
      name,
      type: 'https',
      url: `${receiver.url}/${place}`,
      ...settings,
    });
    return json.id as string;
  }

  async function send(target: string, payload: object = {}): Promise<void> {
    await server.api('POST', '/v1/send', { destination: target, event_type: 'invoice.paid', payload });
  }

  /** Shows all problems on the overview if it shows only the first ones. */
  async function showAllProblems(): Promise<void> {
    await page.locator('.concern-groups').waitFor({ timeout: TRY_MS });
    const button = page.getByRole('button', { name: /^Show all/ });
    if ((await button.count()) > 0) await button.click();
  }

  /** Reopens a page until it shows an element, because the figures on the page are about two seconds old. */
  async function openUntil(place: string, expected: Locator): Promise<void> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      await shown.open(place);
      const isShown = await (place === 'overview' ? showAllProblems() : Promise.resolve())
        .then(() => expected.first().waitFor({ timeout: TRY_MS }))
        .then(
          () => true,
          () => false,
        );
      if (isShown) return;
    }
    await shown.screenshot('instead');
    throw new Error(`${expected.toString()} does not come.`);
  }

  const row = (name: string): Locator => page.getByRole('row').filter({ hasText: name });

  it('destinations: each has one health in the list, with the reason and the number of pending deliveries', async () => {
    await page.getByText('No destinations yet').waitFor();
    const once = { retry: { max_attempts: 1, schedule: [0] }, config: { circuit_breaker: { failure_threshold: 100 } } };
    ids['idle'] = await destination(LONG_NAME, `idle?${'x'.repeat(1_900)}`);
    ids['good'] = await destination('Good', 'good');
    ids['flaky'] = await destination('Flaky', 'flaky', once);
    ids['broken'] = await destination(BROKEN_NAME, 'broken', { config: { circuit_breaker: { failure_threshold: 2 } } });
    ids['gone'] = await destination('Gone', 'gone');
    for (const fail of [false, false, false, true]) await send(ids['flaky'], { fail });
    for (let i = 0; i < 3; i += 1) await send(ids['broken']);
    await send(ids['good']);
    await send(ids['gone']);
    await openUntil('destinations', row(BROKEN_NAME).getByText('3 pending'));
    await openUntil('destinations', row('Flaky').getByText('25% of attempts failed', { exact: true }));
    await openUntil('destinations', row('Good').getByText('Healthy'));
    await openUntil('destinations', row('Gone').getByText('The receiver responded with 410 Gone'));
    await row(BROKEN_NAME)
      .getByText(/Next probe (in \d+ (seconds?|minutes?)|is due)|Probe in progress/)
      .waitFor();
    await row(LONG_NAME).getByText('No attempts in the last 24 hours').waitFor();

    await row(LONG_NAME).getByText('Idle', { exact: true }).waitFor();
    await row('Flaky').getByText('Degraded', { exact: true }).waitFor();
    await row(BROKEN_NAME)
      .filter({ hasText: new RegExp(`Circuit open[^]*${SINCE}`) })
      .waitFor();
    await row('Gone')
      .filter({ hasText: new RegExp(`Disabled[^]*${SINCE}`) })
      .waitFor();
    const created = row('Good').locator('time').last();
    expect(await created.innerText()).toMatch(/now|ago/);
    expect(await created.getAttribute('title')).toContain('UTC');
    expect(await shown.violations('01-destinations')).toEqual([]);
  });

  it('a destination: its health, its last deliveries with their responses, and its last error with its time', async () => {
    await shown.open(`destinations/${ids['flaky']}`);
    await page.getByText('25% of attempts failed in the last 24 hours').waitFor();
    const deliveries = page.getByRole('region', { name: 'Last deliveries' });
    await deliveries.getByText('HTTP 500').waitFor();
    expect(await deliveries.getByRole('row').count()).toBe(5);
    expect(await deliveries.getByText('HTTP 200').count()).toBe(3);
    const error = page.locator('.last-error');
    await error.getByText('out of order').waitFor();
    expect(await error.locator('time').innerText()).toMatch(/now|ago/);
    expect(await shown.violations('02-destination')).toEqual([]);
    await error.getByRole('link', { name: 'View event' }).click();
    await page.waitForURL(/events\/evt_/);
    await shown.open(`destinations/${ids['broken']}`);
    await page.getByText('3 pending').waitFor();
    await page.locator('.last-error').getByText('HTTP 500').waitFor();
    expect(await shown.violations('03-circuit-open')).toEqual([]);
    await shown.open(`destinations/${ids['idle']}`);
    await page.getByText('No events yet.').waitFor();
    expect(await page.locator('.last-error').count()).toBe(0);
    expect(await shown.violations('04-idle-long')).toEqual([]);
  });

  it('endpoints of an application: one health in the list and on the page', async () => {
    await server.api('POST', '/v1/app', { uid: 'acme', name: 'Acme' });
    const endpoint = async (place: string, description: string): Promise<string> =>
      (await server.api('POST', '/v1/app/acme/endpoints', { url: `${receiver.url}/${place}`, description })).json
        .id as string;
    await endpoint('good', 'Works');
    const off = await endpoint('off', 'Off');
    await server.api('PATCH', `/v1/app/acme/endpoints/${off}`, {
      status: 'disabled',
      disabled_reason: 'The customer asked for it.',
    });
    await server.api('POST', '/v1/app/acme/event', { event_type: 'invoice.paid', payload: {} });
    await openUntil('applications/acme/endpoints', row('Works').getByText('Healthy'));
    await row('Off').getByText('The customer asked for it').waitFor();
    expect(await shown.violations('05-endpoints')).toEqual([]);
    await row('Off').getByRole('link').click();
    await page.locator('.health').getByText(new RegExp(SINCE)).waitFor();
    expect(await shown.violations('06-endpoint')).toEqual([]);
  });

  it('overview: success rate first, pending deliveries, one plot of outcomes, and problems by target with their fix', async () => {
    await openUntil('overview', page.locator('.concern-groups > li').filter({ hasText: 'Flaky' }));
    const totals = page.getByRole('list', { name: 'Totals' }).getByRole('listitem');
    expect(await totals.first().innerText()).toMatch(/Success rate\s+\d+(\.\d+)?%\s+\d+ of \d+ attempts/);
    expect(await totals.nth(1).innerText()).toMatch(/Pending\s+3/);
    await page.locator('.plot-canvas canvas').nth(1).waitFor();
    expect(await page.locator('.plot').count()).toBe(2);
    const problems = page.locator('.concern-groups > li');
    expect(await problems.filter({ hasText: BROKEN_NAME }).innerText()).toMatch(
      new RegExp(`Opened after \\d+ failures in a row[^]*${SINCE}`),
    );
    expect(await problems.filter({ hasText: BROKEN_NAME }).count()).toBe(1);
    expect(await shown.violations('07-overview')).toEqual([]);
    await page.setViewportSize({ width: 1920, height: 1080 });
    const [left, right] = await Promise.all([0, 1].map((i) => page.locator('.plot').nth(i).boundingBox()));
    expect(left?.y).toBe(right?.y);
    await shown.screenshot('08-overview-1920');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByText('View as table Outcomes').click();
    await page
      .getByRole('region', { name: 'Outcomes' })
      .getByRole('columnheader', { name: 'Retried', exact: true })
      .waitFor();
    await page.getByRole('link', { name: 'Retry: Flaky' }).click();
    await page.waitForURL(/events\?.*status=dlq/);
    await page.goBack();
    await showAllProblems();
    await page.getByRole('link', { name: 'Enable: Gone' }).click();
    await page.waitForURL(`**/destinations/${ids['gone']}`);
    await page.getByRole('button', { name: 'Enable', exact: true }).waitFor();
  });

  it('overview: a target that a 410 disabled is a failure, one that a person disabled is not', async () => {
    const stopped = await destination('Stopped', 'good');
    await server.api('PATCH', `/v1/destinations/${stopped}`, { status: 'disabled' });
    const statusOf = (name: string): Locator =>
      page.locator('.concern-groups > li').filter({ hasText: name }).locator('.concern-type .status');
    await openUntil('overview', statusOf('Stopped'));

    expect(await statusOf('Stopped').getAttribute('class')).toBe('status dull');
    expect(await statusOf('Gone').getAttribute('class')).toBe('status bad');
    await server.api('DELETE', `/v1/destinations/${stopped}`);
  });

  it('audit log: entries are sentences with names, in English and German, and pick lists filter them', async () => {
    await server.api('POST', `/v1/destinations/${ids['good']}/secret/rotate`, { grace_seconds: 0 });
    await server.api('PATCH', `/v1/destinations/${ids['good']}`, { status: 'disabled' });
    await server.api('PATCH', `/v1/destinations/${ids['good']}`, { name: 'Orders' });
    await server.api('DELETE', `/v1/destinations/${ids['flaky']}`);
    await shown.navigate('Audit log');
    const log = page.getByRole('region', { name: 'Audit log' });
    for (const sentence of [
      /API key .+ rotated the signing secret of destination Orders/,
      /API key .+ disabled destination Orders/,
      /API key .+ renamed destination Good to Orders/,
      /API key .+ deleted destination Flaky/,
      /API key .+ created application Acme/,
      /API key .+ disabled application endpoint Off/,
    ])
      await log.getByText(sentence).waitFor();
    expect(await shown.violations('09-audit')).toEqual([]);
    await page.getByRole('combobox', { name: 'Action' }).fill('rotated the signing secret of dest');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/action=POST/);
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
    await log.getByRole('button', { name: /^Details: API key .+ rotated the signing secret/ }).click();
    await log.getByText('POST /v1/destinations/:id/secret/rotate').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('combobox', { name: 'Resource' }).fill('Applic');
    await page.getByRole('option', { name: 'Applications', exact: true }).click();
    await page.waitForURL(/resource=app/);
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
    await page.getByRole('combobox', { name: 'Actor' }).click();
    await page.getByRole('listbox', { name: 'Actor' }).getByRole('option').first().waitFor();
    expect(await shown.violations('10-audit-pick-list')).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Clear' }).click();
    await log.getByRole('link', { name: 'Orders', exact: true }).first().click();
    await page.waitForURL(`**/destinations/${ids['good']}`);
    await page.evaluate(() => localStorage.setItem('posthorn.preferences', JSON.stringify({ language: 'de' })));
    await shown.open('audit');
    await page.getByText(/API-Schlüssel .+ hat das Signatur-Secret des Ziels Orders rotiert/).waitFor();
    await page.getByText(/API-Schlüssel .+ hat das Ziel Good in Orders umbenannt/).waitFor();
    expect(await shown.violations('11-audit-german')).toEqual([]);
    await shown.open('destinations');
    await page.getByText('Circuit Breaker offen').waitFor();
    await row('Gone').getByText('Der Empfänger antwortete mit 410 Gone').waitFor();
    expect(await shown.violations('12-destinations-german')).toEqual([]);
    await page.evaluate(() => localStorage.removeItem('posthorn.preferences'));
  });

  it('a destination whose figures cannot be loaded has the health unknown', async () => {
    await page.route('**/v1/metrics?**', (route) => route.fulfill({ status: 400, json: { error: { message: 'no' } } }));
    await shown.open('destinations');
    await row(LONG_NAME).getByText('Unknown').waitFor();
    await row('Gone').getByText('Disabled', { exact: true }).waitFor();
    await page.unroute('**/v1/metrics?**');

    expect(shown.wrongs().every((line) => line.includes('400'))).toBe(true);
  });

  it('a user with the role read sees the health of all targets', async () => {
    const { key } = (await server.api('POST', '/v1/keys', { name: 'Reader', scope: 'read' })).json as { key: string };
    const reader = await ConsolePage.open(browser, server, 'console-health-reader', 'destinations', key);
    await reader.page.getByRole('row').filter({ hasText: BROKEN_NAME }).getByText('Circuit open').waitFor();
    await reader.page.getByRole('link', { name: BROKEN_NAME }).click();
    await reader.page.locator('.last-error').getByText('out of order').waitFor({ timeout: WAIT_MS_MAX });

    expect(reader.wrongs()).toEqual([]);
    await reader.page.close();
  });
});
