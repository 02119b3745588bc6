import { createHmac } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { codeEditor, codeOf, pasteCode } from '../support/code-editor.js';
import { ConsolePage, HOSTILE } from '../support/console-page.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

const SECRET = 'a-secret-of-acme';
const FAILING = `export default (event) => {
  console.log('type is', event.body.type);
  console.warn(${JSON.stringify(HOSTILE[0])});
  return event.body.customer.name;
};`;

(isChromiumInstalled() ? describe : describe.skip)('settings of inbound endpoints in the console', () => {
  let server: PosthornServer;
  let browser: Browser;
  let receiver: Receiver;
  let shown: ConsolePage;
  let page: Page;
  let endpoint: string;
  let url: string;
  let destination: string;

  beforeAll(async () => {
    [server, browser, receiver] = await Promise.all([
      sharedServer(),
      startBrowser(),
      startReceiver(() => ({ body: 'thanks' })),
    ]);
    destination = (
      await server.api('POST', '/v1/destinations', { name: 'Orders', type: 'https', url: `${receiver.url}/orders` })
    ).json.id as string;
    const made = (await server.api('POST', '/v1/endpoints', { slug: 'acme', destinations: [destination] })).json as {
      id: string;
      url: string;
    };
    endpoint = made.id;
    url = made.url;
    shown = await ConsolePage.open(browser, server, 'inbound', `endpoints/${endpoint}/settings`);
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
    await page.getByRole('navigation', { name: 'Endpoint sections' }).getByRole('link', { name, exact: true }).click();
  };
  const settings = async (): Promise<Record<string, unknown>> =>
    (await server.api('GET', `/v1/endpoints/${endpoint}`)).json as Record<string, unknown>;
  const save = async (): Promise<void> =>
    void (await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'PATCH' && response.ok()),
      page.getByRole('button', { name: 'Save' }).first().click(),
    ]));

  /** Checks that the page recorded no errors besides the API's response to invalid settings. */
  const expectRefusals = (): void => {
    const lines = shown.wrongs();
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => !line.includes('422'))).toEqual([]);
  };

  it('a composite signature header is set up in the form, and a request signed this way is valid', async () => {
    await page.getByRole('combobox', { name: 'Signature', exact: true }).selectOption('hmac-sha256');
    await page.getByLabel('Header name').fill('x-acme-signature');
    await page.getByLabel('Header value').selectOption('parts');
    await page.getByRole('combobox', { name: 'Timestamp', exact: true }).selectOption('part');
    await page.getByLabel('Tolerance (seconds)').fill('120');
    await page.getByRole('button', { name: 'Insert {{timestamp}}' }).click();
    await page.getByRole('textbox', { name: 'Signed content' }).press('End');
    await page.keyboard.type(':{{body}}');
    expect(await page.getByLabel('Example of an accepted request').innerText()).toMatch(
      /^x-acme-signature: t=1795253400,v1=5257[^]*\{\{timestamp\}\}:\{\{body\}\}$/,
    );
    await page.getByLabel('Max body size').fill('2');
    expect(await shown.violations('01-signature')).toEqual([]);
    await save();
    expect(await settings()).toMatchObject({
      verification: 'hmac-sha256',
      max_body_bytes: 2_097_152,
      verificationConfig: {
        header: 'x-acme-signature',
        signatureField: 'v1',
        timestampField: 't',
        toleranceSeconds: 120,
        signed: '{{timestamp}}:{{body}}',
      },
    });

    await page.getByText('all requests are quarantined').waitFor();
    await page.getByRole('button', { name: 'Set secret' }).click();
    await page.getByRole('dialog').getByLabel('Secret', { exact: true }).fill(SECRET);
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Replace secret' }).waitFor();
    const body = JSON.stringify({ type: 'order.paid', items: [{ sku: 'a' }], 'it is': 1 });
    const time = Math.floor(Date.now() / 1000);
    const signature = createHmac('sha256', SECRET).update(`${time}:${body}`).digest('hex');
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-acme-signature': `t=${time},v1=${signature}` },
    });
    expect(response.status).toBe(200);
    const { data } = (await server.api('GET', `/v1/endpoints/${endpoint}/requests`)).json as {
      data: { verified: boolean }[];
    };
    expect(data[0]?.verified).toBe(true);
  });

  it('the settings are edited as JSON, with the line of an error, and as a form again', async () => {
    await page.getByRole('button', { name: 'Edit as JSON' }).click();
    const json = codeEditor(page, /^Signature settings \(JSON\)/);
    const before = await codeOf(json);
    await pasteCode(json, '{\n  "header": x\n}');
    await page.getByText('(line 2)').waitFor();
    await page.locator('.code-line.faulty').waitFor();
    await json.focus();
    await page.getByRole('button', { name: 'Go to line 2' }).click();
    expect(
      await json.evaluate(() => {
        const { anchorNode, anchorOffset } = document.getSelection() as Selection;
        const line = (anchorNode instanceof Element ? anchorNode : anchorNode?.parentElement)?.closest('.cm-line');
        return [line?.textContent, anchorOffset];
      }),
    ).toEqual(['  "header": x', 0]);
    expect(await shown.violations('02-json')).toEqual([]);
    await pasteCode(json, '{\n  "header": "x-acme-signature",\n  "toleranceSeconds": 5\n}');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('(line 3)').waitFor();
    expectRefusals();
    await pasteCode(json, before);
    await page.getByRole('button', { name: 'Edit as form' }).click();
    expect(await page.getByLabel('Part with the timestamp').inputValue()).toBe('t');
  });

  it('tokens and keys in the query have their own forms', async () => {
    await page.getByRole('combobox', { name: 'Signature', exact: true }).selectOption('jwt-hs256');
    await page.getByLabel('Issuer (iss)').fill('https://issuer.example.com');
    await page.getByLabel('Required claims').fill('team');
    await page.getByText('Line 1 is not a claim').waitFor();
    await page.getByLabel('Required claims').fill('team=billing');
    expect(await shown.violations('03-token')).toEqual([]);
    await page.getByRole('combobox', { name: 'Signature', exact: true }).selectOption('api-key');
    await page.getByLabel('Sent in').selectOption('query');
    await page.getByLabel('Query parameter').fill('key');
    await save();
    expect(await settings()).toMatchObject({
      verification: 'api-key',
      verificationConfig: { queryParameter: 'key' },
    });
    await page.getByRole('combobox', { name: 'Signature', exact: true }).selectOption('none');
    await save();
  });

  it('a filter is completed from the fields of the request, by keyboard and by a click', async () => {
    await tab('Routes');
    await page.getByRole('button', { name: 'Edit: Orders' }).click();
    const filter = codeEditor(page, /^Filter \(JSON/);
    await filter.focus();
    await page.keyboard.type('{ "path": "$.ty');
    await page.getByRole('option', { name: '$.type' }).waitFor();
    expect(await shown.violations('04-completion')).toEqual([]);
    await filter.press('Escape');
    await page.getByRole('option', { name: '$.type' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Control+ ');
    await page.getByRole('option', { name: '$.type' }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.type(', "op": ');
    await page.keyboard.press('Control+ ');
    await page.getByRole('option', { name: 'eq', exact: true }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.keyboard.type(', "value": "order.paid" }');
    expect(JSON.parse(await codeOf(filter))).toEqual({ path: '$.type', op: 'ne', value: 'order.paid' });
    await page.getByText('Does not match this request').waitFor();
    await page.keyboard.press('Control+z');

    await pasteCode(filter, '');
    await page.getByText(/^Fields of this request/).click();
    await page.getByRole('button', { name: '$.items[*].sku' }).click();
    await page.getByRole('button', { name: 'Add' }).click();
    expect(JSON.parse(await codeOf(filter))).toEqual({ path: '$.items[*].sku', op: 'eq', value: 'a' });
    expect(await filter.locator('.code-key').count()).toBe(3);
    expect(await shown.violations('05-fields')).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
  });

  it('a run of the transform shows its console and marks the line of its error, and failed requests are released', async () => {
    await tab('Transform');
    await page.getByLabel('Transform type').selectOption('managed');
    const code = codeEditor(page, /^Code$/);
    await pasteCode(code, FAILING);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('.code-line.faulty').waitFor();
    const run = page.getByRole('list', { name: 'Console output of this run' });
    expect(await run.innerText()).toContain('type is order.paid');
    expect(await run.innerText()).toContain(HOSTILE[0]);
    expect(await page.locator('.code-line.faulty').innerText()).toContain('return event.body.customer.name');
    await save();
    await fetch(url, {
      method: 'POST',
      body: '{"type":"order.failed"}',
      headers: { 'content-type': 'application/json' },
    });

    await page.reload();
    await page.getByRole('list', { name: 'Console output when received' }).waitFor();
    await page.getByRole('button', { name: 'Release failed requests (1)' }).waitFor();
    expect(await shown.violations('06-held')).toEqual([]);
    await pasteCode(code, 'export default (event) => ({ ...event, body: { fixed: true } });');
    await page.getByRole('button', { name: 'Release failed requests (1)' }).click();
    await page.getByRole('dialog').getByText('Your changes are not saved').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await save();
    await page.getByRole('button', { name: 'Release failed requests (1)' }).click();
    expect(await shown.violations('07-release')).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Release (1)' }).click();
    await page.getByRole('link', { name: 'View job' }).waitFor();
    await page.getByRole('button', { name: 'Release failed requests (1)' }).waitFor({ state: 'detached' });
    const { data } = (await server.api('GET', `/v1/endpoints/${endpoint}/requests?status=routed`)).json as {
      data: { replay_of: string | null }[];
    };
    expect(data[0]?.replay_of).not.toBeNull();
  });

  it('code that does not compile is not saved, and its line is marked', async () => {
    const code = codeEditor(page, /^Code$/);
    await pasteCode(code, 'export default (event) => {\n  return event;\n');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.code-fault').waitFor();
    expectRefusals();
    await pasteCode(code, 'export default (event) => {\n  return [event;\n};');
    await code.locator('.code-bad').first().waitFor();
    await code.press('Control+Home');
    await page.keyboard.press('End');
    expect(await code.locator('.cm-matchingBracket, .cm-nonmatchingBracket').count()).toBeGreaterThan(0);
    await page.keyboard.press('Enter');
    expect(await codeOf(code)).toContain('=> {\n  \n');
    expect(await shown.violations('08-code')).toEqual([]);
    await page.keyboard.type('event.body.ty');
    await page.getByRole('option', { name: 'event.body.type' }).waitFor();
    expect(await shown.violations('08-code-completion')).toEqual([]);
    await code.press('Control+ ');
    // While the editor computes the list anew, the old list is visible and ignores clicks.
    await page
      .locator('.cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled)')
      .getByRole('option', { name: 'event.body.type' })
      .click();
    expect(await codeOf(code)).toContain('=> {\n  event.body.type\n');
  });

  it('rules are completed, and a refused rule shows its line', async () => {
    await tab('Responses');
    const rules = codeEditor(page, /^Rules \(JSON/);
    await pasteCode(
      rules,
      '{\n  "rules": [\n    { "when": { "type": "json", "path": "$.a", "op": "like", "value": "b" } }\n  ]\n}',
    );
    await page.locator('.code-line.faulty').waitFor();
    expect(await page.locator('.cm-lineNumbers .faulty').innerText()).toContain('3');
    expect(await shown.violations('09-rules')).toEqual([]);
    expectRefusals();
  });

  it('a pull consumer shows whether it keeps up', async () => {
    const pull = (await server.api('POST', '/v1/destinations', { name: 'Warehouse', type: 'pull' })).json.id as string;
    await shown.open('pull');
    await page.getByText('Nothing to pull yet').waitFor();
    const sent = await server.api('POST', '/v1/send', { event_type: 'a.b', payload: {}, destination: pull });
    expect(sent.status).toBeLessThan(300);
    await page.getByText('↻ Never pulled').waitFor();
    expect(await shown.violations('10-pull')).toEqual([]);
  });
});
