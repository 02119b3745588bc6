import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Browser, Locator, Page } from 'playwright-core';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { ConsolePage } from '../support/console-page.js';
import { isMotoInstalled, Moto } from '../support/moto.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

const REGION = 'eu-west-1';

(isChromiumInstalled() ? describe : describe.skip)('tasks in the console, from an empty installation', () => {
  let server: PosthornServer;
  let browser: Browser;
  let receiver: Receiver;
  let shown: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    [server, browser, receiver] = await Promise.all([
      sharedServer(),
      startBrowser(),
      startReceiver(() => ({ body: 'thanks' })),
    ]);
    shown = await ConsolePage.open(browser, server, 'console-tasks', 'destinations');
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

  const dialog = (): Locator => page.getByRole('dialog');

  /** Opens the form for a new destination, and fills in the fields that all types have. */
  async function begin(name: string, type: string): Promise<void> {
    await shown.navigate('Destinations');
    await page.getByRole('button', { name: 'New destination' }).click();
    await dialog().getByLabel('Name', { exact: true }).fill(name);
    await dialog().getByRole('combobox').selectOption(type);
  }

  /** Submits the form for a new destination. Returns the created destination. */
  async function create(name: string): Promise<unknown> {
    await dialog().getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    return (await server.api('GET', `/v1/destinations/${/dst_\w+/.exec(page.url())?.[0] ?? ''}`)).json;
  }

  it('the sign-in page lists the API key first where no mail can be sent', async () => {
    const visitor = await browser.newPage();
    await visitor.goto(`${server.url}/signin`);
    await visitor.getByLabel('API key of your organization').waitFor();

    expect(await visitor.locator('label').first().innerText()).toBe('API key of your organization');
    await visitor.close();
  });

  it('the error of a refused URL disappears once the URL is corrected', async () => {
    await begin('Orders', 'https');
    await dialog().getByLabel('URL').fill('http://127.0.0.1:1/closed');
    await dialog().getByRole('button', { name: 'Create' }).click();
    await dialog().getByRole('alert').waitFor();
    expect(await shown.violations('01-refused')).toEqual([]);
    expect(shown.wrongs().every((line) => line.includes('422'))).toBe(true);

    await dialog().getByLabel('URL').fill(`${receiver.url}/orders`);
    await dialog().getByRole('alert').waitFor({ state: 'detached' });
    await dialog().getByText('Reachable.').waitFor();
    expect(await create('Orders')).toMatchObject({ type: 'https', url: `${receiver.url}/orders` });
  });

  it('a mirror and a pull feed are created', async () => {
    await begin('Copy', 'mirror');
    await dialog().getByLabel('URL').fill(`${receiver.url}/copy`);
    expect(await create('Copy')).toMatchObject({ type: 'mirror', url: `${receiver.url}/copy` });
    await begin('Feed', 'pull');
    expect(await dialog().getByLabel('URL').count()).toBe(0);

    expect(await create('Feed')).toMatchObject({ type: 'pull', url: null });
  });

  (isMotoInstalled() ? it : it.skip)(
    'an SQS queue is created with its credentials, which the console does not show again, and gets an event',
    async () => {
      const moto = await Moto.start();
      const sqs = new SQSClient({ region: REGION, endpoint: moto.url, credentials: { ...moto.credentials } });
      try {
        const { QueueUrl: queueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'orders' }));
        const { accessKeyId, secretAccessKey } = moto.credentials;
        await begin('Queue', 'sqs');
        for (const [label, value] of [
          ['Queue URL', queueUrl],
          ['Region', REGION],
          ['Access key ID', accessKeyId],
          ['Secret access key', secretAccessKey],
        ] as const)
          await dialog().getByLabel(label).fill(value);
        expect(await create('Queue')).toMatchObject({ type: 'sqs', config: { queueUrl, region: REGION } });
        await page.getByRole('button', { name: 'Send test event' }).click();
        await page.getByText('Delivered').first().waitFor();

        await page.getByRole('link', { name: 'Edit', exact: true }).click();
        await page.getByText('Queue URL').waitFor();
        expect(await page.content()).not.toContain(secretAccessKey);
        expect(await shown.violations('02-queue')).toEqual([]);
      } finally {
        sqs.destroy();
        await moto.stop();
      }
    },
    120_000,
  );

  it('an event is sent to a URL, and the response appears beside the form', async () => {
    await shown.navigate('Send an event');
    await page.getByLabel('Send to').selectOption('url');
    await page.getByLabel('URL', { exact: true }).fill(`${receiver.url}/once`);
    await page.getByLabel('Event type').fill('invoice.paid');
    await page.getByLabel('Payload').fill('{"id": 12345678901234567890}');
    await page.getByRole('button', { name: 'Send event' }).click();
    await page.getByText('HTTP 200').waitFor();
    await page.locator('.send-result pre').getByText('thanks').waitFor();

    expect(receiver.requests.at(-1)?.rawBody.toString()).toBe('{"id": 12345678901234567890}');
    expect(await shown.violations('03-sent-to-url')).toEqual([]);
  });

  it('the search shows the health of a destination beside its name', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search by ID' }).fill('Copy');
    await page.getByRole('option', { name: /Copy/ }).getByText('Idle').waitFor();

    expect(await shown.violations('04-search')).toEqual([]);
    await page.keyboard.press('Escape');
  });
});
