import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { type DomainsScene, startDomainsScene } from '../api/domains.js';
import { emailIn, sendEmail } from '../api/emailing.js';
import { aliasTo, deliver, letter, messagesOf } from '../api/mailing.js';
import { expectStatus, uuidOf } from '../api/scene.js';
import { freePort } from '../durability/processes.js';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { codeEditor, pasteCode } from '../support/code-editor.js';
import { ConsolePage, HOSTILE } from '../support/console-page.js';
import type { PosthornServer } from '../support/server.js';

const HOST = 'simulator.posthorn.example';
const FROM = `Shop <shop@${HOST}>`;
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** HTML that tries every method to run scripts or to load content from the tracker. */
const evil = (
  tracker: string,
): string => `<!doctype html><html manifest="${tracker}/m"><head><meta http-equiv="refresh" content="0;url=${tracker}/refresh"><base href="${tracker}/"><link rel="stylesheet" href="${tracker}/css">
<link rel="preconnect" href="${tracker}"><link rel="prefetch" href="${tracker}/prefetch"><style>@import url(${tracker}/import); @font-face { font-family: f; src: url(${tracker}/font) } p { font-family: f; color: rgb(1, 2, 3); background: url(${tracker}/bg) }</style></head>
<body onload="document.getElementById('x').textContent='ran'" background="${tracker}/body"><p id="x">before</p><script>top.ran = 1; document.getElementById('x').textContent = 'ran'; fetch('${tracker}/fetch')</script><script src="${tracker}/js"></script>
<img src="${tracker}/pixel.gif" onerror="top.ran = 2"><img src=x onerror="document.getElementById('x').textContent='ran'"><img srcset="${tracker}/set 1x"><svg onload="top.ran = 3"><image href="${tracker}/svg"/></svg>
<iframe src="${tracker}/frame"></iframe><iframe srcdoc="<script>top.ran = 4</script>&lt;link rel=preconnect href=${tracker}&gt;<img src=${tracker}/srcdoc>"></iframe><object data="${tracker}/object"></object><embed src="${tracker}/embed"><video src="${tracker}/video" poster="${tracker}/poster" autoplay></video>
<form action="${tracker}/form" id="f"><input name="a" value="b" autofocus onfocus="top.ran = 5"><button id="send">Send</button></form><a id="js" href="javascript:top.ran=6">script link</a> <a id="away" href="${tracker}/away" target="_top" ping="${tracker}/ping">away</a>
<div style="background-image:url('${tracker}/inline')">The end</div></body></html>`;

