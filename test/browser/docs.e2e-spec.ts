import { randomBytes } from 'node:crypto';
import type { Browser, Locator, Page } from 'playwright-core';
import { type OpenApi, type Route, routesOf } from '../conformance/openapi-document.js';
import { complaintsOf, isChromiumInstalled, screenshotsOf, startBrowser } from '../support/browser.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { jobOf, SwaggerPage, tourOf } from '../support/swagger-ui.js';

/** Result of an executed operation, as the page shows it. */
interface Shown {
  status: number;
  json: { [field: string]: unknown };
  text: string;
}

/**
 * Operations on existing objects that this browser test executes. test/conformance/docs-tour covers all such
 * operations.
 */
const NEED_IDS = new Set([
  'getDestination',
  'createApplicationEndpoint',
  'emitEvent',
  'getEvent',
  'testEndpoint',
  'setEndpointSecret',
  'listRequests',
  'getRequest',
  'pullEvents',
  'acknowledgeEvents',
  'replayEvent',
  'getEmailAttachment',
  'deleteSecret',
  'revokeKey',
]);
/** A slow machine may need longer than the minute for which the token of this operation is valid. */
const TOO_LATE = 'showMail';

/** Time limit for a page to show the expected content. A page that works is faster. */
const WAIT_MS_MAX = 60_000;

