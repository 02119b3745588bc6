import { freePort } from '../durability/processes.js';
import { type ApiAnswer, type PosthornServer, startServer } from '../support/server.js';
import { as, createKey, expectRefusal, TIMESTAMP } from './answers.js';
import { emailIn, sendEmail } from './emailing.js';
import { aliasTo, deliver, messagesOf } from './mailing.js';
import { expectStatus, openSql, type Sql } from './scene.js';

const POLICY =
  "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const LOGO = { filename: 'logo.png', content: PNG.toString('base64'), content_type: 'image/png', content_id: 'logo' };

describe('content and views of emails', () => {
  let server: PosthornServer;
  let sql: Sql;
  let smtp: number;

  beforeAll(async () => {
    smtp = await freePort();
    server = await startServer({ SMTP_PORT: String(smtp), LOG_LEVEL: 'debug' });
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
  });

  const content = async (id: string): Promise<ApiAnswer['json']> =>
    expectStatus(await server.api('GET', `/v1/emails/${id}/content`), 200).json;
  const tokenOf = async (place: string): Promise<string> =>
    expectStatus(await server.api('GET', place), 200).json.token as string;
  /** Requests the page of an email as an iframe does, without a key. Returns the response. */
  const shown = (token: string): Promise<ApiAnswer> =>
    server.api('GET', `/v1/mail-views?token=${token}`, undefined, { authorization: '' });

  it('200: returns the content of an email as in the sent bytes, and its attachments', async () => {
    const id = await sendEmail(server, {
      subject: 'Öl <b>',
      text: 'It is on its way.',
      html: '<p>It is on its <img src="cid:logo"> way.</p>',
      headers: { 'X-Order': '42' },
      attachments: [
        LOGO,
        { filename: 'a.html', content: Buffer.from('<script>').toString('base64'), content_type: 'text/html' },
      ],
    });

    const said = await content(id);

    expect(said).toMatchObject({
      text: expect.stringContaining('It is on its way.'),
      html: expect.stringContaining('<img src="cid:logo">'),
      truncated: false,
    });
    expect(said.header_lines).toEqual(
      expect.arrayContaining([
        { name: 'subject', value: '=?UTF-8?Q?=C3=96l_=3Cb=3E?=' },
        { name: 'x-order', value: '42' },
      ]),
    );
    expect(said.attachments).toEqual([
      {
        filename: 'logo.png',
        content_type: 'image/png',
        size_bytes: PNG.length,
        content_id: 'logo',
        path: `/v1/emails/${id}/attachments/0`,
      },
      {
        filename: 'a.html',
        content_type: 'text/html',
        size_bytes: 8,
        content_id: null,
        path: `/v1/emails/${id}/attachments/1`,
      },
    ]);
    const [logo, page] = (await Promise.all(
      said.attachments.map(({ path }: { path: string }) => fetch(server.url + path, { headers: as(server.apiKey) })),
    )) as [Response, Response];
    expect([logo.headers.get('content-type'), Buffer.from(await logo.arrayBuffer())]).toEqual(['image/png', PNG]);
    expect([
      page.headers.get('content-type'),
      page.headers.get('content-disposition'),
      page.headers.get('content-security-policy'),
    ]).toEqual(['application/octet-stream', 'attachment; filename="a.html"', "sandbox; default-src 'none'"]);
  });

  it('200: a view shows one email without a key, with its own images, under a policy that forbids scripts', async () => {
    const id = await sendEmail(server, {
      html: '<p>Grüße <img src="cid:logo"></p><link rel="preconnect" href="https://tracker.example"><a href="https://x.example">x</a>',
      attachments: [LOGO],
    });
    const view = expectStatus(await server.api('GET', `/v1/emails/${id}/view`), 200).json;

    const document = await shown(view.token);

    expect(view).toEqual({
      token: view.token,
      url: `${server.url}/v1/mail-views?token=${view.token}`,
      expires_at: expect.stringMatching(TIMESTAMP),
    });
    expect(document.status).toBe(200);
    expect(
      Object.fromEntries(
        [
          'content-type',
          'content-security-policy',
          'cache-control',
          'x-content-type-options',
          'referrer-policy',
          'x-dns-prefetch-control',
        ].map((name) => [name, document.headers.get(name)]),
      ),
    ).toEqual({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-dns-prefetch-control': 'off',
    });
    expect(document.text).toContain(`Grüße <img src="data:image/png;base64,${PNG.toString('base64')}">`);
    expect(document.text).not.toMatch(/<link|<a href/);
    expect(server.logs()).not.toContain(view.token);
    expect(server.logs()).toContain('/v1/mail-views');
  });

  it('200: a message to an alias can be viewed too; 404 for one without HTML', async () => {
    const { id: alias, address } = await aliasTo(server, []);
    for (const [type, text] of [
      ['text/html; charset=iso-8859-1', Buffer.from('<b>Gr\xfc\xdfe</b>', 'latin1')],
      ['text/plain', Buffer.from('hi')],
    ] as const) {
      await deliver(
        smtp,
        address,
        Buffer.concat([
          Buffer.from(`From: ada@b.example\r\nTo: ${address}\r\nSubject: x\r\nContent-Type: ${type}\r\n\r\n`),
          text,
        ]),
      );
    }
    const [plain, html] = await messagesOf(server, alias, 2);

    expect((await shown(await tokenOf(`/v1/aliases/${alias}/messages/${html.id}/view`))).text).toContain(
      '<b>Grüße</b>',
    );
    expectRefusal(await server.api('GET', `/v1/aliases/${alias}/messages/${plain.id}/view`), 404);
  });

  it('404: a view requires a key of its environment to create, shows only its own message, and ends with the message', async () => {
    const id = await sendEmail(server, { html: '<p>Secret</p>' });
    const token = await tokenOf(`/v1/emails/${id}/view`);
    const { key } = await createKey(server, { scope: 'admin', environment: 'test' });

    for (const place of ['view', 'content', 'attachments/0']) {
      expectRefusal(await server.api('GET', `/v1/emails/${id}/${place}`, undefined, as(key)), 404);
      expectRefusal(
        await server.api('GET', `/v1/emails/${id}/${place}`, undefined, { authorization: `Bearer ${token}` }),
        401,
      );
    }
    expectRefusal(await shown(`${token}x`), 404);
    expectRefusal(await shown(''), 404);
    await emailIn(server, id, 'delivered');
    expectStatus(await server.api('DELETE', `/v1/events/${id}/payload`), 204);
    expectRefusal(await shown(token), 404);
    expectRefusal(await server.api('GET', `/v1/emails/${id}/content`), 404);
  });

  it('200: lists the addresses of the simulator, and each one has its documented outcome', async () => {
    const simulator = expectStatus(await server.api('GET', '/v1/emails/simulator'), 200).json;

    expect(simulator).toEqual({
      host: 'simulator.localhost',
      captured: true,
      addresses: ['delivered', 'bounced', 'complained', 'suppressed', 'deferred'].map((role) => ({
        role,
        address: `${role}@simulator.localhost`,
      })),
    });
    for (const status of ['delivered', 'bounced', 'complained']) {
      const { address } = simulator.addresses.find(({ role }: { role: string }) => role === status);
      expect((await emailIn(server, await sendEmail(server, { to: address }), status)).status).toBe(status);
    }
  });

  it('404: a scheduled email has no content before it is composed', async () => {
    const id = await sendEmail(server, { html: '<p>Later</p>', scheduled_at: 'in 1 hour' });

    for (const place of ['view', 'content', 'attachments/0'])
      expectRefusal(await server.api('GET', `/v1/emails/${id}/${place}`), 404);
  });
});
