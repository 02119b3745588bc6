import type { Browser, Locator, Page } from 'playwright-core';
import { type DomainsScene, startDomainsScene } from '../api/domains.js';
import { emailIn, sendEmail } from '../api/emailing.js';
import { aliasTo, deliver, letter, messageOf, messagesOf } from '../api/mailing.js';
import { until } from '../api/polling.js';
import { type Relay, startRelay, verifyDomain } from '../api/relay.js';
import { expectStatus, WITHIN_MS } from '../api/scene.js';
import { freePort } from '../durability/processes.js';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { codeEditor, codeOf, pasteCode } from '../support/code-editor.js';
import { ConsolePage, HOSTILE } from '../support/console-page.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';

const LONG = 'x'.repeat(100);

(isChromiumInstalled() ? describe : describe.skip)('templates, topics, domains and mail actions in the console', () => {
  let scene: DomainsScene;
  let relay: Relay;
  let server: PosthornServer;
  let smtp: number;
  let browser: Browser;
  let page: Page;
  let shown: ConsolePage;

  beforeAll(async () => {
    [smtp, relay] = await Promise.all([freePort(), startRelay()]);
    [scene, browser] = await Promise.all([
      startDomainsScene({ SMTP_PORT: String(smtp), EMAIL_TRANSPORT: relay.url }),
      startBrowser(),
    ]);
    server = scene.server;
    shown = await ConsolePage.open(browser, server, 'email', 'templates');
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await scene?.close();
    await relay?.close();
  });

  beforeEach(() => {
    relay.refuseMessages(() => null);
    relay.refuseRecipients(() => null);
  });

  afterEach(() => {
    expect(shown.wrongs()).toEqual([]);
  });

  const frame = () => page.frameLocator('iframe');
  const dialog = () => page.getByRole('dialog');
  const toasts = () => page.getByRole('region', { name: 'Notifications' });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const confirm = (name: string): Promise<void> => dialog().getByRole('button', { name, exact: true }).click();
  const closed = (): Promise<void> => dialog().waitFor({ state: 'detached' });
  const first = async (path: string): Promise<ApiAnswer['json']> =>
    expectStatus(await server.api('GET', path), 200).json.data[0];

  it('a template: created, edited with variables, rendered, tested, published, restored, deleted', async () => {
    await page.getByRole('heading', { name: 'No templates yet' }).waitFor();
    expect(await shown.violations('01-no-templates')).toEqual([]);
    await button('New template').click();
    await dialog()
      .getByLabel('Name')
      .fill(`Order ${HOSTILE[0] ?? ''}`);
    expect(await shown.violations('02-new-template')).toEqual([]);
    await confirm('Create');
    await page.getByText('Draft. Emails cannot use this template').waitFor();
    await page.getByText('Nothing to preview.').waitFor();
    const editor = page.getByRole('form', { name: 'Content' });
    await editor.getByLabel('Alias').fill('order');
    await editor.getByLabel('Subject').fill('Your order {{order}}');
    await pasteCode(
      codeEditor(page, 'HTML'),
      '<body bgcolor="#070809"><style>p { color: rgb(4, 5, 6); background: url(https://tracker.example/a) }</style><h1 style="color: rgb(1, 2, 3)">Hello {{first_name}}</h1><p>On its way</p>{{{note}}}',
    );
    await pasteCode(codeEditor(page, 'Plain text'), 'Hello {{first_name}}');
    await button('Add variable').click();
    await editor.getByLabel('Variable', { exact: true }).fill('order');
    await editor.getByLabel('Type').selectOption('number');
    await editor.getByLabel('Fallback').fill('many');
    await editor.getByText('The fallback must match the type').waitFor();
    expect(await shown.violations('03-template-fault')).toEqual([]);
    expect(await button('Save').isDisabled()).toBe(true);
    await editor.getByLabel('Fallback').fill('4711');
    const text = codeEditor(page, 'Plain text');
    await text.press('Control+End');
    await page.keyboard.type('\nOrder {{or');
    await page.getByRole('option', { name: 'order' }).waitFor();
    await page.keyboard.press('Enter');
    expect(await codeOf(text)).toBe('Hello {{first_name}}\nOrder {{order}}');
    // The brackets at the caret are elements of their own.
    const tagsOf = async (editor: Locator): Promise<string> =>
      (await editor.locator('.code-tag').allTextContents()).join('');
    expect(await tagsOf(text)).toBe('{{first_name}}{{order}}');
    expect(await tagsOf(codeEditor(page, 'HTML'))).toBe('{{first_name}}{{{note}}}');
    await page.getByText('The preview shows the last saved version.').waitFor();
    await button('Save').click();
    await page.getByText('Version 2 is saved').waitFor();

    await page.getByText('No value and no fallback: first_name, note.').waitFor();
    await button('Add to sample').click();
    await page.getByText('Your order 4711').waitFor();
    await pasteCode(
      codeEditor(page, 'Sample variables'),
      JSON.stringify({
        first_name: '<Ada>',
        note: '<script>top.ran = 1</script><img src=x onerror="top.ran = 2"><a href="javascript:top.ran = 3">link</a>',
        other: 1,
      }),
    );
    await page.getByText('Not used by the template: other.').waitFor();
    await button('HTML source').click();
    await page.getByText('Hello &lt;Ada&gt;').waitFor();
    await button('Preview').click();
    const colour = (): Promise<string> =>
      frame()
        .getByRole('heading', { name: 'Hello <Ada>' })
        .evaluate((heading) => getComputedStyle(heading).color);
    expect(await colour()).toBe('rgb(1, 2, 3)');
    expect(
      await frame()
        .locator('p')
        .evaluate((text) => getComputedStyle(text).color),
    ).toBe('rgb(4, 5, 6)');
    expect(
      await frame()
        .locator('body')
        .evaluate((body) => getComputedStyle(body).backgroundColor),
    ).toBe('rgb(7, 8, 9)');
    expect(await frame().locator('script, [onerror], [href]').count()).toBe(0);
    expect(shown.wrongs()).toEqual([]);
    expect(await shown.violations('04-preview')).toEqual([]);
    await button('Send test').click();
    expect(await shown.violations('04-test')).toEqual([]);
    await confirm('Send');
    await closed();
    await page.getByText('Test email:').waitFor();
    expect(await colour()).toBe('rgb(1, 2, 3)');
    expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false);
    // The browser logs blocked content as errors. These errors prove that the test email contains the code.
    expect(
      shown.wrongs().filter((line) => !/sandboxed|Content Security Policy|^https:\/\/tracker\.example/.test(line)),
    ).toEqual([]);
    expect(await shown.violations('05-template')).toEqual([]);
    shown.wrongs();

    await button('Publish').click();
    await confirm('Publish');
    await page.getByText('Emails use version 2, which is the latest.').waitFor();
    // The page shows the result before the dialog closes. Until then, the fields behind it take no input.
    await closed();
    await editor.getByLabel('Subject').fill(LONG.repeat(9));
    await button('Save').click();
    await page.getByText('Emails use version 2. Version 3 is not published.').waitFor();
    expect(await shown.violations('06-template-long')).toEqual([]);
    await page.getByRole('button', { name: 'Preview 2' }).click();
    await page.getByText('The preview shows version 2, not the latest.').waitFor();
    await page.getByText('Your order 4711').waitFor();
    await page.getByRole('button', { name: 'Restore 2' }).click();
    await confirm('Restore');
    await closed();
    expect(await editor.getByLabel('Subject').inputValue()).toBe('Your order {{order}}');
    expect(await first('/v1/templates')).toMatchObject({ alias: 'order', version: 4, published_version: 2 });

    await button('Duplicate').click();
    await confirm('Duplicate');
    await page.getByText('Draft. Emails cannot use').waitFor();
    await button('Delete').click();
    await dialog()
      .getByLabel(/^Type/)
      .fill((await first('/v1/templates')).name as string);
    await confirm('Delete');
    await page.getByText('Newer version not published').waitFor();
    expect(await shown.violations('07-templates')).toEqual([]);
  });

  it('a topic: created, an address unsubscribed and reset, edited, each with undo, used by a template, deleted', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { name: 'No topics yet' }).waitFor();
    await button('New topic').click();
    await dialog().getByLabel(/^Name/).fill('Newsletter');
    expect(await shown.violations('10-new-topic')).toEqual([]);
    await confirm('Create');
    await page.getByText('No subscriptions yet.').waitFor();
    await page.getByLabel('Address').fill('customer@example.org');
    await page.keyboard.press('Enter');
    await page.getByText('by default').waitFor();
    await button('Unsubscribe').click();
    await page.getByRole('cell', { name: 'customer@example.org', exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Subscription' }).selectOption('opt_in');
    await page.getByText('No subscriptions match this filter.').waitFor();
    await page.getByRole('combobox', { name: 'Subscription' }).selectOption('opt_out');
    await page.getByRole('cell', { name: 'Unsubscribed' }).waitFor();
    expect(await shown.violations('11-topic')).toEqual([]);
    const menu = page.getByRole('button', { name: 'Actions for customer@example.org' });
    const remove = async (): Promise<void> => {
      await menu.click();
      await page.getByRole('menuitem', { name: 'Remove' }).click();
    };
    const stored = async (): Promise<unknown> =>
      (await server.api('GET', '/v1/topics/newsletter/subscriptions/customer@example.org')).json.origin;
    await remove();
    await page.getByText('No subscriptions match this filter.').waitFor();
    await toasts().getByText('Subscription of customer@example.org removed').waitFor();
    expect(await stored()).toBe('default');
    expect(await shown.violations('11-removed')).toEqual([]);
    await page.keyboard.press('z');
    await menu.waitFor();
    await toasts().getByText('customer@example.org unsubscribed').waitFor();
    expect(await stored()).toBe('api');
    await remove();
    await page.getByText('No subscriptions match this filter.').waitFor();
    await toasts().getByText('Subscription of customer@example.org removed').waitFor();
    await button('Edit').click();
    await dialog().getByLabel(/^Name/).fill('Journal');
    await confirm('Save');
    await page.getByRole('heading', { name: 'Journal' }).waitFor();
    await toasts().getByText('Journal saved').waitFor();
    await page.keyboard.press('z');
    await page.getByRole('heading', { name: 'Newsletter' }).waitFor();
    await toasts().getByText('Newsletter saved').waitFor();
    await button('Edit').click();
    await dialog().getByLabel('Description', { exact: true }).fill('News once a month');
    await confirm('Save');
    await page.getByText('News once a month').waitFor();
    await toasts().getByText('Newsletter saved').waitFor();
    await until(
      () => first('/v1/topics'),
      ({ description }) => description !== null,
      WITHIN_MS,
    );
    expect(await first('/v1/topics')).toMatchObject({ key: 'newsletter', description: 'News once a month' });

    await shown.navigate('Templates');
    await page.getByRole('link', { name: /^Order/ }).click();
    await page.getByLabel('Unsubscribe link').selectOption({ label: 'From topic “Newsletter”' });
    await button('Save').click();
    await page.getByText('Version 5 is saved').waitFor();
    const { id } = await first('/v1/templates');
    expect((await server.api('GET', `/v1/templates/${id}`)).json.unsubscribe).toEqual({ topic: 'newsletter' });
    await shown.navigate('Topics');
    await page.getByRole('link', { name: 'Newsletter' }).click();
    await button('Delete').click();
    await dialog().getByLabel(/^Type/).fill('Newsletter');
    await confirm('Delete');
    await page.getByRole('heading', { name: 'No topics yet' }).waitFor();
  });

  it('a domain: its rates and limits, a pause that is resumed, and its own DKIM keys', async () => {
    const { id, domain: host } = await scene.verified('email-send');
    await shown.open(`domains/${id}`);
    await page.getByText('The platform key signs').waitFor();
    await button('Edit limits').click();
    await dialog().getByLabel('Bounces: warning at').fill('20');
    await dialog().getByLabel('Bounces: pause at').fill('40');
    await dialog().getByLabel('Recipients in 24 hours').fill('2');
    expect(await shown.violations('20-limits')).toEqual([]);
    await confirm('Save');
    await closed();
    await page.getByText('apply at 2 or more recipients').waitFor();
    relay.refuseRecipients((address) =>
      address.startsWith('gone') ? { code: 550, text: '5.1.1 No such user' } : null,
    );
    const send = (name: string): Promise<string> =>
      sendEmail(server, { from: `Shop <shop@${host}>`, to: `${name}@recipients.example` });
    await emailIn(server, await send('here'), 'delivered');
    await emailIn(server, await send('gone'), 'bounced');
    await until(
      async () => (await server.api('GET', `/v1/domains/${id}`)).json,
      ({ reputation }) => reputation === 'paused',
      WITHIN_MS,
    );
    await page.reload();
    await page.getByText('The bounce rate reached its pause limit.').waitFor();
    await page.getByText('above pause limit').waitFor();
    expect(await shown.violations('21-paused')).toEqual([]);
    await button('Resume').click();
    await confirm('Resume');
    await page.getByText('Only email since the last resume counts').waitFor();
    expect((await server.api('GET', `/v1/domains/${id}`)).json.reputation).toBe('healthy');

    await button('Change signing').click();
    await dialog().getByLabel('Own RSA and Ed25519 keys').check();
    expect(await shown.violations('22-signing')).toEqual([]);
    await confirm('Save');
    await page.getByRole('cell', { name: 'Waiting for its record' }).first().waitFor();
    scene.publish((await server.api('GET', `/v1/domains/${id}`)).json.records);
    await scene.verify(id);
    await page.reload();
    await page.getByRole('cell', { name: 'Signing' }).first().waitFor();
    await button('Rotate keys').click();
    await confirm('Rotate keys');
    await page.getByRole('cell', { name: 'Waiting for its record' }).first().waitFor();
    expect(await shown.violations('23-dkim')).toEqual([]);
  });

  it('emails: a bounced one is sent again, failed ones in bulk, a scheduled one is moved', async () => {
    const { domain: host } = await scene.verified('email-send');
    const from = `Shop <shop@${host}>`;
    relay.refuseRecipients(() => ({ code: 550, text: '5.1.1 No such user' }));
    const bounced = await sendEmail(server, {
      from,
      to: 'ada@bounces.example',
      subject: 'Invoice',
      attachments: [{ filename: 'invoice.txt', content: Buffer.from('1 euro').toString('base64') }],
    });
    await emailIn(server, bounced, 'bounced');
    relay.refuseRecipients(() => null);
    await shown.open(`emails/${bounced}`);
    await page.getByRole('link', { name: 'View suppression' }).click();
    await page.getByRole('cell', { name: 'ada@bounces.example', exact: true }).waitFor();
    await page.goBack();
    await page.evaluate(() =>
      Object.defineProperty(navigator, 'clipboard', {
        value: { writeText: async (text: string) => void Object.assign(globalThis, { copied: text }) },
        configurable: true,
      }),
    );
    await page.getByRole('button', { name: 'Copy link invoice.txt' }).click();
    await page.getByText('Copied', { exact: true }).waitFor();
    const link = await page.evaluate(() => (globalThis as unknown as { copied: string }).copied);
    expect(await (await fetch(link)).text()).toBe('1 euro');
    await button('Send again').click();
    await dialog().getByText('suppressed: Bounced').waitFor();
    expect(await dialog().getByRole('button', { name: 'Send again' }).isDisabled()).toBe(true);
    await dialog().getByLabel('Remove the suppressions').check();
    expect(await shown.violations('30-again')).toEqual([]);
    await confirm('Send again');
    await page.waitForURL((url) => !url.pathname.endsWith(bounced) && url.pathname.includes('/emails/'));
    const copy = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    expect(await emailIn(server, copy, 'delivered')).toMatchObject({
      subject: 'Invoice',
      to: ['ada@bounces.example'],
      attachments: [{ filename: 'invoice.txt', size_bytes: 6 }],
    });

    relay.refuseMessages(() => ({ code: 550, text: '5.7.1 Not now' }));
    const failed = await Promise.all(
      ['One', 'Two'].map((subject) => sendEmail(server, { from, to: 'bob@recipients.example', subject })),
    );
    for (const id of failed) await emailIn(server, id, 'failed');
    relay.refuseMessages(() => null);
    await shown.navigate('Emails');
    await page.getByLabel('Select One').check();
    await page.getByLabel('Select Two').check();
    await page.getByLabel('Select Invoice').first().check();
    await page.getByText('3 selected').waitFor();
    expect(await shown.violations('31-selection')).toEqual([]);
    await button('Send again (2)').click();
    await confirm('Send again');
    await closed();
    for (const id of failed) await emailIn(server, id, 'delivered');

    const later = await sendEmail(server, {
      from,
      to: 'bob@recipients.example',
      subject: 'Later',
      scheduled_at: 'in 1 hour',
    });
    await shown.open(`emails/${later}`);
    await button('Reschedule').click();
    const before = (await server.api('GET', `/v1/emails/${later}`)).json.scheduled_at as string;
    const field = dialog().getByLabel('Scheduled for');
    await field.fill(
      (await field.inputValue()).replace(
        /^\d{4}-\d\d-\d\d/,
        new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10),
      ),
    );
    expect(await shown.violations('32-reschedule')).toEqual([]);
    await confirm('Save');
    await closed();
    const after = (await server.api('GET', `/v1/emails/${later}`)).json.scheduled_at as string;
    expect(Date.parse(after) - Date.parse(before)).toBeGreaterThan(86_400_000);
  });

  it('an alias: forwards after a confirmation, replies, and releases quarantined mail in bulk', async () => {
    const pull = expectStatus(await server.api('POST', '/v1/destinations', { name: 'Support', type: 'pull' }), 201).json
      .id as string;
    const box = await aliasTo(server, [pull], { allowedSenders: ['@b.example'] });
    await shown.open(`inbox/${box.id}`);
    await button('Forwarding and replies').click();
    await dialog().getByLabel('Forward to').fill('ops@elsewhere.example');
    await dialog().getByLabel('Reply automatically').check();
    expect(await dialog().getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await dialog().getByLabel('Subject').fill('We received your message');
    await dialog().getByLabel('Text', { exact: true }).fill('Thank you.');
    expect(await shown.violations('40-actions')).toEqual([]);
    await confirm('Save');
    await page.getByText('Waiting for confirmation').waitFor();
    await page.getByText('at most once per week').waitFor();
    expect((await server.api('GET', `/v1/aliases/${box.id}`)).json).toMatchObject({
      forward_to: ['ops@elsewhere.example'],
      auto_reply: { subject: 'We received your message', text: 'Thank you.', once_per: 'P7D' },
    });

    const { address: open } = await aliasTo(server, []);
    const stranger = (subject: string): string =>
      letter(subject).replace('From: Ada <ada@b.example>', 'From: Eve <eve@evil.example>');
    await deliver(smtp, box.address, letter('Question'));
    for (const subject of ['Offer-1', 'Offer-2']) await deliver(smtp, [box.address, open], stranger(subject));
    const messages = await messagesOf(server, box.id, 3);
    await page.getByLabel('Select all').check();
    await page.getByText('3 selected').waitFor();
    expect(await shown.violations('41-messages')).toEqual([]);
    await button('Release (2)').click();
    await confirm('Release');
    await closed();
    for (const { id } of messages)
      expect(await messageOf(server, box.id, id)).not.toMatchObject({ status: 'quarantined' });
    await page.getByRole('cell', { name: 'Quarantined' }).first().waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Question' }).click();
    await page.getByText('Forwarded to').waitFor();
    await page.getByText('Processed').waitFor();
    expect(await shown.violations('42-message')).toEqual([]);

    const { id: kept, address } = await aliasTo(server, []);
    await deliver(smtp, address, letter('Kept'));
    await messagesOf(server, kept, 1);
    await shown.open(`inbox/${kept}`);
    await page.getByRole('cell', { name: 'Processed' }).waitFor();
    await page.getByRole('link', { name: 'Kept' }).click();
    await page.getByText('Stored only: no destination matches').waitFor();
    await page.getByText('Processed').waitFor();
    expect(await page.getByText('Ignored').count()).toBe(0);
  });

  it('a user with the role read sees everything, and is offered nothing that the API would refuse', async () => {
    const { key } = expectStatus(await server.api('POST', '/v1/keys', { name: 'Reader', scope: 'read' }), 201).json as {
      key: string;
    };
    await verifyDomain(server, scene.sql, 'read.customer.example');
    const reader = await ConsolePage.open(browser, server, 'email-reader', 'templates', key);
    for (const [screen, offered] of [
      ['Templates', 'New template'],
      ['Topics', 'New topic'],
    ] as const) {
      await reader.navigate(screen);
      await reader.page.getByRole('heading', { name: screen, exact: true }).waitFor();
      expect(await reader.page.getByRole('button', { name: offered }).count()).toBe(0);
    }
    await reader.navigate('Templates');
    await reader.page.getByRole('link', { name: /^Order/ }).click();
    await reader.page.getByText('Your order 4711').waitFor();
    expect(await reader.page.getByRole('button', { name: 'Send test' }).count()).toBe(0);
    expect(await reader.violations('template')).toEqual([]);
    await reader.page.locator('details.account > summary').click();
    await reader.page.getByLabel('Language').selectOption('de');
    await reader.page.getByText('Beispielwerte (JSON)').waitFor();
    await reader.screenshot('german');
    expect(reader.wrongs()).toEqual([]);
    await reader.page.close();
  });
});
