import type { Browser, Page } from 'playwright-core';
import { applicationOf, emit, endpointAt, eventsIn } from '../api/applications.js';
import { destinationAt, expectStatus, send, startTargets, type Targets } from '../api/scene.js';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { ConsolePage } from '../support/console-page.js';
import { type PosthornServer, startServer } from '../support/server.js';

/** One more than the API returns in a page. */
const NEWER = 101;
const HOOK = 'Main hook';

(isChromiumInstalled() ? describe : describe.skip)('names of targets in the console', () => {
  let server: PosthornServer;
  let targets: Targets;
  let browser: Browser;
  let page: Page;
  let shown: ConsolePage;
  let application: string;
  let endpoint: string;
  let oldest: string;
  const asked: URL[] = [];

  beforeAll(async () => {
    [server, browser, targets] = await Promise.all([
      startServer({ RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' }),
      startBrowser(),
      startTargets(),
    ]);
    oldest = await destinationAt(server, targets.open().url, { name: 'Oldest' });
    for (let n = 0; n < NEWER; n += 1) await destinationAt(server, targets.open().url, { name: `Newer ${n}` });
    application = await applicationOf(server, { name: 'Acme' });
    endpoint = (await endpointAt(server, application, targets.open().url, { description: HOOK })).id;
    for (let n = 0; n < 30; n += 1) await send(server, oldest);
    const { message_id: message } = await emit(server, application);
    await eventsIn(server, message, 1, 'delivered');
    shown = await ConsolePage.open(browser, server, 'console-names', 'secrets');
    page = shown.page;
    page.on('request', (request) => asked.push(new URL(request.url())));
  }, 180_000);

  afterAll(async () => {
    await browser?.close();
    await Promise.all([server?.stop(), targets?.close()]);
  });

  beforeEach(() => {
    asked.length = 0;
  });

  afterEach(() => {
    expect(shown.wrongs()).toEqual([]);
  });

  const lookUps = (): string[][] =>
    asked.filter(({ pathname }) => pathname === '/v1/names').map(({ searchParams }) => searchParams.getAll('id'));

  it('the event list names endpoints of applications, and destinations that are not among the newest, in one call', async () => {
    await shown.open('events');
    await page.getByRole('cell', { name: HOOK }).waitFor();
    await page.getByRole('cell', { name: 'Oldest' }).first().waitFor();

    expect(lookUps().map((ids) => [...ids].sort())).toEqual([[oldest, endpoint].sort()]);
    expect(asked.map(({ pathname, search }) => pathname + search)).not.toContain('/v1/destinations?limit=100');
    expect(await page.getByText(/^(ep|dst)_/).count()).toBe(0);
  });

  it('a job about an endpoint of an application names it, and links to it', async () => {
    const { json } = expectStatus(
      await server.api('POST', `/v1/app/${application}/endpoints/${endpoint}/recover`, {
        since: new Date(Date.now() - 3_600_000).toISOString(),
      }),
      202,
    );
    await shown.open(`jobs/${json.id}`);
    await page.getByRole('link', { name: HOOK }).click();

    await page.waitForURL(`**/live/applications/${application}/endpoints/${endpoint}`);
    await page.getByText(HOOK).first().waitFor();
  });

  it('the overview names an endpoint of an application that needs attention', async () => {
    expectStatus(
      await server.api('PATCH', `/v1/app/${application}/endpoints/${endpoint}`, { status: 'disabled' }),
      200,
    );
    await shown.open('overview');

    await page.getByRole('heading', { name: HOOK }).waitFor();
  });
});