(isChromiumInstalled() ? describe : describe.skip)(
  'Swagger UI, used only through Authorize, Try it out and Execute',
  () => {
    let server: PosthornServer;
    let browser: Browser;
    let page: Page;
    let complaints: string[];
    let opened: string | null = null;
    let document: OpenApi;
    const operatorKey = randomBytes(32).toString('hex');
    const screenshot = screenshotsOf('docs');

    beforeAll(async () => {
      [server, browser] = await Promise.all([
        startServer({ OPERATOR_KEY: operatorKey, EGRESS_ALLOW_CIDRS: '', EGRESS_ALLOW_HTTP: 'false' }),
        startBrowser(),
      ]);
      document = (await server.api('GET', '/openapi.json')).json as OpenApi;
      page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
      page.setDefaultTimeout(WAIT_MS_MAX);
      complaints = complaintsOf(page);
      page.on(
        'response',
        (response) =>
          void (
            response.status() >= 400 &&
            complaints.push(`${response.status()} ${response.request().method()} ${response.url()}`)
          ),
      );
      await page.goto(`${server.url}/docs`);
      await page.waitForSelector('.opblock');
    });

    afterAll(async () => {
      await browser?.close();
      await server?.stop();
    });

    const routeOf = (operationId: string): Route =>
      routesOf(document).find(({ operation }) => operation.operationId === operationId) as Route;

    const sectionOf = (operationId: string): string => routeOf(operationId).operation.tags?.[0] ?? '';

    /** Opens the block of an operation, ready to be executed, and returns it. */
    async function tried(operationId: string): Promise<Locator> {
      const block = page.locator(`.opblock[id$="-${operationId}"]`);
      const section = sectionOf(operationId);
      // Closes the previous block, because each open block slows the page down. Blocks of another section are already
      // gone.
      if (opened !== null && opened !== operationId && sectionOf(opened) === section)
        await page.locator(`.opblock[id$="-${opened}"] .opblock-summary-control`).click();
      opened = operationId;
      const heading = page.locator(`h3.opblock-tag[data-tag="${section}"]`);
      for (const other of await page.locator('h3.opblock-tag[data-is-open=true]').all())
        if ((await other.getAttribute('data-tag')) !== section) await other.click();
      if ((await heading.getAttribute('data-is-open')) !== 'true') await heading.click();
      if ((await block.locator('.opblock-body').count()) === 0) await block.locator('.opblock-summary-control').click();
      if ((await block.locator('.execute').count()) === 0) await block.locator('.try-out__btn').click();
      return block;
    }

    /** Enters the key of the organization and the key of the operator. */
    async function authorize(): Promise<void> {
      await page.locator('.auth-wrapper .authorize').first().click();
      for (const [scheme, value] of [
        ['apiKey', server.apiKey],
        ['operatorKey', operatorKey],
      ] as const) {
        const key = page.locator('.auth-container').filter({ hasText: `${scheme} (http, Bearer)` });
        await key.locator('input').fill(value);
        if (scheme === 'apiKey') await screenshot(page, '02-authorize');
        await key.locator('button.authorize').click();
      }
      await page.locator('.auth-btn-wrapper .btn-done').first().click();
    }

    /** Presses Execute and returns the response. */
    async function execute(operationId: string): Promise<Shown> {
      const block = await tried(operationId);
      const { method, path: template } = routeOf(operationId);
      const asked = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
      const answered = page.waitForResponse(
        (response) => response.request().method() === method && asked.test(new URL(response.url()).pathname),
      );
      await block.locator('.execute').click();
      const response = await answered;
      await block
        .locator('.live-responses-table tr.response .response-col_status', { hasText: String(response.status()) })
        .waitFor();
      const text = await response.text();
      const isJson = response.headers()['content-type']?.startsWith('application/json') === true;
      return { status: response.status(), json: (isJson ? JSON.parse(text) : {}) as Shown['json'], text };
    }

    async function choose(operationId: string, example: string): Promise<void> {
      const block = await tried(operationId);
      await block.locator('.examples-select select').first().selectOption(example);
    }

    /** Repeats the operation until the event has the wanted state, because delivery takes time. Returns the event. */
    async function eventUntil(isWanted: (event: Shown['json']) => boolean): Promise<Shown['json']> {
      for (let tries = 0; tries < 50; tries += 1) {
        const { json } = await execute('getEvent');
        if (isWanted(json)) return json;
      }
      throw new Error('The event did not come to be as wanted.');
    }

    it('begins with Destinations, opened, then follows the order of a first visit', async () => {
      await page.locator('.opblock').first().waitFor();
      const sections = await page
        .locator('h3.opblock-tag')
        .evaluateAll((headings) => headings.map((heading) => heading.getAttribute('data-tag')));
      const shown = await page
        .locator('.opblock')
        .evaluateAll((blocks) => blocks.map(({ id }) => id.split('-').at(-1)));
      await screenshot(page, '01-opened');

      expect(sections.slice(0, 4)).toEqual(['Destinations', 'Applications', 'Send', 'Events']);
      expect(sections.slice(-3)).toEqual(['Operator', 'Agents', 'Health']);
      expect([shown.at(0), shown.at(-1)]).toEqual(['createDestination', 'deleteDestination']);
    });

    it('accepts a key and does not store it', async () => {
      await authorize();

      expect((await execute('getOrganization')).json).toMatchObject({ environment: 'live' });
      expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))).not.toContain(server.apiKey);
    });

    it('runs the main task: a destination, two sends, the list, the event, a replay', async () => {
      const created = await execute('createDestination');
      await screenshot(page, '03-destination');
      const [first, second] = [await execute('sendWebhook'), await execute('sendWebhook')];
      await screenshot(page, '04-send');
      const list = await execute('listEvents');
      const optional = await page
        .locator('.opblock.is-open [data-param-name]')
        .locator('input, select')
        .evaluateAll((fields) => fields.map((field) => (field as unknown as { value: string }).value));
      await screenshot(page, '05-events');
      const event = await eventUntil(({ status }) => status === 'delivered');
      await screenshot(page, '06-event');
      const replayed = await execute('replayEvent');
      await screenshot(page, '07-replay');
      const again = await eventUntil(({ deliveries }) => (deliveries as unknown[]).length === 2);

      expect([created.status, first.status, second.status, replayed.status]).toEqual([201, 202, 202, 202]);
      // The examples set no fixed Idempotency-Key, so the second send is another message.
      expect(second.json['message_id']).not.toBe(first.json['message_id']);
      expect(list.json['data']).toHaveLength(2);
      expect(optional).toEqual(Array.from(optional, () => ''));
      expect(event).toMatchObject({
        message_id: second.json['message_id'],
        deliveries: [{ destination: created.json['id'] }],
      });
      expect(again['id']).toBe(event['id']);
    });

    it('a refused body passes after its correction', async () => {
      const block = await tried('sendWebhook');
      const body = block.locator('textarea.body-param__text');
      const good = await body.inputValue();

      await body.fill(good.replace('"event_type"', '"event"'));
      const refused = await execute('sendWebhook');
      await screenshot(page, '08-refused');
      await body.fill(good);
      const corrected = await execute('sendWebhook');

      expect([refused.status, corrected.status]).toEqual([422, 202]);
      expect(refused.json).toMatchObject({
        error: { details: { fields: expect.arrayContaining([{ path: 'event', message: 'is not known here' }]) } },
      });
    });

    it('2xx: the first operation of each section, and operations that need ids, in page order', async () => {
      const { tried: tour } = tourOf(document, (await SwaggerPage.open(server.url)).routes());
      const isFirst = new Set(
        document.tags.map(
          ({ name }) => tour.find(({ operation }) => operation.tags?.[0] === name)?.operation.operationId,
        ),
      );
      const answers = new Map<string, Shown>();

      for (const {
        operation: { operationId },
      } of tour.filter(
        ({ operation: { operationId: id } }) => id !== TOO_LATE && (isFirst.has(id) || NEED_IDS.has(id)),
      )) {
        const answer = await execute(operationId);
        answers.set(operationId, answer);
        await jobOf(server, answer);
      }
      await screenshot(page, '09-tour');

      expect([...answers].filter(([, { status }]) => status >= 300)).toEqual([]);
      expect(answers.get('emitEvent')?.json).toMatchObject({ fanout: 1 });
      expect(answers.get('getRequest')?.json['event_id']).toBe(answers.get('testEndpoint')?.json['event_id']);
    }, 1_200_000);

    it('a reload forgets the key', async () => {
      opened = null;
      await page.reload();
      await page.waitForSelector('.opblock');
      const refused = await execute('createDestination');
      await authorize();

      expect(refused.status).toBe(401);
      expect((await execute('createDestination')).status).toBe(201);
    });

    it('fills in no optional value, in any operation', async () => {
      const script = await (await fetch(`${server.url}/docs/swagger-ui-init.js`)).text();
      const shown = JSON.parse(
        /"swaggerDoc": (\{[\s\S]*\n {2}\}),\n {2}"customOptions"/.exec(script)?.[1] ?? '{}',
      ) as OpenApi;
      const filled = routesOf(shown).flatMap(({ operation: { operationId, parameters = [] } }) =>
        parameters
          .filter(
            (each) =>
              each['required'] !== true &&
              ['example', 'examples', 'default'].some(
                (keyword) => keyword in each || (keyword !== 'examples' && keyword in (each.schema ?? {})),
              ),
          )
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
    });

    it('only refused calls caused errors on the page', () => {
      expect(complaints.filter((text) => !/\b4(01|22)\b/.test(text))).toEqual([]);
    });
  },
);
