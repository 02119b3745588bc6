import type { Browser, Page } from 'playwright-core';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { codeEditor, codeOf, pasteCode } from '../support/code-editor.js';
import { ConsolePage, HOSTILE, WAIT_MS_MAX } from '../support/console-page.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

const SECRET = 'a-secret-of-github';
const TOO_MANY_DIGITS = /^✕ 12345678901234567890 cannot be stored exactly\..*\(line 2\)$/;

(isChromiumInstalled() ? describe : describe.skip)('inbound endpoints in the console', () => {
  let server: PosthornServer;
  let browser: Browser;
  let receiver: Receiver;
  let shown: ConsolePage;
  let page: Page;
  let orders: string;
  let endpoint: string;

  beforeAll(async () => {
    [server, browser, receiver] = await Promise.all([
      sharedServer(),
      startBrowser(),
      startReceiver(() => ({ body: 'thanks' })),
    ]);
    orders = (
      await server.api('POST', '/v1/destinations', {
        name: `Orders ${HOSTILE[0] ?? ''}`,
        type: 'https',
        url: `${receiver.url}/orders`,
      })
    ).json.id as string;
    await server.api('POST', '/v1/secrets', { name: 'CRM_TOKEN', value: 'tok-very-secret' });
    shown = await ConsolePage.open(browser, server, 'console-endpoints', 'endpoints');
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

  /** Waits for the number of endpoints beside the heading of the list. */
  const counted = (count: string): Promise<void> =>
    page.locator('.heading .count').getByText(count, { exact: true }).waitFor();
  const tab = async (name: string): Promise<void> => {
    await page.getByRole('navigation', { name: 'Endpoint sections' }).getByRole('link', { name, exact: true }).click();
  };

  it('first steps: a provider is found, an endpoint created, and its page shows the setup steps', async () => {
    await page.getByText('No inbound endpoints yet').waitFor();
    expect(await shown.violations('01-empty')).toEqual([]);
    await page.getByRole('button', { name: 'New endpoint' }).click();
    await page.getByRole('dialog').getByText('Stripe').waitFor();
    const { data: presets } = (await server.api('GET', '/v1/presets')).json as { data: unknown[] };
    expect(await page.getByRole('radio').count()).toBe(presets.length + 1);

    await page.getByLabel('Search providers').fill('github');
    await page.keyboard.press('Enter');
    expect(await page.getByLabel('Slug').inputValue()).toBe('github');
    expect(await shown.violations('02-new')).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Connect GitHub' }).waitFor();
    endpoint = page.url().split('/').at(-1) ?? '';
    expect(endpoint).toMatch(/^ep_/);
    const { url } = (await server.api('GET', `/v1/endpoints/${endpoint}`)).json as { url: string };
    expect(await page.locator('.setup-steps').innerText()).toContain(url);
    await page.locator('.setup-steps').getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
  });

  it('the secret is set and never shown, and a sample event is received and can be read', async () => {
    await page.getByRole('button', { name: 'Set secret' }).click();
    await page.getByRole('dialog').getByLabel('Secret', { exact: true }).fill(SECRET);
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Replace secret' }).waitFor();
    expect(await page.content()).not.toContain(SECRET);

    await page.getByRole('button', { name: 'Send sample event' }).click();
    await page.getByText('The signature is valid.').waitFor();
    expect(await shown.violations('03-setup')).toEqual([]);
    await page.getByRole('link', { name: 'View request' }).click();
    await page.getByRole('heading', { name: 'Headers' }).waitFor();
    await page.getByRole('cell', { name: 'x-github-event' }).waitFor();
    expect(await shown.violations('04-request')).toEqual([]);
  });

  it('a refused request shows its reason, is replayed with the right secret, and hostile headers and bodies are shown as text', async () => {
    const { url } = (await server.api('GET', `/v1/endpoints/${endpoint}`)).json as { url: string };
    const body = JSON.stringify({ action: HOSTILE[1], text: HOSTILE });
    await fetch(url, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'issues',
        'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
        'x-hostile': HOSTILE[0] ?? '',
      },
    });
    await tab('Requests');
    await page.getByLabel('Outcome').selectOption('quarantined');
    await page.getByText('The signature is invalid').waitFor();
    expect(page.url()).toContain('status=quarantined');
    expect(await shown.violations('05-requests')).toEqual([]);
    await page.getByRole('row').nth(1).getByRole('link').click();
    await page.getByText('Correct the secret').waitFor();

    for (const text of HOSTILE.slice(0, 2))
      expect(await page.locator('main').innerText()).toContain(JSON.stringify(text).slice(1, -1));
    expect(await page.locator('main :is(img, svg:not(.copy-icon > .icon)), script:not([src])').count()).toBe(0);
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('dialog').getByText('Live').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
    await page.getByText('Replay of', { exact: true }).waitFor();
  });

  it('a route is created, and its filter is tested on a stored request while it is typed', async () => {
    await tab('Routes');
    await page.getByText('No routes yet').waitFor();
    await page.getByRole('button', { name: 'New route' }).click();
    await page.getByLabel('Destination').selectOption(orders);
    await page.getByText('Matches this request').waitFor();
    await page.getByRole('textbox', { name: 'Path' }).fill('$.action');
    await page.getByRole('textbox', { name: 'Value' }).fill('opened');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('Does not match this request').waitFor();
    expect(JSON.parse(await codeOf(codeEditor(page, 'Filter (JSON')))).toEqual({
      path: '$.action',
      op: 'eq',
      value: 'opened',
    });
    const sample = (await server.api('GET', `/v1/endpoints/${endpoint}/requests?status=ignored`)).json.data[0] as {
      id: string;
    };
    await page.getByLabel('Stored request').selectOption(sample.id);
    expect(await shown.violations('06-route-editor')).toEqual([]);

    await pasteCode(codeEditor(page, 'Filter (JSON'), '{\n  "path": \n}');
    await page.getByText('(line 3)').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await pasteCode(codeEditor(page, 'Filter (JSON'), '{ "path": "$.id",\n"op": "eq", "value": 12345678901234567890 }');
    await page.getByText(TOO_MANY_DIGITS).waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await pasteCode(codeEditor(page, 'Filter (JSON'), '{ "type": "header", "name": "x-github-event", "op": "exists" }');
    await page.getByText('Matches this request').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: '→ Orders' }).waitFor();
    await page.getByText('Matches this request').waitFor();
    expect(await shown.violations('07-routes')).toEqual([]);
    await page.getByRole('button', { name: 'Edit: Orders' }).click();
    await pasteCode(codeEditor(page, 'Filter (JSON'), '');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('All events', { exact: true }).waitFor();
    expect((await server.api('GET', `/v1/endpoints/${endpoint}`)).json.routes).toMatchObject([
      { destination: orders, filter: null },
    ]);
  });

  it('a transform is written, runs on a stored request in the sandbox, reports the line of an error, and is saved', async () => {
    await tab('Transform');
    await page.getByLabel('Transform type').selectOption('managed');
    const code = codeEditor(page, /^Code$/);
    await pasteCode(code, 'export default (event) => {\n  return event.body.missing.member;\n};');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Transform failed').waitFor();
    await page.locator('.cm-lineNumbers .faulty', { hasText: '2' }).waitFor();
    expect(await shown.violations('08-transform-failed')).toEqual([]);
    await pasteCode(
      code,
      'export default (event, { secrets }) => ({ ...event, event_type: "hub." + event.event_type, body: { token: secrets.CRM_TOKEN } });',
    );
    await page.keyboard.press('Control+Enter');
    await page.getByText('Transform succeeded').waitFor();
    expect(await page.getByLabel('Transformed body').innerText()).toContain('(CRM_TOKEN)');
    expect(await page.content()).not.toContain('tok-very-secret');
    expect(await shown.violations('09-transform')).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
    expect((await server.api('GET', `/v1/endpoints/${endpoint}`)).json.transform).toMatchObject({
      engine: 'managed',
      failMode: 'closed',
    });

    // Tab indents, and Escape followed by Tab leaves the field, so keyboard users are not trapped.
    await code.focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Tab');
    expect(await codeOf(code)).toMatch(/^ {2}export/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    expect(await code.evaluate((element) => element === document.activeElement)).toBe(false);
  });

  it('response rules are tested and saved', async () => {
    await tab('Responses');
    await page.getByRole('button', { name: 'Insert example' }).click();
    await page.getByText('No matching rule').waitFor();
    await pasteCode(
      codeEditor(page, 'Rules (JSON'),
      '{ "rules":\n[{ "when": { "path": "$.id", "op": "eq", "value": 12345678901234567890 } }] }',
    );
    await page.getByText(TOO_MANY_DIGITS).waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).first().isDisabled()).toBe(true);
    await pasteCode(
      codeEditor(page, 'Rules (JSON'),
      JSON.stringify({
        rules: [
          { when: { type: 'header', name: 'x-github-event', op: 'exists' }, respond: { status: 202, body: 'noted' } },
        ],
      }),
    );
    await page.getByText('Rule 1 matches').waitFor();
    expect(await page.getByLabel('Response', { exact: true }).innerText()).toMatch(/HTTP 202[^]*noted/);
    expect(await shown.violations('10-answers')).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
    expect((await server.api('GET', `/v1/endpoints/${endpoint}`)).json.responseRules).toMatchObject({
      rules: [{ respond: { status: 202 } }],
    });
  });

  it('a custom response is written as code, saved with its defaults, and removed', async () => {
    const form = page.getByRole('form', { name: 'Custom response' });
    for (const save of await page.getByRole('button', { name: 'Save' }).all())
      expect(await save.isDisabled()).toBe(true);
    await form.getByLabel('Response source').selectOption('managed');
    await form.getByRole('button', { name: 'Insert example' }).click();
    await form.getByLabel('Timeout').fill('300');
    await form.getByLabel('On failure').selectOption('error');
    expect(await shown.violations('10-own-answer')).toEqual([]);
    const saved = async (): Promise<void> =>
      void (await Promise.all([
        page.waitForResponse((response) => response.request().method() === 'PATCH'),
        form.getByRole('button', { name: 'Save' }).click(),
      ]));
    await saved();
    expect((await server.api('GET', `/v1/endpoints/${endpoint}`)).json.responseProxy).toEqual({
      target: 'managed',
      code: expect.stringContaining('export default'),
      timeoutMs: 300,
      onUnavailable: 'error',
    });
    await form.getByLabel('Response source').selectOption('');
    await saved();
    expect((await server.api('GET', `/v1/endpoints/${endpoint}`)).json.responseProxy).toBeNull();
  });

  it('settings are changed, and held requests are counted, released, and followed as a job', async () => {
    await tab('Settings');
    await page.getByLabel('Name', { exact: true }).fill(`Hub ${HOSTILE[3] ?? ''}`);
    await page.getByRole('checkbox', { name: 'POST' }).check();
    await page.getByLabel('Duplicates').selectOption('provider_id');
    expect(await shown.violations('11-settings')).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Hub <' }).waitFor();
    expect((await server.api('GET', `/v1/endpoints/${endpoint}`)).json).toMatchObject({
      allowed_methods: ['POST'],
      deduplicate: { source: 'provider_id' },
    });

    await tab('Replay');
    await page.getByRole('button', { name: 'Preview' }).first().click();
    await page.getByText('would be replayed').waitFor();
    await page.getByRole('button', { name: /^Replay \(\d+\)/ }).click();
    await page.getByRole('dialog').getByText('Live').waitFor();
    expect(await shown.violations('12-replay')).toEqual([]);
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Replay/ })
      .click();
    const job = (await page.getByRole('link', { name: 'View job' }).getAttribute('href')) ?? '';
    expect(job).toMatch(/\/console\/live\/jobs\/rpj_/);
    await page.getByRole('button', { name: 'Preview' }).last().click();
    await page.getByText('would be processed').waitFor();
    const { data } = (await server.api('GET', `/v1/replays?endpoint=${endpoint}`)).json as {
      data: { id: string; kind: string }[];
    };
    expect(data.map(({ id, kind }) => [id, kind])).toEqual([[job.split('/').at(-1), 'range']]);
  });

  it('with more than 100 destinations, a route finds an older one by its name, and other text is not taken', async () => {
    const older = 'Archive of all invoices';
    const { id } = (await server.api('POST', '/v1/destinations', { name: older, type: 'pull' })).json as { id: string };
    for (let number = 0; number < 100; number += 1)
      await server.api('POST', '/v1/destinations', { name: `Filler ${number}`, type: 'pull' });
    await shown.open(`endpoints/${endpoint}/routes`);
    // Forgets the list of destinations that an earlier test loaded.
    await page.reload();
    await page.getByRole('button', { name: 'New route' }).click();
    // Before the list is loaded, the field is an empty pick list.
    const field = page.getByRole('combobox', { name: 'Destination' }).and(page.locator('input'));
    await field.fill('nothing like this');
    await page.getByRole('button', { name: 'Cancel' }).focus();
    expect(await field.inputValue()).toBe('');
    await field.fill('archive');
    await page.getByRole('option', { name: older }).click();
    expect(await field.inputValue()).toBe(older);
    expect(await shown.violations('12-route-search')).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'New route' }).waitFor();
    const { routes } = (await server.api('GET', `/v1/endpoints/${endpoint}`)).json as {
      routes: { destination: string }[];
    };
    expect(routes.map(({ destination }) => destination)).toContain(id);
  });

  it('an endpoint is paused, found in the list by its name, and deleted by typing the name', async () => {
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('requests get a response and are parked').waitFor();
    await server.api('POST', '/v1/endpoints', { slug: 'other', preset: 'stripe' });
    await shown.navigate('Inbound endpoints');
    await counted('2');
    expect(await shown.violations('13-list')).toEqual([]);
    await page.getByLabel('Name or slug starts with').fill('hub');
    await page.keyboard.press('Enter');
    await counted('1');
    expect(page.url()).toContain('search=hub');
    await page.getByRole('link', { name: 'Hub' }).click();
    await tab('Settings');
    await page.getByRole('button', { name: 'Delete: Hub' }).click();
    await page
      .getByRole('dialog')
      .getByLabel(/^Type/)
      .fill(`Hub ${HOSTILE[3] ?? ''}`);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await counted('1');
    expect((await server.api('GET', `/v1/endpoints/${endpoint}`)).status).toBe(404);
  });

  it('a user with the role read sees no button that the API would refuse, in German', async () => {
    const { id } = (
      await server.api('POST', '/v1/endpoints', {
        slug: 'read',
        destinations: [orders],
        transform: { engine: 'managed', code: 'export default (event) => event' },
      })
    ).json as { id: string };
    const { key } = (await server.api('POST', '/v1/keys', { name: 'Reader', scope: 'read' })).json as { key: string };
    const reader = await ConsolePage.open(browser, server, 'console-endpoints-reader', `endpoints/${id}`, key);
    await reader.page.getByRole('heading', { name: 'Connect your sender' }).waitFor();
    await reader.page.evaluate(() => localStorage.setItem('posthorn.preferences', JSON.stringify({ language: 'de' })));
    for (const place of ['', '/requests', '/routes', '/transform', '/answers', '/replay', '/settings']) {
      await reader.open(`endpoints/${id}${place}`);
      await reader.page.getByRole('navigation', { name: 'Bereiche des Endpunkts' }).waitFor();
      await reader.page.getByText('Lädt …').first().waitFor({ state: 'detached', timeout: WAIT_MS_MAX });
      expect(
        await reader.page
          .locator('main')
          .getByRole('button', { name: /speichern|löschen|pausieren|senden|neue|festlegen|vorschau|ausführen/i })
          .count(),
      ).toBe(0);
    }
    await reader.screenshot('14-reader-german');
    expect(reader.wrongs()).toEqual([]);
    await reader.page.close();
  });
});
