import type { Browser, Locator, Page } from 'playwright-core';
import { routesOf, type OpenApi } from '../conformance/openapi-document.js';
import { complaintsOf, isChromiumInstalled, screenshotsOf, startBrowser } from '../support/browser.js';
import { startServer, type PosthornServer } from '../support/server.js';

/** What an executed operation showed. */
interface Shown {
  status: number;
  json: { [field: string]: unknown };
}

/** Nobody waits this long for a page that works. */
const PATIENCE_MS = 20_000;

(isChromiumInstalled() ? describe : describe.skip)('Swagger UI, with nothing but Authorize, Try it out and Execute', () => {
  let server: PosthornServer;
  let browser: Browser;
  let page: Page;
  let complaints: string[];
  let opened: string | null = null;
  let document: OpenApi;
  const screenshot = screenshotsOf('docs');

  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer(), startBrowser()]);
    document = (await server.api('GET', '/openapi.json')).json as OpenApi;
    page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
    page.setDefaultTimeout(PATIENCE_MS);
    complaints = complaintsOf(page);
    await page.goto(`${server.url}/`);
    await page.waitForSelector('.opblock');
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  /** The block of an operation, opened and ready to be executed. */
  async function tried(operationId: string): Promise<Locator> {
    const block = page.locator(`.opblock[id$="-${operationId}"]`);
    // Each open one makes the page slower.
    if (opened !== operationId && opened !== null) await page.locator(`.opblock[id$="-${opened}"] .opblock-summary-control`).click();
    opened = operationId;
    const section = routesOf(document).find(({ operation }) => operation.operationId === operationId)?.operation.tags?.[0] ?? '';
    const heading = page.locator(`h3.opblock-tag[data-tag="${section}"]`);
    if ((await heading.getAttribute('data-is-open')) !== 'true') await heading.click();
    if ((await block.locator('.opblock-body').count()) === 0) await block.locator('.opblock-summary-control').click();
    if ((await block.locator('.execute').count()) === 0) await block.locator('.try-out__btn').click();
    return block;
  }

  /** Presses Execute and reads what came. */
  async function execute(operationId: string): Promise<Shown> {
    const block = await tried(operationId);
    const answered = page.waitForResponse((response) => response.url().startsWith(`${server.url}/v1/`));
    await block.locator('.execute').click();
    const response = await answered;
    await block.locator('.live-responses-table tr.response .response-col_status', { hasText: String(response.status()) }).waitFor();
    const text = await response.text();
    return { status: response.status(), json: (text === '' ? {} : JSON.parse(text)) as Shown['json'] };
  }

  async function choose(operationId: string, example: string): Promise<void> {
    const block = await tried(operationId);
    await block.locator('.examples-select select').first().selectOption(example);
  }

  /** Executes again until the event is as wanted: its delivery is on its way. */
  async function eventUntil(isWanted: (event: Shown['json']) => boolean): Promise<Shown['json']> {
    for (let tries = 0; tries < 50; tries += 1) {
      const { json } = await execute('getEvent');
      if (isWanted(json)) return json;
    }
    throw new Error('The event did not come to be as wanted.');
  }

  it('GET / leads here, and what stands first is Send, then the order of a first visit', async () => {
    await page.locator('.opblock').first().waitFor();
    const sections = await page.locator('h3.opblock-tag').evaluateAll((headings) => headings.map((heading) => heading.getAttribute('data-tag')));
    await screenshot(page, '01-opened');

    expect(page.url().split('#')[0]).toBe(`${server.url}/docs`);
    expect(sections.slice(0, 4)).toEqual(['Send', 'Destinations', 'Events', 'Replay']);
    expect(sections.slice(-3)).toEqual(['Operator', 'Agents', 'Health']);
    expect(await page.locator('.opblock').first().getAttribute('id')).toContain('sendWebhook');
  });

  it('takes a key', async () => {
    await page.locator('.auth-wrapper .authorize').first().click();
    const key = page.locator('.auth-container').filter({ hasText: 'apiKey (http, Bearer)' });
    await key.locator('input').fill(server.apiKey);
    await screenshot(page, '02-authorize');
    await key.locator('button.authorize').click();
    await page.locator('.auth-btn-wrapper .btn-done').first().click();

    expect((await execute('getOrganization')).json).toMatchObject({ environment: 'live' });
  }, 60_000);

  it('does the main job: a destination, two sends, the list, the event, a replay', async () => {
    const created = await execute('createDestination');
    await screenshot(page, '03-destination');
    const [first, second] = [await execute('sendWebhook'), await execute('sendWebhook')];
    await screenshot(page, '04-send');
    const list = await execute('listEvents');
    const optional = await page.locator('.opblock.is-open [data-param-name]').locator('input, select').evaluateAll((fields) => fields.map((field) => (field as unknown as { value: string }).value));
    await screenshot(page, '05-events');
    const event = await eventUntil(({ status }) => status === 'delivered');
    await screenshot(page, '06-event');
    const replayed = await execute('replayEvent');
    await screenshot(page, '07-replay');
    const again = await eventUntil(({ deliveries }) => (deliveries as unknown[]).length === 2);

    expect([created.status, first.status, second.status, replayed.status]).toEqual([201, 202, 202, 202]);
    // No key of somebody else's: the second send is another message.
    expect(second.json['message_id']).not.toBe(first.json['message_id']);
    expect(list.json['data']).toHaveLength(2);
    expect(optional).toEqual(Array.from(optional, () => ''));
    expect(event).toMatchObject({ message_id: second.json['message_id'], deliveries: [{ destination: created.json['id'] }] });
    expect(again['id']).toBe(event['id']);
  }, 120_000);

  it('a body that was refused and corrected goes through', async () => {
    const block = await tried('sendWebhook');
    const body = block.locator('textarea.body-param__text');
    const good = await body.inputValue();

    await body.fill(good.replace('"event_type"', '"event"'));
    const refused = await execute('sendWebhook');
    await screenshot(page, '08-refused');
    await body.fill(good);
    const corrected = await execute('sendWebhook');

    expect([refused.status, corrected.status]).toEqual([422, 202]);
    expect(refused.json).toMatchObject({ error: { details: { fields: expect.arrayContaining([{ path: 'event', message: 'is not known here' }]) } } });
  }, 60_000);

  it('receives: an endpoint, a sample event, its raw request', async () => {
    const endpoint = await execute('createEndpoint');
    const tested = await execute('testEndpoint');
    const requests = await execute('listRequests');
    const request = await execute('getRequest');
    await screenshot(page, '09-request');

    expect([endpoint.status, tested.status, requests.status, request.status]).toEqual([201, 200, 200, 200]);
    expect(request.json['event_id']).toBe(tested.json['event_id']);
  }, 120_000);

  it('serves customers: an application, its endpoint, an event for it; and pull: a batch and its ack', async () => {
    const made = [await execute('createApplication'), await execute('createApplicationEndpoint'), await execute('emitEvent'), await execute('listAttempts')];
    const pulled = [await execute('pullEvents'), await execute('acknowledgeEvents')];

    expect(made.map(({ status }) => status)).toEqual([201, 201, 202, 200]);
    expect(made[2]?.json).toMatchObject({ fanout: 1 });
    expect(pulled.map(({ status }) => status)).toEqual([200, 200]);
  }, 120_000);

  it('fills in nothing that is optional, in no operation', async () => {
    const script = await (await fetch(`${server.url}/docs/swagger-ui-init.js`)).text();
    const shown = JSON.parse(/"swaggerDoc": (\{[\s\S]*\n {2}\}),\n {2}"customOptions"/.exec(script)?.[1] ?? '{}') as OpenApi;
    const filled = routesOf(shown).flatMap(({ operation: { operationId, parameters = [] } }) =>
      parameters.filter((each) => each['required'] !== true && ['example', 'examples', 'default'].some((keyword) => keyword in each || (keyword !== 'examples' && keyword in (each.schema ?? {}))))
        .map(({ name }) => `${operationId} ${name}`),
    );

    expect(routesOf(shown)).toHaveLength(routesOf(document).length);
    expect(filled).toEqual([]);
  });

  it('shows other examples of a body by name', async () => {
    await choose('createDestination', 'sqs');
    const block = await tried('createDestination');
    const body = JSON.parse(await block.locator('textarea.body-param__text').inputValue()) as object;
    await screenshot(page, '10-example');

    expect(body).toMatchObject({ type: 'sqs', config: { region: 'eu-west-1' } });
  }, 60_000);

  it('nothing on the page failed but the one call that was refused', () => {
    expect(complaints.filter((text) => !text.includes('422'))).toEqual([]);
  });
});
