import type { Browser, Page } from 'playwright-core';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { codeEditor, pasteCode } from '../support/code-editor.js';
import { ConsolePage, HOSTILE, WAIT_MS_MAX } from '../support/console-page.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

const OPENAPI = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Webhooks', version: '1' },
  webhooks: {
    'order.shipped': {
      post: {
        summary: 'An order left',
        requestBody: {
          content: {
            'application/json': {
              schema: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
            },
          },
        },
      },
    },
  },
});

(isChromiumInstalled() ? describe : describe.skip)('applications and event types in the console', () => {
  let server: PosthornServer;
  let browser: Browser;
  let receiver: Receiver;
  let shown: ConsolePage;
  let page: Page;
  let acme: string;

  beforeAll(async () => {
    [server, browser, receiver] = await Promise.all([
      sharedServer(),
      startBrowser(),
      startReceiver(({ path }) => (path.includes('broken') ? { status: 410, body: 'gone' } : { body: 'thanks' })),
    ]);
    shown = await ConsolePage.open(browser, server, 'console-applications', 'applications');
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

  const tab = async (name: string): Promise<void> => {
    await page
      .getByRole('navigation', { name: 'Application sections' })
      .getByRole('link', { name, exact: true })
      .click();
  };

  it('first steps: a customer and an endpoint of theirs are created, and the secret is shown once', async () => {
    await page.getByText('No applications yet').waitFor();
    expect(await shown.violations('01-empty')).toEqual([]);
    await page.getByRole('button', { name: 'New application' }).click();
    await page
      .getByRole('dialog')
      .getByLabel('Name')
      .fill(`Acme ${HOSTILE[0] ?? ''}`);
    await page.getByRole('dialog').getByLabel('UID', { exact: true }).fill('customer-42');
    expect(await shown.violations('02-new')).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Acme' }).waitFor();
    acme = /app_[0-9A-Z]{26}/.exec(page.url())?.[0] ?? '';

    await tab('Endpoints');
    await page.getByText('No endpoints yet').waitFor();
    await page.getByRole('button', { name: 'New endpoint' }).click();
    await page.getByRole('dialog').getByLabel('URL').fill(`${receiver.url}/acme`);
    await page.getByRole('dialog').getByLabel('Selected types only').check();
    for (const pattern of ['invoice.*', 'order.shipped']) {
      await page.getByRole('dialog').getByLabel('Other type or pattern').fill(pattern);
      await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
    }
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    const secret = await page.locator('code.secret').innerText();
    expect(secret).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'Close' }).click();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole('cell', { name: 'invoice.*, order.shipped' }).waitFor();
    expect(await shown.violations('03-endpoints')).toEqual([]);
  });

  it('messages of an application are listed, and its figures are shown as a plot and as a table', async () => {
    for (let i = 0; i < 3; i += 1)
      await server.api('POST', '/v1/app/customer-42/event', { event_type: 'invoice.paid', payload: { i } });
    await server.api('POST', '/v1/app/customer-42/event', {
      event_type: 'user.created',
      channels: ['project-42'],
      payload: {},
    });
    await tab('Messages');
    await page.getByText('1 endpoint').nth(2).waitFor();
    await page.getByText('No subscribers').waitFor();
    expect(await shown.violations('04-messages')).toEqual([]);
    await tab('Metrics');
    await page.locator('.tiles dd', { hasText: /^3$/ }).nth(1).waitFor();
    await page.getByText('View as table Outcomes').click();
    expect(await shown.violations('05-figures')).toEqual([]);
    await page.getByRole('link', { name: '1 h', exact: true }).click();
    await page.waitForURL('**/applications/*?range=1h');
  });

  it('one endpoint: attempts, a test event, other event types, disabled and enabled', async () => {
    await tab('Endpoints');
    await page.getByRole('link', { name: '/acme' }).click();
    await page.getByText('HTTP 200').first().waitFor();
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByRole('dialog').getByLabel('Event type').fill('invoice.tested');
    await page.getByRole('dialog').getByRole('button', { name: 'Send test event' }).click();
    await page.getByRole('cell', { name: 'invoice.tested' }).waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('button', { name: 'Remove order.shipped' }).click();
    await page.getByLabel('Other type or pattern').fill('user.created');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('invoice.*, user.created').waitFor();
    for (const [act, next] of [
      ['Disable', 'Enable'],
      ['Enable', 'Disable'],
    ] as const) {
      await page.getByRole('button', { name: act, exact: true }).click();
      await page.getByRole('button', { name: next, exact: true }).waitFor();
      await page.getByText(`/acme ${act.toLowerCase()}d`).waitFor();
    }
    await page.getByRole('button', { name: 'Send test event' }).waitFor();
    const labels = page.getByRole('button', { name: /^(Delete|Metadata)/ });
    for (const label of await labels.all()) expect(await label.getAttribute('aria-label')).toMatch(/: http.*\/acme$/);
    expect(await labels.count()).toBe(2);
    expect(await shown.violations('06-endpoint')).toEqual([]);
  });

  it('the event of an endpoint of a customer shows the name of the endpoint, which links to its events', async () => {
    await page.locator('tbody').getByRole('link').first().click();
    const name = page.locator('dl.facts').getByRole('link', { name: `${new URL(receiver.url).host}/acme` });
    await name.waitFor();

    expect(await name.getAttribute('href')).toMatch(/\/events\?endpoint=ep_[0-9A-Z]{26}$/);
    expect(await page.locator('dl.facts').getByText(/^ep_/).count()).toBe(0);
    expect(await shown.violations('06-event')).toEqual([]);
  });

  it('a failing customer is highlighted in the list and found by uid, and a job recovers the failed events', async () => {
    await server.api('POST', '/v1/app', { uid: 'broken-inc', name: 'Broken Inc.' });
    await server.api('POST', '/v1/app/broken-inc/endpoints', { url: `${receiver.url}/broken` });
    await server.api('POST', '/v1/app/broken-inc/event', { event_type: 'invoice.paid', payload: {} });
    for (
      let tries = 0;
      (await server.api('GET', '/v1/metrics/applications')).json.data.length === 0 && tries < 200;
      tries += 1
    )
      await new Promise((resolve) => setTimeout(resolve, 100));
    await shown.open('applications');
    await page.getByRole('heading', { name: 'Failing in the last 24 hours' }).waitFor();
    await page.getByText('100% of attempts failed').waitFor();
    expect(await shown.violations('07-list')).toEqual([]);
    await page.getByLabel('Name or UID starts with').fill('broken');
    await page.keyboard.press('Enter');
    await page.locator('.heading .count').getByText('1', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Broken Inc.' }).click();
    await tab('Replay');
    const recover = page.getByRole('form', { name: 'Retry failed' });
    await recover.getByLabel('From').fill('2026-01-01T00:00:00');
    expect(await shown.violations('08-repair')).toEqual([]);
    await recover.getByRole('button', { name: 'Retry failed' }).click();
    await page.getByRole('dialog').getByText('Live').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry failed' }).click();
    expect(await recover.getByRole('link', { name: 'View job' }).getAttribute('href')).toMatch(
      /\/console\/live\/jobs\/rpj_/,
    );
  });

  it('the portal opens on a separate page as the customer sees it, without changes, and the audit log records it', async () => {
    await page.getByRole('button', { name: 'Preview portal' }).click();
    await page.getByRole('dialog').getByText('for 15 minutes').waitFor();
    expect(await shown.violations('08-preview')).toEqual([]);
    const [portal] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('dialog').getByRole('button', { name: 'Open', exact: true }).click(),
    ]);
    await portal.getByText('/broken').first().waitFor();
    expect(portal.url()).toMatch(/\/portal\/pls_[0-9A-Z]{26}$/);
    expect(await portal.getByRole('button', { name: /add|delete|disable|send|recover/i }).count()).toBe(0);
    await portal.close();
    const {
      data: [entry],
    } = (await server.api('GET', '/v1/audit?limit=1')).json;
    expect(entry).toMatchObject({ action: 'POST /v1/app/:app/portal/preview' });
  });

  it('the command menu opens an application by its id, and it is renamed and then deleted by typing its name', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search by ID' }).fill(acme);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Acme' }).waitFor();
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    await tab('Settings');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Acme Corporation');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Acme Corporation' }).waitFor();
    await page.getByRole('button', { name: 'Metadata: Acme Corporation' }).click();
    await page.getByLabel('Name and value, one pair per line').fill('plan: pro\nno value');
    await page.getByText('Line 2 is invalid.').waitFor();
    await page.getByLabel('Name and value, one pair per line').fill(`plan: pro\nnote: ${HOSTILE[0] ?? ''}`);
    expect(await shown.violations('08-metadata')).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.locator('.tag', { hasText: 'plan: pro' }).waitFor();
    expect((await server.api('GET', '/v1/app/customer-42')).json.metadata).toEqual({ plan: 'pro', note: HOSTILE[0] });
    await page.getByRole('button', { name: 'Delete: Acme Corporation' }).click();
    await page.getByRole('dialog').getByLabel(/^Type/).fill('Acme Corporation');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.locator('.heading .count').getByText('1', { exact: true }).waitFor();
    expect((await server.api('GET', '/v1/app/customer-42')).status).toBe(404);
  });

  it('event types: one is created with a schema and an example, is enforced, and has versions', async () => {
    await shown.navigate('Event types');
    await page.getByText('No event types yet').waitFor();
    await page.getByRole('button', { name: 'New event type' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('invoice.paid');
    await page.getByRole('dialog').getByLabel('Group').fill('Billing');
    await page
      .getByRole('dialog')
      .getByLabel('Description')
      .fill(`Paid ${HOSTILE[0] ?? ''}`);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'invoice.paid' }).waitFor();
    const schema = codeEditor(page, 'Schema (JSON Schema');
    await pasteCode(schema, '{\n  "type": "object",\n}');
    await page.getByText('(line 3)').waitFor();
    for (const field of [schema, codeEditor(page, 'Example payload')]) {
      await pasteCode(field, '{\n"maximum": 9223372036854775807}');
      await page.getByText(/^✕ 9223372036854775807 cannot be stored exactly\..*\(line 2\)$/).waitFor();
      expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
      await pasteCode(field, '');
    }
    await pasteCode(
      schema,
      '{"type": "object", "required": ["amount"], "properties": {"amount": {"type": "integer"}}}',
    );
    await pasteCode(codeEditor(page, 'Example payload'), '{"amount": 4200}');
    await page.getByText('Saving creates version 2').waitFor();
    await page.getByLabel('Reject payloads').check();
    expect(await shown.violations('09-event-type')).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('summary', { hasText: 'Version 2' }).waitFor();
    expect((await server.api('GET', '/v1/event-types/invoice.paid')).json).toMatchObject({
      enforce: true,
      example: { amount: 4200 },
      version: 2,
    });
  });

  it('subscribers of all customers are listed: by name, by prefix and to all event types', async () => {
    await server.api('POST', '/v1/app', { uid: 'other', name: `Other ${HOSTILE[0] ?? ''}` });
    await server.api('POST', '/v1/app/other/endpoints', { url: `${receiver.url}/users`, event_types: ['user.*'] });
    await server.api('POST', '/v1/app/other/endpoints', {
      url: `${receiver.url}/invoices`,
      event_types: ['invoice.*'],
      channels: ['eu'],
      filter: { path: '$.amount', op: 'gte', value: '1' },
    });
    await page.reload();
    const subscribers = page.getByRole('region', { name: 'Subscribers' }).getByRole('listitem');
    await subscribers.nth(1).waitFor();
    expect(
      (await subscribers.allInnerTexts()).map((text) => [
        /\/(\w+)\n/.exec(text)?.[1],
        /invoice\.\* · channels: eu|All types/.exec(text)?.[0],
        text.includes('filtered'),
      ]),
    ).toEqual([
      ['invoices', 'invoice.* · channels: eu', true],
      ['broken', 'All types', false],
    ]);
    await page.getByRole('link', { name: 'Broken Inc.', exact: true }).first().waitFor();
    expect(await shown.violations('09-subscribers')).toEqual([]);
  });

  it('an example that does not match its schema is reported by the service, with the position', async () => {
    await pasteCode(codeEditor(page, 'Example payload'), '{"amount": "much"}');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.fault code', { hasText: 'example' }).first().waitFor();

    // The browser logs the 422 as an error.
    expect(shown.wrongs().filter((line) => !line.includes('422'))).toEqual([]);
  });

  it('an OpenAPI document is imported after a preview of the changes, and an event type is archived', async () => {
    await shown.navigate('Event types');
    await page.getByRole('button', { name: 'Import' }).click();
    await pasteCode(
      codeEditor(page, 'OpenAPI document'),
      OPENAPI.replace('{"type":"string"}', '\n{"type":"integer","maximum":9223372036854775807}'),
    );
    await page.getByText(/^✕ 9223372036854775807 cannot be stored exactly\..*\(line 2\)$/).waitFor();
    expect(await page.getByRole('button', { name: 'Preview changes' }).isEnabled()).toBe(true);
    await pasteCode(codeEditor(page, 'OpenAPI document'), OPENAPI);
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByText('Preview:').waitFor();
    expect(await shown.violations('10-import')).toEqual([]);
    expect((await server.api('GET', '/v1/event-types/order.shipped')).status).toBe(404);
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
    await page.getByText('Import complete.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('link', { name: 'order.shipped' }).waitFor();
    expect(await shown.violations('11-event-types')).toEqual([]);
    await page.getByRole('link', { name: 'order.shipped' }).click();
    await page.getByRole('button', { name: 'Archive' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
    await page.getByRole('button', { name: 'Restore' }).waitFor();
    await shown.open('event-types?archived=true');
    await page.getByRole('link', { name: 'order.shipped' }).waitFor();
    await shown.open('event-types');
    await page.getByRole('link', { name: 'invoice.paid' }).waitFor();
    expect(await page.getByRole('link', { name: 'order.shipped' }).count()).toBe(0);
  });

  it('a user with the role read sees no button that the API would refuse, in German', async () => {
    const app = (await server.api('GET', '/v1/app/broken-inc')).json.id as string;
    const { key } = (await server.api('POST', '/v1/keys', { name: 'Reader', scope: 'read' })).json as { key: string };
    const reader = await ConsolePage.open(browser, server, 'console-applications-reader', 'applications', key);
    await reader.page.evaluate(() => localStorage.setItem('posthorn.preferences', JSON.stringify({ language: 'de' })));
    for (const place of [
      'applications',
      `applications/${app}`,
      `applications/${app}/endpoints`,
      `applications/${app}/messages`,
      `applications/${app}/repair`,
      `applications/${app}/settings`,
      'event-types',
      'event-types/invoice.paid',
    ]) {
      await reader.open(place);
      await reader.page.getByText('Nur Lesezugriff.').first().waitFor();
      await reader.page.getByText('Lädt …').first().waitFor({ state: 'detached', timeout: WAIT_MS_MAX });
      expect(
        await reader.page
          .locator('main')
          .getByRole('button', { name: /speichern|löschen|neue|importieren|archivieren|senden|wiederholen/i })
          .count(),
      ).toBe(0);
    }
    await reader.screenshot('12-reader-german');
    expect(reader.wrongs()).toEqual([]);
    await reader.page.close();
  });
});
