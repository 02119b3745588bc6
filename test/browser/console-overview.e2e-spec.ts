import { execFileSync } from 'node:child_process';
import type { Browser, Locator, Page } from 'playwright-core';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { ConsolePage, HOSTILE } from '../support/console-page.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PosthornServer, startServer } from '../support/server.js';

const TURNS_MAX = 80;
const TURN_MS = 250;
const HOSTILE_NAME = `Broken ${HOSTILE[0] ?? ''}`;

(isChromiumInstalled() ? describe : describe.skip)('overview, destinations and jobs in the console', () => {
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
        request.path.includes('broken') ? { status: 500, body: 'broken' } : { body: 'thanks' },
      ),
    ]);
    shown = await ConsolePage.open(browser, server, 'console-overview', '');
    page = shown.page;
    await page.clock.install();
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await receiver?.close();
  });

  afterEach(() => {
    expect(shown.wrongs()).toEqual([]);
  });

  /** Advances the page's clock until an element appears. */
  async function pass(until: Locator): Promise<void> {
    for (let turn = 0; turn < TURNS_MAX; turn += 1) {
      await page.clock.runFor(2_500);
      if (
        await until
          .first()
          .waitFor({ timeout: TURN_MS })
          .then(
            () => true,
            () => false,
          )
      )
        return;
    }
    await shown.screenshot('what-there-is-instead');
    throw new Error(`${until.toString()} does not come.`);
  }

  async function destination(name: string, place: string, settings: object = {}): Promise<string> {
    return (
      await server.api('POST', '/v1/destinations', {
        name,
        type: 'https',
        url: `${receiver.url}/${place}`,
        ...settings,
      })
    ).json.id as string;
  }

  it('first steps: the commands run unchanged, and each step is ticked when it is done', async () => {
    await page.getByRole('heading', { name: 'First steps' }).waitFor();
    expect(page.url()).toBe(`${server.url}/console/live/overview`);
    expect(await page.locator('.first-steps .done').count()).toBe(0);
    await page.getByRole('button', { name: 'With curl' }).click();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'Hide key' }).waitFor();
    const run = (...commands: string[]): string =>
      execFileSync('bash', ['-c', commands.join('\n')], { encoding: 'utf8' });
    const text = (name: string): Promise<string> => page.getByLabel(name, { exact: true }).innerText();
    const [key, making] = [await text('Create an API key'), await text('Create a destination')];
    expect(run(key, making)).toMatch(/^dst_/);
    await pass(page.locator('.first-steps li.done').nth(1));
    expect(await shown.violations('01-first-steps')).toEqual([]);
    const id = (await server.api('GET', '/v1/destinations')).json.data[0].id as string;
    expect(run(key, `DST=${id}`, await text('Send an event'))).toContain('"message_id":"msg_');
    await pass(page.getByRole('link', { name: 'View event' }));
    expect(run(key, `DST=${id}`, await text('Fetch the event'))).toContain('"payload":{"amount": 4200}');
    await page.getByRole('button', { name: 'Hide key' }).click();
    expect(await page.content()).not.toContain(/ek_live_\w{8,}/.exec(key)?.[0] ?? 'a key');

    expect(await shown.violations('02-steps-done')).toEqual([]);
    await page.getByRole('button', { name: 'Go to overview' }).click();
    await page.getByText('No issues found.').waitFor();
  });

  it('figures of a range are shown as plots and tables, and current problems with their start times and links', async () => {
    const [good, broken] = [
      await destination('Good', 'good'),
      await destination(HOSTILE_NAME, 'broken', {
        retry: { max_attempts: 1, schedule: [0] },
        config: { circuit_breaker: { failure_threshold: 2 } },
      }),
    ];
    for (const target of [good, good, broken, broken, broken])
      await server.api('POST', '/v1/send', { destination: target, event_type: 'invoice.paid', payload: {} });
    await pass(page.getByText('Circuit open'));
    await pass(page.locator('.total-value.bad').filter({ hasText: /[23]/ }));

    expect(await page.locator('.concern-groups > li').filter({ hasText: HOSTILE_NAME }).innerText()).toMatch(
      /Opened after \d+ failures[^]*since \d\d:\d\d \(\d+ (s|min)\)/,
    );
    await pass(page.getByRole('region', { name: 'Failing targets' }).getByRole('link', { name: HOSTILE_NAME }));
    expect(await shown.violations('03-overview')).toEqual([]);
    await page.getByText('View as table Outcomes').click();
    await page.getByRole('region', { name: 'Outcomes' }).getByRole('row').first().waitFor();
    expect(await page.getByRole('region', { name: 'Outcomes' }).getByRole('row').count()).toBe(25);
    await page.getByRole('region', { name: 'Outcomes' }).getByRole('button', { name: 'Open' }).first().click();
    await page.waitForURL(/events\?since=.*until=/);
    await page.goBack();
    await page
      .getByRole('link', { name: `View target: ${HOSTILE_NAME}` })
      .first()
      .click();
    await page.getByRole('heading', { name: HOSTILE_NAME }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('shows three problems and the others on request, so that new ones do not move what is below', async () => {
    const paused: string[] = [];
    const pause = async (): Promise<void> => {
      const id = await destination(`Paused ${paused.length}`, 'good');
      await server.api('PATCH', `/v1/destinations/${id}`, { status: 'disabled' });
      paused.push(id);
    };
    for (let i = 0; i < 4; i += 1) await pause();
    const problems = page.locator('.concerns > li');
    const all = page.getByRole('button', { name: /^Show all \(\d+\)$/ });
    const plotPlace = async (): Promise<number> => (await page.locator('.plot').first().boundingBox())?.y ?? -1;
    await pass(all);
    const count = Number(/\d+/.exec(await all.innerText())?.[0]);
    const before = await plotPlace();
    await pause();
    await pass(page.getByRole('button', { name: `Show all (${count + 1})` }));

    expect(await problems.count()).toBe(3);
    expect(await problems.first().innerText()).toContain('Circuit open');
    expect(await plotPlace()).toBe(before);
    await all.click();
    expect(await problems.count()).toBe(count + 1);
    expect(await shown.violations('03-all-problems')).toEqual([]);
    await page.getByRole('button', { name: 'Show fewer', expanded: true }).click();
    expect(await problems.count()).toBe(3);
    for (const id of paused) await server.api('DELETE', `/v1/destinations/${id}`);
  });

  it.each([
    [1280, 3],
    [375, 1],
  ])('at %i px, the plots do not move when the first problems appear', async (width, shownMax) => {
    let concerns: object[] = [];
    await page.route('**/v1/attention', (route) => route.fulfill({ json: { data: concerns, truncated: [] } }));
    await page.reload();
    const plotPlace = async (): Promise<number> => (await page.locator('.plot').first().boundingBox())?.y ?? -1;
    await pass(page.locator('.all-well'));
    expect(await shown.violations(`03-no-problem-${width}`)).toEqual([]);
    await page.setViewportSize({ width, height: 800 });
    const before = await plotPlace();
    concerns = ['A', 'B', HOSTILE_NAME, 'D'].map((name, n) => ({
      type: n === 0 ? 'circuit.open' : 'dead_letters.growing',
      subject: `dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B${n}`,
      name,
      since: new Date(Date.now() - 3_600_000).toISOString(),
      count: 12_345,
      sentence: 'Deliveries of the last day used up all attempts.',
      url: '/v1/events',
    }));
    await pass(page.locator('.concerns > li').nth(shownMax - 1));

    expect(await page.locator('.concerns > li').count()).toBe(shownMax);
    expect(await plotPlace()).toBe(before);
    expect(await shown.violations(`03-problems-${width}`)).toEqual([]);
    await page.unroute('**/v1/attention');
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  it('the range is part of the address, all plots share a cursor, and a dragged range opens the event list', async () => {
    await page.getByRole('link', { name: '1 h', exact: true }).click();
    await page.waitForURL('**/overview?range=1h');
    const canvas = page.locator('.plot-canvas .u-over').first();
    await canvas.waitFor();
    const box = await canvas.boundingBox();
    if (box === null) throw new Error('There is no plot.');
    await page.mouse.move(box.x + box.width * 0.5, box.y + 40);
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.plot figcaption .quiet')].every(({ textContent }) => textContent !== ''),
    );
    await shown.screenshot('04-cursor');
    await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 60, { steps: 5 });
    await page.mouse.up();
    await page.waitForURL(/events\?since=.*until=/);

    const [since, until] = ['since', 'until'].map((name) =>
      Date.parse(new URL(page.url()).searchParams.get(name) ?? ''),
    ) as [number, number];
    expect((until - since) / 60_000).toBeGreaterThan(28);
    expect((until - since) / 60_000).toBeLessThan(32);
    expect(await page.getByRole('combobox', { name: 'Time' }).inputValue()).toBe('other');
  });

  it('an open screen costs the API at most one call every five seconds, and none while it is hidden', async () => {
    await shown.open('overview');
    await page.locator('.total').first().waitFor();
    await page.waitForLoadState('networkidle');
    const asked: string[] = [];
    const note = (request: { url: () => string }): void => {
      if (request.url().includes('/v1/')) asked.push(new URL(request.url()).pathname);
    };
    page.on('request', note);

    // The test advances the page's clock faster than real time. After each second, it waits for the answers of the
    // server, whose clock is not changed.
    const unanswered = new Set<unknown>();
    page.on('request', (request) => request.url().includes('/v1/') && unanswered.add(request));
    for (const end of ['requestfinished', 'requestfailed'] as const)
      page.on(end as 'requestfinished', (request) => void unanswered.delete(request));
    for (let second = 0; second < 60; second += 1) {
      await page.clock.runFor(1_000);
      while (unanswered.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const whileOpen = asked.splice(0);
    await page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await page.clock.runFor(120_000);
    const whileHidden = asked.splice(0);
    await page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'visible', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    const eachSecond: number[] = [];
    for (let second = 0; second < 5; second += 1) {
      await page.clock.runFor(1_000);
      while (unanswered.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      eachSecond.push(asked.splice(0).length);
    }
    page.off('request', note);

    expect(whileOpen.length).toBeLessThanOrEqual(12);
    expect(new Set(whileOpen)).toEqual(
      new Set(['/v1/metrics/overview', '/v1/attention', '/v1/metrics/targets', '/v1/replays']),
    );
    expect(whileHidden).toEqual([]);
    // One request at a time. A beat takes five seconds.
    expect(Math.max(...eachSecond)).toBe(1);
  });

  it('destinations: found by name and circuit, with the last day of each, and one with plots, schedule, next probe, recovery and cancellation', async () => {
    await shown.open('destinations');
    await page.getByLabel('Name starts with').fill('Brok');
    await pass(page.locator('tbody tr:only-child').filter({ hasText: HOSTILE_NAME }));
    expect(page.url()).toContain('search=Brok');
    await page.getByRole('img', { name: /0 delivered, 3 failed/ }).waitFor();
    await page.getByRole('combobox', { name: 'Circuit' }).selectOption('closed');
    await page.getByText('No destinations match these filters.').waitFor();
    await page.getByRole('combobox', { name: 'Circuit' }).selectOption('open');
    await page.getByRole('link', { name: HOSTILE_NAME }).waitFor();
    expect(await shown.violations('05-destinations')).toEqual([]);
    await page.getByRole('link', { name: HOSTILE_NAME }).click();
    await page.getByText('Next probe no earlier than').waitFor();
    await page.getByText('Attempt 1').waitFor();
    await page.locator('.plot-canvas canvas').nth(1).waitFor();

    expect(await shown.violations('06-destination')).toEqual([]);
    await page.getByRole('button', { name: 'Cancel pending' }).click();
    await page.getByRole('dialog').getByLabel(/^Type/).fill(HOSTILE_NAME);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel pending' }).click();
    await page.getByText('Deliveries canceled: 0.').waitFor();
    await page.getByRole('button', { name: 'Retry failed' }).click();
    expect(await shown.violations('07-recover')).toEqual([]);
    await page.keyboard.press('Escape');
  });

  it('jobs: a recovery from start to end, in the list and on its page', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('j');
    await page.waitForURL('**/jobs');
    await page.getByText('No jobs yet').waitFor();
    expect(await shown.violations('08-jobs-empty')).toEqual([]);
    const broken = (await server.api('GET', '/v1/destinations?search=Broken')).json.data[0].id as string;
    await shown.open(`destinations/${broken}`);
    await page.getByRole('button', { name: 'Retry failed' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry failed' }).click();
    await page.waitForURL(/jobs\/rpj_/);
    const id = page.url().split('/').at(-1) ?? '';
    await shown.navigate('Jobs');
    await pass(page.locator('.status').filter({ hasText: 'Completed' }));
    expect(await shown.violations('09-jobs')).toEqual([]);
    await page.getByRole('link', { name: 'Retry of failed deliveries' }).click();
    await page.getByRole('heading', { name: 'Retry of failed deliveries' }).waitFor();

    expect(page.url()).toBe(`${server.url}/console/live/jobs/${id}`);
    // The page may show an earlier state of the job for some seconds.
    await page
      .getByText('Replayed', { exact: true })
      .locator('xpath=following-sibling::dd')
      .filter({ hasText: /^[23]$/ })
      .waitFor();
    expect(await shown.violations('10-job')).toEqual([]);
    await page.getByRole('link', { name: HOSTILE_NAME }).first().click();
    await page.getByRole('heading', { name: HOSTILE_NAME }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search by ID' }).fill(id);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/live/jobs/${id}`);
  });
});
