import type { Browser, Page } from 'playwright-core';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { codeEditor, pasteCode } from '../support/code-editor.js';
import { ConsolePage, HOSTILE } from '../support/console-page.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

const NAME = `Orders ${HOSTILE[0] ?? ''}`;
/** An image whose script must not run. */
const LOGO = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="30"><script>top.ran = 1</script><rect width="60" height="30" fill="#8a1c5b"/></svg>',
);
/** A number that a double cannot represent. */
const PAYLOAD = '{"id": 12345678901234567890, "price": 1.10}';

(isChromiumInstalled() ? describe : describe.skip)(
  'sending and editing in the console, from an empty installation',
  () => {
    let server: PosthornServer;
    let browser: Browser;
    let receiver: Receiver;
    let shown: ConsolePage;
    let page: Page;
    let destination: string;

    beforeAll(async () => {
      [server, browser, receiver] = await Promise.all([
        sharedServer(),
        startBrowser(),
        startReceiver(() => ({ body: 'thanks' })),
      ]);
      shown = await ConsolePage.open(browser, server, 'console-sending', 'overview');
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

    it('first steps need no terminal, tick themselves, and survive a reload until they are closed', async () => {
      await page.getByRole('heading', { name: 'First steps' }).waitFor();
      await page.getByRole('button', { name: 'Create destination' }).click();
      await page.locator('.first-steps li.done').first().waitFor();
      expect(await shown.violations('01-first-steps')).toEqual([]);
      await page.getByRole('button', { name: 'Send sample event' }).click();
      await page.locator('.first-steps li.done').nth(1).waitFor();
      await page.reload();
      await page.locator('.first-steps li.done').nth(1).waitFor();
      expect(await shown.violations('02-first-steps-done')).toEqual([]);
      await page.locator('.first-steps .actions').last().getByRole('button').click();
      await page.reload();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      await page.locator('.totals, .total').first().waitFor();
      expect(await page.getByRole('heading', { name: 'First steps' }).count()).toBe(0);
    });

    it('a destination is created, and all of its settings are edited on one page', async () => {
      await shown.navigate('Destinations');
      await page.getByRole('button', { name: 'New destination' }).click();
      await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill(NAME);
      await page.getByRole('dialog').getByLabel('URL').fill(`${receiver.url}/orders`);
      await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
      await page.getByRole('heading', { name: 'Orders', level: 1 }).waitFor();
      destination = /dst_[0-9A-Z]{26}/.exec(page.url())?.[0] ?? '';

      await page.getByRole('link', { name: 'Edit', exact: true }).click();
      expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
      await page.getByLabel('Name', { exact: true }).fill('Shop orders');
      await page.getByLabel('URL').fill(`${receiver.url}/shop`);
      await page.getByLabel('Path', { exact: true }).check();
      await page.getByLabel('Headers added to each delivery').fill('no header');
      await page.getByText('Line 1 is not a header').waitFor();
      await page.getByLabel('Headers added to each delivery').fill('x-tenant: 42');
      await page.getByLabel('Retry schedule', { exact: true }).fill('0, 5x');
      await page.getByText('“5x” is not valid').waitFor();
      expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
      await page.getByLabel('Retry schedule', { exact: true }).fill('0, 5s, 5m');
      expect(await page.locator('.timeline li').count()).toBe(3);
      await page.getByLabel('Max deliveries per second').fill('50');
      await page.getByLabel('Max concurrent attempts').fill('10');
      await page.getByLabel('Timeout (seconds)').fill('2.5');
      await page.getByText('Additional signatures').click();
      await page.getByLabel('Also sign with an Ed25519 key').check();
      await page.getByLabel('Also send a legacy signature header').check();
      await page.getByLabel('Header', { exact: true }).fill('X-Acme-Signature');
      await page.getByLabel('Key', { exact: true }).fill('an-old-shared-secret');
      await page.getByLabel('Consecutive failures').fill('20');
      expect(await shown.violations('03-edit-destination')).toEqual([]);
      await page.getByRole('button', { name: 'Save' }).click();

      await page.getByRole('heading', { name: 'Shop orders', level: 1 }).waitFor();
      expect((await server.api('GET', `/v1/destinations/${destination}`)).json).toMatchObject({
        name: 'Shop orders',
        url: `${receiver.url}/shop`,
        forward: { method: false, path: true, query: true },
        headers: { 'x-tenant': '42' },
        retry: { max_attempts: 3, schedule: [0, 5, 300] },
        rate_limit: { per_second: 50 },
        concurrency: 10,
        timeout_ms: 2_500,
        asymmetric: true,
        legacy_signature: { header: 'X-Acme-Signature', content: '{body}', format: '{signature}' },
        config: { circuit_breaker: { failure_threshold: 20 } },
      });
    });

    it('the form for a new destination has the fields of a queue, and shows why the service rejects one', async () => {
      await shown.navigate('Destinations');
      await page.getByRole('button', { name: 'New destination' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name', { exact: true }).fill('Queue');
      await dialog.getByRole('combobox').selectOption('sqs');
      await dialog.getByLabel('Queue URL').fill('https://sqs.eu-west-1.amazonaws.com/123456789012/orders');
      await dialog.getByLabel('Region').fill('Not a region');
      await dialog.getByLabel('Access key ID').fill('AKIAIOSFODNN7EXAMPLE');
      await dialog.getByLabel('Secret access key').fill('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY');
      expect(await shown.violations('04-new-queue')).toEqual([]);
      await dialog.getByRole('button', { name: 'Create' }).click();
      await dialog.getByText('must be a region').first().waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      expect(shown.wrongs().map((line) => /status of (\d+)/.exec(line)?.[1])).toEqual(['422']);
    });

    it('an event is sent to a destination, and the response appears beside the form', async () => {
      await shown.open(`destinations/${destination}`);
      await page.getByRole('link', { name: 'Send an event' }).last().click();
      await page.getByRole('heading', { name: 'Send an event' }).waitFor();
      await pasteCode(codeEditor(page, 'Payload'), '{"id": }');
      await page.getByText('(line 1)').waitFor();
      expect(await page.getByRole('button', { name: 'Send event' }).isDisabled()).toBe(true);
      await pasteCode(codeEditor(page, 'Payload'), PAYLOAD);
      await page.getByRole('button', { name: 'Send event' }).click();
      await page.getByText('HTTP 200').waitFor();
      await page.locator('.send-result pre').getByText('thanks').waitFor();
      expect(await shown.violations('05-sent')).toEqual([]);
      expect(receiver.requests.at(-1)?.rawBody.toString()).toBe(PAYLOAD);
    });

    it('an event is sent to an application with the example of the catalogue, and to an inbound endpoint', async () => {
      await server.api('POST', '/v1/app', { uid: 'customer-42', name: 'Acme' });
      await server.api('POST', '/v1/app/customer-42/endpoints', { url: `${receiver.url}/acme` });
      await server.api('POST', '/v1/event-types', { name: 'order.shipped', example: { order: 'A-7' } });
      const endpoint = await server.api('POST', '/v1/endpoints', {
        slug: 'gitlab',
        preset: 'gitlab',
        destinations: [destination],
      });
      await server.api('PUT', `/v1/endpoints/${endpoint.json.id}/secret`, { secret: 'a-secret-of-gitlab' });
      await shown.navigate('Send an event');
      await page.getByLabel('Send to').selectOption('application');
      await page.getByRole('combobox', { name: 'Application' }).fill('Acme');
      await page.getByRole('option', { name: 'Acme' }).click();
      await page.getByLabel('Event type').fill('order.shipped');
      await page.getByRole('button', { name: 'Use example' }).click();
      await page.getByRole('button', { name: 'Send event' }).click();
      await page.getByText('Sent to endpoints: 1.').waitFor();
      await page.locator('.send-result .status.good').waitFor();
      expect(await shown.violations('06-sent-to-application')).toEqual([]);

      // While the endpoints load, the applications of the previous kind must not be offered.
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      await page.route('**/v1/endpoints?*', (route) => released.then(() => route.continue()));
      await page.getByLabel('Send to').selectOption('endpoint');
      await page.getByRole('combobox', { name: 'Inbound endpoint' }).click();
      expect(await page.getByRole('option', { name: 'Acme' }).count()).toBe(0);
      release();
      await page.getByRole('option', { name: /gitlab/ }).click();
      await page.unroute('**/v1/endpoints?*');
      await page.getByRole('button', { name: 'Send event' }).click();
      await page.getByText('The endpoint responded with HTTP').waitFor();
      expect(await shown.violations('07-sent-to-endpoint')).toEqual([]);
    });

    it('an endpoint of a customer is edited in full, and its secret is shown and rotated', async () => {
      const { id } = (await server.api('GET', '/v1/app/customer-42')).json as { id: string };
      await shown.open(`applications/${id}/endpoints`);
      await page.getByRole('link', { name: '/acme' }).click();
      await page.getByRole('button', { name: 'Show', exact: true }).click();
      const secret = await page.locator('code.secret').innerText();
      expect(secret).toMatch(/^whsec_/);
      await page.getByRole('button', { name: 'Rotate' }).click();
      await page.getByRole('dialog').getByLabel(/^Type/).fill(`${receiver.url}/acme`);
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.locator('code.secret').waitFor();
      expect(await page.locator('code.secret').innerText()).not.toBe(secret);
      await page.getByRole('link', { name: 'Edit', exact: true }).click();
      await page.getByLabel('URL').fill(`${receiver.url}/acme-2`);
      await page.getByLabel('Description').fill('Production');
      await page.getByLabel('Selected types only').check();
      await page.getByLabel('order.*').check();
      await page.getByText('UID, channels and filter').click();
      await pasteCode(codeEditor(page, 'Filter'), '{"path": "$.order", "op": "eq", "value": "A-7"}');
      await page.getByLabel('Headers added to each delivery').fill('x-tenant: 42');
      await page.getByLabel('Retry schedule', { exact: true }).fill('0, 5s, 5m');
      await page.getByLabel('Max deliveries per second').fill('50');
      await page.getByLabel('Max concurrent attempts').fill('3');
      await page.getByLabel('Timeout (seconds)').fill('2.5');
      expect(await shown.violations('08-edit-endpoint')).toEqual([]);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: '/acme-2' }).waitFor();
      const [stored] = (await server.api('GET', '/v1/app/customer-42/endpoints')).json.data as { id: string }[];
      expect((await server.api('GET', `/v1/app/customer-42/endpoints/${stored?.id}`)).json).toMatchObject({
        url: `${receiver.url}/acme-2`,
        description: 'Production',
        event_types: ['order.*'],
        filter: { path: '$.order', op: 'eq', value: 'A-7' },
        headers: { 'x-tenant': '42' },
        retry: { max_attempts: 3, schedule: [0, 5, 300] },
        rate_limit: { per_second: 50 },
        concurrency: 3,
        timeout_ms: 2_500,
      });
    });

    it('a portal link is created, shown once, opened without a sign-in, and revoked', async () => {
      const { id } = (await server.api('GET', '/v1/app/customer-42')).json as { id: string };
      await shown.open(`applications/${id}/portal`);
      await page.getByText('No active links.').waitFor();
      await page.getByLabel('Show and rotate signing secrets').uncheck();
      await page.getByLabel('Use a custom color').check();
      await page.getByLabel('Accent color').fill('#8a1c5b');
      await page.getByLabel('Font').selectOption('serif');
      await page.getByLabel('Corner radius').fill('2');
      const logo = page.getByLabel('Logo', { exact: true });
      await logo.setInputFiles({ name: 'logo.html', mimeType: 'text/html', buffer: Buffer.from(HOSTILE[1] ?? '') });
      await page.getByText('This file is not an image').waitFor();
      await logo.setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: LOGO });
      const sample = page.getByRole('img', { name: 'Preview of the portal: Dark' });
      expect(await sample.evaluate((element) => getComputedStyle(element).fontFamily)).toMatch(/, serif$/);
      expect(await sample.locator('img').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(60);
      expect(await page.getByRole('img', { name: /^Preview of the portal/ }).count()).toBe(2);
      expect(await shown.violations('09-portal')).toEqual([]);
      await page.getByRole('button', { name: 'Create link' }).click();
      const url = await page.locator('code.secret').innerText();
      await page.getByRole('cell', { name: 'Resend deliveries' }).waitFor();
      expect(await shown.violations('10-portal-link')).toEqual([]);
      const customer = await browser.newPage();
      await customer.goto(url);
      await customer.getByText('/acme').first().waitFor();
      const [font, width] = await customer.evaluate(() => [
        getComputedStyle(document.body).fontFamily,
        document.querySelector<HTMLImageElement>('.brand img')?.naturalWidth,
      ]);
      expect([font, width]).toEqual([expect.stringMatching(/, serif$/), 60]);
      await customer.close();

      await page.getByRole('button', { name: /^Actions for / }).click();
      await page.getByRole('menuitem', { name: 'Revoke' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await page.getByText('No active links.').waitFor();
      const refused = await browser.newPage();
      await refused.goto(url);
      await refused.getByText('/acme').first().waitFor({ state: 'detached' });
      expect(await refused.getByText('/acme').count()).toBe(0);
      await refused.close();

      await page.reload();
      await sample.locator('img').waitFor();
      expect(await page.getByLabel('Font').inputValue()).toBe('serif');
      expect(await page.getByLabel('Corner radius').inputValue()).toBe('2');
      await page.getByRole('button', { name: 'Preview portal' }).click();
      const [preview] = await Promise.all([
        page.context().waitForEvent('page'),
        page.getByRole('dialog').getByRole('button', { name: 'Open', exact: true }).click(),
      ]);
      await preview.getByText('/acme').first().waitFor();
      expect(await preview.evaluate(() => getComputedStyle(document.body).fontFamily)).toMatch(/, serif$/);
      await page.getByRole('cell', { name: 'Preview' }).waitFor();
      await preview.close();
    });
  },
);