(isChromiumInstalled() ? describe : describe.skip)('mail and domains in the console', () => {
  let scene: DomainsScene;
  let server: PosthornServer;
  let smtp: number;
  let browser: Browser;
  let tracker: Server;
  let page: Page;
  let shown: ConsolePage;
  let called = 0;

  beforeAll(async () => {
    smtp = await freePort();
    tracker = await new Promise((resolve) => {
      const listening = createServer((socket) => {
        called += 1;
        socket.destroy();
      }).listen(0, '127.0.0.1', () => resolve(listening));
    });
    [scene, browser] = await Promise.all([startDomainsScene({ SMTP_PORT: String(smtp) }), startBrowser()]);
    server = scene.server;
    shown = await ConsolePage.open(browser, server, 'mail', 'emails?status=bounced');
    page = shown.page;
    await page.getByRole('heading', { name: 'Emails' }).waitFor();
  });

  afterAll(async () => {
    await browser?.close();
    await scene?.close();
    tracker?.close();
  });

  afterEach(() => {
    expect([shown.wrongs(), called]).toEqual([[], 0]);
  });

  const address = (): string => `http://127.0.0.1:${(tracker.address() as AddressInfo).port}`;
  const frame = () => page.frameLocator('iframe');
  const dialog = () => page.getByRole('dialog');
  const confirm = (name: string): Promise<void> => dialog().getByRole('button', { name, exact: true }).click();
  const closed = (): Promise<void> => dialog().waitFor({ state: 'detached' });

  it('emails: from an empty list to a bounced email, with the state of its recipient and the reply of the server', async () => {
    await page.getByText('No emails match these filters.').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('heading', { name: 'No emails yet' }).waitFor();
    expect(await shown.violations('01-empty')).toEqual([]);
    await page.getByRole('button', { name: 'Send test email' }).click();
    await page.getByLabel('To').selectOption(`bounced@${HOST}`);
    await page.getByLabel('Subject').fill(`Order ${HOSTILE[0] ?? ''}`);
    expect(await shown.violations('02-simulator')).toEqual([]);
    await confirm('Send');
    await page.getByText('Captured, not sent').waitFor();

    await page.getByRole('heading', { name: `Order ${HOSTILE[0] ?? ''}` }).waitFor();
    await page.getByText('550 rejected').waitFor();
    await page.getByRole('list', { name: 'Timeline' }).getByText('Bounced').waitFor();
    await frame()
      .getByRole('heading', { name: `Order ${HOSTILE[0] ?? ''}` })
      .waitFor();
    expect(await shown.violations('03-email')).toEqual([]);
    await page.getByRole('button', { name: 'Phone' }).click();
    expect(await page.locator('iframe').evaluate((element) => element.clientWidth)).toBe(375);
    expect(
      await page
        .locator('.facts bdi')
        .filter({ hasText: `bounced@${HOST}` })
        .locator('wbr')
        .count(),
    ).toBeGreaterThan(0);
    const source = page.getByRole('button', { name: 'Source' });
    await source.click();
    const copy = page.locator('.mail-views').getByRole('button', { name: 'Copy' });
    expect((await copy.boundingBox())?.y).toBe((await source.boundingBox())?.y);
    await page.getByRole('button', { name: 'Headers' }).click();
    await page.getByRole('cell', { name: 'dkim-signature' }).waitFor();
    expect(await copy.count()).toBe(0);
    await page.getByRole('button', { name: 'Raw' }).click();
    await page.getByRole('button', { name: 'Show original' }).click();
    await page.getByText('DKIM-Signature: v=1').waitFor();
  });

  it('the event of an email: names no destination, because the one of emails is internal', async () => {
    const id = await sendEmail(server, { from: FROM, to: `delivered@${HOST}`, subject: 'Event' });
    await emailIn(server, id, 'delivered');
    await shown.open(`events/${id}`);
    const facts = page.locator('dl.facts');
    await facts.getByText(id).first().waitFor();
    await page.waitForLoadState('networkidle');

    expect(await facts.locator('dt').allInnerTexts()).not.toContain('Destination');
    expect(await page.locator('main a[href*="/destinations/"]').count()).toBe(0);
  });

  it('an email with an embedded picture and a file: the picture is shown, the file is downloaded', async () => {
    const name = `${HOSTILE[0] ?? ''}.png`;
    const id = await sendEmail(server, {
      from: FROM,
      to: `delivered@${HOST}`,
      html: '<p>See <img src="cid:logo" alt="the logo"></p>',
      tags: [{ name: 'kind', value: 'order' }],
      attachments: [
        { filename: 'logo.png', content: PNG, content_type: 'image/png', content_id: 'logo' },
        { filename: name, content: PNG, content_type: 'image/png' },
      ],
    });
    await emailIn(server, id, 'delivered');
    await shown.open(`emails/${id}`);
    await frame().getByAltText('the logo').waitFor();

    expect(
      await frame()
        .getByAltText('the logo')
        .evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
    ).toBe(1);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('row').filter({ hasText: 'onerror' }).getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(readFileSync(await file.path()).toString('base64')).toBe(PNG);
    await page.getByText('kind: order').waitFor();
  });

  it('the list: filtered by its address, used by keyboard, and a scheduled email is cancelled', async () => {
    const id = await sendEmail(server, {
      from: FROM,
      to: `delivered@${HOST}`,
      subject: 'Later',
      scheduled_at: 'in 1 hour',
    });
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Later' }).waitFor();
    expect(await shown.violations('04-emails')).toEqual([]);
    await page.getByLabel('Status').selectOption('scheduled');
    await page.getByLabel('Time').selectOption('-1h');
    await page.waitForURL('**/live/emails?status=scheduled&since=-1h');
    await page.getByLabel('Tag').fill('kind:order');
    await page.keyboard.press('Enter');
    await page.waitForURL(/&tag=kind(:|%3A)order$/);
    await page.getByText('No emails match').waitFor();
    await page.getByLabel('Tag').fill('');
    await page.getByLabel('Recipient').fill(`DELIVERED@${HOST}`);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Later' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('The message is composed when it is sent.').waitFor();
    await page.getByRole('button', { name: 'Cancel email' }).click();
    await confirm('Cancel email');
    await page.getByRole('heading', { name: 'Emails' }).waitFor();

    expect((await server.api('GET', `/v1/emails/${id}`)).json).toMatchObject({ status: 'canceled' });
  });

  it('a domain: its records are copied one by one, wrong records are shown, and it is verified, converted and deleted', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    await page.getByRole('heading', { name: 'No domains yet' }).waitFor();
    await page.getByText('/in/').first().waitFor();
    await page.getByRole('button', { name: 'New domain' }).click();
    await page.getByLabel('Name').fill('shop.customer.example');
    expect(await shown.violations('05-new-domain')).toEqual([]);
    await confirm('Create');
    await page.getByText('Publish the DNS records below.').waitFor();
    const [domain] = (await server.api('GET', '/v1/domains')).json.data;
    const [ownership, ...others] = domain.records;
    scene.publish(others);
    scene.zone.set(ownership.name, 'TXT', ['posthorn-verification=wrong']);
    const check = async (): Promise<void> => {
      await scene.sql.rows('update domains set checked_at = null where id = $1', [uuidOf(domain.id)]);
      await page.getByRole('button', { name: 'Check now' }).click();
    };
    await check();
    await page.getByText('Wrong or missing').waitFor();
    const said = (await server.api('GET', `/v1/domains/${domain.id}`)).json.records[0].error as string;
    await page.getByText(said).waitFor();
    expect(await shown.violations('06-domain')).toEqual([]);
    await page.evaluate(() =>
      Object.defineProperty(navigator, 'clipboard', {
        value: { writeText: async (text: string) => void Object.assign(globalThis, { copied: text }) },
        configurable: true,
      }),
    );
    for (const [label, value] of [
      ['Name', ownership.name],
      ['Value', ownership.value],
    ] as const) {
      await page.getByRole('button', { name: `Copy ${label} TXT ${ownership.name}` }).click();
      expect(await page.evaluate(() => (globalThis as unknown as { copied: string }).copied)).toBe(value);
    }
    scene.publish([ownership]);
    await check();
    await page.getByText('All required records were found.').waitFor();

    scene.zone.set('shop.customer.example', 'MX', ['10 mail.elsewhere.example']);
    await page.getByRole('button', { name: 'Change type' }).click();
    await confirm('Change type');
    await dialog().getByRole('listitem').getByText('mail.elsewhere.example').waitFor();
    await dialog().getByLabel('Redirect the domain’s email here').check();
    // The browser logs the 409 response as an error, as it does for every error response.
    expect(shown.wrongs().filter((line) => !line.includes('409'))).toEqual([]);
    await confirm('Change type');
    await closed();
    await page.getByText('routes email here').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog().getByLabel(/^Type/).fill('shop.customer.example');
    await confirm('Delete');
    await page.getByRole('heading', { name: 'No domains yet' }).waitFor();
    expect(await shown.violations('07-domains')).toEqual([]);
  });

  it('an alias: created with a filter, edited, mailed to, read, replayed', async () => {
    const pull = expectStatus(await server.api('POST', '/v1/destinations', { name: 'Support', type: 'pull' }), 201).json
      .id as string;
    await shown.navigate('Inbox');
    await page.getByRole('heading', { name: 'No addresses yet' }).waitFor();
    await page.getByRole('button', { name: 'New address' }).click();
    await page.getByLabel('Local part').fill('support');
    await dialog().getByLabel('Destinations').selectOption(pull);
    await pasteCode(codeEditor(page, 'Filter (JSON'), '{subject}');
    await dialog().getByText('(line 1)').waitFor();
    await pasteCode(
      codeEditor(page, 'Filter (JSON'),
      '{\n  "path": "$.order",\n  "op": "eq",\n  "value": 12345678901234567890\n}',
    );
    await dialog()
      .getByText(/^✕ 12345678901234567890 cannot be stored exactly\..*\(line 4\)$/)
      .waitFor();
    expect(await shown.violations('08-alias-filter')).toEqual([]);
    expect(await dialog().getByRole('button', { name: 'Create' }).isDisabled()).toBe(true);
    await pasteCode(codeEditor(page, 'Filter (JSON'), '{"path": "$.subject", "op": "starts_with", "value": "Order"}');
    expect(await shown.violations('08-new-alias')).toEqual([]);
    await confirm('Create');
    await page.getByText('No messages yet.').waitFor();
    await page.getByText('filtered').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Allowed senders').fill('@b.example');
    await confirm('Save');
    await closed();
    const alias = (await server.api('GET', '/v1/aliases')).json.data[0];
    expect(alias).toMatchObject({
      allowedSenders: ['@b.example'],
      routes: [{ destination: pull, filter: { path: '$.subject', op: 'starts_with', value: 'Order' } }],
    });

    await deliver(smtp, alias.address, letter('Order-1'));
    // Sends the message to a second alias, too. If no recipient accepted the message, the server would reject it
    // instead of storing it in quarantine.
    const { address: open } = await aliasTo(server, []);
    await deliver(
      smtp,
      [alias.address, open],
      letter('Order-2').replace('From: Ada <ada@b.example>', 'From: Eve <eve@evil.example>'),
    );
    await messagesOf(server, alias.id, 2);
    await page.getByRole('link', { name: 'Order-1' }).waitFor();
    expect(await shown.violations('09-alias')).toEqual([]);
    await page.getByLabel('Sender address').fill('nobody@b.example');
    await page.keyboard.press('Enter');
    await page.getByText('No messages match these filters.').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('Status').selectOption('quarantined');
    await page.waitForURL('**/inbox/al_*?state=quarantined');
    await page.getByRole('link', { name: 'Order-1' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Order-2' }).click();
    await page.getByRole('heading', { name: 'Order-2' }).waitFor();
    await page.getByText('sender not allowed').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Messages' }).waitFor();
    if ((await page.getByLabel('Status').inputValue()) !== '')
      await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('link', { name: 'Order-1' }).click();
    await page.getByText('Where is it?').waitFor();
    await page.getByText('The message is not signed.').waitFor();
    await page.getByText('The domain in the From header has no DMARC policy, so the result is unknown.').waitFor();
    await page.getByRole('button', { name: 'Replay' }).click();
    await confirm('Replay');
    await closed();
    await page.keyboard.press('u');
    await page.getByRole('button', { name: 'Replay messages' }).click();
    await confirm('Count messages');
    await dialog().getByText('Messages to replay: 1, in').waitFor();
    await confirm('Replay');
    await dialog().getByText('Messages replayed: 1').waitFor();
    await confirm('Close');
  });

  it('hostile mail runs no code and sends no requests, is shown as text, and does not change the page', async () => {
    const { id, address: to } = expectStatus(
      await server.api('POST', '/v1/aliases', { kind: 'platform', localPart: 'hostile' }),
      201,
    ).json;
    const encoded = (text: string): string => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;
    const parts = [
      '--=_m',
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from(evil(address())).toString('base64').replace(/.{76}/g, '$&\r\n'),
      '--=_m',
      `Content-Type: image/svg+xml; name="${encoded(`${HOSTILE[0] ?? ''}.svg`)}"`,
      'Content-Disposition: attachment',
      'Content-ID: <x>',
      '',
      '<svg onload="alert(1)"/>',
      '--=_m--',
      '',
    ];
    await deliver(
      smtp,
      to,
      [
        `From: ${encoded(HOSTILE[1] ?? '')} <ada@b.example>`,
        `To: ${to}`,
        `Subject: ${encoded(HOSTILE.join(' '))}`,
        'MIME-Version: 1.0',
        'Content-Type: multipart/mixed; boundary="=_m"',
        '',
        ...parts,
      ].join('\r\n'),
    );
    const [message] = await messagesOf(server, id, 1);
    await shown.open(`inbox/${id}/${message.id}`);
    await frame().getByText('The end').waitFor();

    expect(
      await frame()
        .locator('#x')
        .evaluate((element) => [element.textContent, getComputedStyle(element).color]),
    ).toEqual(['before', 'rgb(1, 2, 3)']);
    await page.getByText('Remote images and links are disabled.').waitFor();
    await frame().locator('#js').click();
    await frame().locator('#away').click();
    await frame().locator('#send').click();
    await frame().getByText('The end').waitFor();
    expect(
      await page.evaluate(() => [
        'ran' in globalThis,
        document.querySelectorAll('main img, main svg:not(:is(.table-bar, .copy-icon) svg), main script').length,
        location.pathname.split('/').at(-1),
      ]),
    ).toEqual([false, 0, message.id]);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toContain(HOSTILE[0]);
    await shown.screenshot('10-hostile');
    await page.getByRole('button', { name: 'HTML source' }).click();
    await page.getByText('http-equiv="refresh"').waitFor();
    expect(called).toBe(0);
    // The browser logs blocked requests as errors. These errors prove that the page tried to send the requests.
    const stopped = shown.wrongs().filter((line) => !line.startsWith(address()));
    expect(stopped.length).toBeGreaterThan(5);
    expect(stopped.filter((line) => !/Content Security Policy|sandboxed/.test(line))).toEqual([]);
    expect(await shown.violations('11-source')).toEqual([]);
  });

  it('a megabyte of HTML, and bytes that are not UTF-8, are shown and leave the page responsive', async () => {
    const { id, address: to } = expectStatus(
      await server.api('POST', '/v1/aliases', { kind: 'platform', localPart: 'large' }),
      201,
    ).json;
    const head = (subject: string): string =>
      `From: ada@b.example\r\nTo: ${to}\r\nSubject: ${subject}\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n`;
    await deliver(smtp, to, `${head('Large')}<p>First</p>${'<div><b>x</b>\r\n'.repeat(70_000)}`);
    await deliver(
      smtp,
      to,
      Buffer.concat([
        Buffer.from(`${head('Broken')}<p>Bef`),
        Buffer.from([0xff, 0xc3, 0x28]),
        Buffer.from('ore</p>\r\n'),
      ]),
    );
    const [broken, large] = await messagesOf(server, id, 2);

    await shown.open(`inbox/${id}/${broken.id}`);
    await frame().getByText('ore').waitFor();
    await shown.open(`inbox/${id}/${large.id}`);
    await frame().getByText('First').waitFor();
    await page.getByRole('button', { name: 'HTML source' }).click();
    await page.getByRole('button', { name: 'Show all' }).waitFor();
  });

  it('suppressions: added, found by address, removed', async () => {
    await shown.navigate('Suppressions');
    await page.getByText('No suppressed addresses yet').waitFor();
    await page.getByRole('button', { name: 'Suppress address' }).click();
    await dialog().getByLabel('Address').fill('customer@example.org');
    await confirm('Suppress');
    await page.getByRole('cell', { name: 'customer@example.org', exact: true }).waitFor();
    expect(await shown.violations('12-suppressions')).toEqual([]);
    await page.getByRole('search').getByLabel('Address').fill('nobody@example.org');
    await page.keyboard.press('Enter');
    await page.getByText('No suppressions match these filters.').waitFor();
    expect(page.url()).toContain('email=nobody');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('button', { name: 'Actions for customer@example.org' }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await page.getByText('No suppressed addresses yet').waitFor();
  });

  it('a user with the role read is offered nothing that the API would refuse, also in German', async () => {
    const { key } = expectStatus(await server.api('POST', '/v1/keys', { name: 'Reader', scope: 'read' }), 201).json as {
      key: string;
    };
    const reader = await ConsolePage.open(browser, server, 'mail-reader', 'emails', key);
    for (const [screen, offered] of [
      ['Emails', 'Send test email'],
      ['Inbox', 'New address'],
      ['Suppressions', 'Suppress address'],
      ['Domains', 'New domain'],
    ] as const) {
      await reader.navigate(screen);
      await reader.page.getByRole('heading', { name: screen, exact: true }).waitFor();
      expect(await reader.page.getByRole('button', { name: offered }).count()).toBe(0);
    }
    await reader.page.locator('details.account > summary').click();
    await reader.page.getByLabel('Language').selectOption('de');
    await reader.page.getByRole('navigation').getByRole('link', { name: 'E-Mails', exact: true }).click();
    await reader.page.getByRole('link', { name: /^Order/ }).click();
    await reader.page.getByText('Abgefangen, nicht gesendet').waitFor();
    await reader.screenshot('german');
    expect(reader.wrongs()).toEqual([]);
  });
});
