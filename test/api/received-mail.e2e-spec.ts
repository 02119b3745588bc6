import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { createTransport } from 'nodemailer';
import { freePort } from '../durability/processes.js';
import { type ApiAnswer, type PosthornServer, startServer } from '../support/server.js';
import { startZoneServer, type ZoneServer } from '../support/zone-server.js';
import { as, createKey, expectInvalid, expectRefusal } from './answers.js';
import { aliasTo, deliver, letter, messageOf, messagesOf } from './mailing.js';
import { until } from './polling.js';
import {
  destinationAt,
  expectStatus,
  openSql,
  type Sql,
  startTargets,
  type Targets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';

/**
 * Starts a fake clamd. It reports EICAR as infected, and closes the connection if a message contains "hang up on me".
 */
function startClamd(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer((socket) => {
      let held = Buffer.alloc(0);
      socket
        .on('error', () => undefined)
        .on('data', (bytes) => {
          held = Buffer.concat([held, bytes]);
          if (!held.subarray(-4).equals(Buffer.alloc(4))) return;
          if (held.includes('hang up on me')) socket.destroy();
          else socket.end(held.includes('EICAR') ? 'stream: Eicar-Test-Signature FOUND\0' : 'stream: OK\0');
        });
    }).listen(0, '127.0.0.1', () => resolve(server));
  });
}

function startRspamd(): Promise<HttpServer> {
  return new Promise((resolve) => {
    const server = createHttpServer((request, response) => {
      const chunks: Buffer[] = [];
      request
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          const isSpam =
            Buffer.concat(chunks).includes('GTUBE') &&
            request.headers['ip'] === '127.0.0.1' &&
            request.headers['from'] === 'ada@b.example';
          response.end(JSON.stringify({ action: isSpam ? 'reject' : 'no action', score: 1 }));
        });
    }).listen(0, '127.0.0.1', () => resolve(server));
  });
}

const portOf = (server: Server | HttpServer): number => (server.address() as AddressInfo).port;

const LONG_AGO = '2026-01-01T00:00:00Z';

describe('received mail', () => {
  let server: PosthornServer;
  let targets: Targets;
  let zone: ZoneServer;
  let scanners: (Server | HttpServer)[];
  let sql: Sql;
  let smtp: number;
  let destination: string;

  beforeAll(async () => {
    const [clamd, rspamd, ...rest] = await Promise.all([
      startClamd(),
      startRspamd(),
      startTargets(),
      startZoneServer(),
      freePort(),
    ]);
    [targets, zone, smtp] = rest;
    scanners = [clamd, rspamd];
    server = await startServer({
      SMTP_PORT: String(smtp),
      DNS_SERVERS: zone.address,
      CLAMD_ADDRESS: `127.0.0.1:${portOf(clamd)}`,
      RSPAMD_URL: `http://127.0.0.1:${portOf(rspamd)}`,
    });
    sql = openSql(server);
    destination = await destinationAt(server, targets.open().url);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await targets?.close();
    await zone?.close();
    for (const scanner of scanners ?? []) scanner.close();
  });

  it('becomes a webhook with its content, its attachments to fetch, and the raw message byte for byte', async () => {
    const target = targets.open();
    const alias = await aliasTo(server, [await destinationAt(server, target.url)]);
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>';
    const pdf = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 31) % 256));
    const transport = createTransport({ host: '127.0.0.1', port: smtp, secure: false, ignoreTLS: true });
    const compose = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
    const { message: raw } = await compose.sendMail({
      from: 'Ada <ada@b.example>',
      to: alias.address,
      cc: 'c@b.example',
      subject: 'Größe',
      text: 'Where is it?',
      html: '<b>Where</b>',
      inReplyTo: '<1@b.example>',
      headers: { 'Auto-Submitted': 'auto-generated' },
      attachments: [
        { filename: '../../Rechnung März.pdf', content: pdf },
        { filename: 'logo.svg', content: svg, contentType: 'image/svg+xml' },
      ],
    });
    await transport.sendMail({ envelope: { from: 'ada@b.example', to: alias.address }, raw });

    const [post] = await target.arrived(1);

    const event = JSON.parse(post?.rawBody.toString() ?? '');
    expect(post?.headers).toMatchObject({
      'webhook-id': event.id,
      'webhook-event-type': 'email.received',
      'content-type': 'application/json',
    });
    expect(event).toMatchObject({
      alias: alias.address,
      endpoint_id: alias.id,
      from: 'Ada <ada@b.example>',
      to: [alias.address],
      cc: ['c@b.example'],
      subject: 'Größe',
      in_reply_to: '<1@b.example>',
      auto_submitted: true,
      verdicts: { spf: 'none', dkim: 'none', dmarc: 'none', spam: 'pass', virus: 'pass', dmarc_policy: null },
      auth: 'none',
      status: 'retrying',
      reason: null,
      parse_error: null,
      truncated: false,
      size_bytes: (raw as Buffer).length,
      attachments: [
        { filename: 'Rechnung März.pdf', content_type: 'application/pdf', size_bytes: 70_000 },
        { filename: 'logo.svg', content_type: 'image/svg+xml', size_bytes: svg.length },
      ],
    });
    expect([event.text.trim(), event.html.trim()]).toEqual(['Where is it?', '<b>Where</b>']);
    expect(event).toMatchObject({
      text_from_html: false,
      reply_text: 'Where is it?',
      signature: null,
      charset_guessed: false,
    });
    const fetched = await fetch(event.raw_url, { headers: { authorization: `Bearer ${server.apiKey}` } });
    expect([
      fetched.headers.get('content-type'),
      Buffer.from(await fetched.arrayBuffer()).equals(raw as Buffer),
    ]).toEqual(['message/rfc822', true]);
    const [file, image] = (await Promise.all(
      event.attachments.map(({ url }: { url: string }) =>
        fetch(url, { headers: { authorization: `Bearer ${server.apiKey}` } }),
      ),
    )) as [Response, Response];
    expect(Buffer.from(await file.arrayBuffer()).equals(pdf)).toBe(true);
    expect(Object.fromEntries(file.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'x-content-type-options': 'nosniff',
      'content-length': '70000',
      'content-disposition': 'attachment; filename="Rechnung M_rz.pdf"; filename*=UTF-8\'\'Rechnung%20M%C3%A4rz.pdf',
    });
    expect([
      image.headers.get('content-type'),
      image.headers.get('content-security-policy'),
      await image.text(),
    ]).toEqual(['application/octet-stream', "sandbox; default-src 'none'", svg]);
    expect(
      await until(
        () => messageOf(server, alias.id, event.id),
        ({ status }) => status === 'delivered',
        WITHIN_MS,
      ),
    ).toMatchObject({ ...event, status: 'delivered' });
    expect((await server.api('GET', `/v1/events?endpoint=${alias.id}`)).json.data).toMatchObject([
      { id: event.id, event_type: 'email.received', endpoint: alias.address, status: 'delivered' },
    ]);
  });

  it('a uuencoded attachment has the same size and bytes in the message, by its path, and behind a signed link', async () => {
    const alias = await aliasTo(server, []);
    const raw = `From: ada@b.example\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nhi\r\n--x\r\nContent-Type: application/octet-stream; name=a.bin\r\nContent-Transfer-Encoding: x-uuencode\r\n\r\nbegin 644 a.bin\r\n$86)C9\`\`\`\r\n\`\r\nend\r\n--x--\r\n`;
    await deliver(smtp, alias.address, raw);
    const [{ id }] = (await messagesOf(server, alias.id, 1)) as [{ id: string }];

    const { attachments } = await messageOf(server, alias.id, id);

    expect(attachments).toMatchObject([{ filename: 'a.bin', size_bytes: 4 }]);
    const path = `/v1/aliases/${alias.id}/messages/${id}`;
    const read = await server.api('GET', `${path}/attachments/0`);
    const { attachments: links } = expectStatus(await server.api('POST', `${path}/links`, {}), 200).json;
    expect([read.text, await (await fetch(links[0].url)).text()]).toEqual(['abcd', 'abcd']);
  });

  it('is listed newest first, in pages, by the id and the address of its alias, and only in its environment', async () => {
    const alias = await aliasTo(server, []);
    for (const subject of ['one', 'two', 'three']) await deliver(smtp, alias.address, letter(`${subject}-${alias.id}`));
    await messagesOf(server, alias.id, 3);

    const first = expectStatus(
      await server.api('GET', `/v1/aliases/${encodeURIComponent(alias.address)}/messages?limit=2`),
      200,
    ).json;
    const second = expectStatus(
      await server.api('GET', `/v1/aliases/${alias.id}/messages?limit=2&cursor=${first.next_cursor}`),
      200,
    ).json;

    expect([...first.data, ...second.data].map(({ subject }: { subject: string }) => subject.split('-')[0])).toEqual([
      'three',
      'two',
      'one',
    ]);
    expect([first.data[0], second.next_cursor]).toEqual([
      {
        id: expect.stringMatching(/^evt_/),
        message_id: `<three-${alias.id}@b.example>`,
        from: 'Ada <ada@b.example>',
        subject: `three-${alias.id}`,
        received_at: expect.any(String),
        auth: 'none',
        state: 'processed',
        reason: null,
      },
      null,
    ]);
    const found = async (query: string): Promise<string[]> =>
      expectStatus(await server.api('GET', `/v1/aliases/${alias.id}/messages?${query}`), 200).json.data.map(
        ({ subject }: { subject: string }) => subject.split('-')[0],
      );
    expect([
      await found('from=ADA@b.example&state=processed'),
      await found('state=quarantined'),
      await found('from=bob@b.example'),
    ]).toEqual([['three', 'two', 'one'], [], []]);
    expect([
      await found(`since=${first.data[1].received_at}`),
      await found(`until=${first.data[1].received_at}`),
      await found('from=ada@b.example&limit=1'),
    ]).toEqual([['three', 'two'], ['two', 'one'], ['three']]);
    for (const query of ['state=nonsense', 'since=yesterday', 'from='])
      expectRefusal(await server.api('GET', `/v1/aliases/${alias.id}/messages?${query}`), 400);
    const { id } = first.data[0];
    expect((await messageOf(server, alias.id, id)).status).toBe('ignored');
    const other = (await createKey(server, { scope: 'admin', environment: 'test' })).key;
    for (const path of ['messages', `messages/${id}`, `messages/${id}/raw`, `messages/${id}/attachments/0`]) {
      expectRefusal(
        await server.api('GET', `/v1/aliases/${alias.id}/${path}`, undefined, { authorization: `Bearer ${other}` }),
        404,
      );
    }
    const stranger = await aliasTo(server, []);
    for (const path of [
      `${stranger.id}/messages/${id}`,
      `${alias.id}/messages/evt_1`,
      `${alias.id}/messages/${id}/attachments/0`,
      `${alias.id}/messages/${id}/attachments/x`,
    ]) {
      expectRefusal(await server.api('GET', `/v1/aliases/${path}`), 404);
    }
  });

  it('is authenticated by DNS records, and quarantined if the policy of its domain requires it', async () => {
    const target = targets.open();
    const alias = await aliasTo(server, [await destinationAt(server, target.url)]);
    zone.set('good.example', 'TXT', ['v=spf1 ip4:127.0.0.1 -all']);
    zone.set('_dmarc.good.example', 'TXT', ['v=DMARC1; p=reject']);
    await deliver(smtp, alias.address, letter('good').replaceAll('b.example', 'good.example'), 'ada@good.example');
    await deliver(smtp, alias.address, letter('forged').replaceAll('b.example', 'good.example'), 'ada@evil.example');

    const [forged, good] = await messagesOf(server, alias.id, 2);

    expect([good, forged]).toMatchObject([
      { auth: 'pass', state: 'processed', reason: null },
      { auth: 'fail', state: 'quarantined', reason: 'dmarc_failed' },
    ]);
    expect(await messageOf(server, alias.id, good.id)).toMatchObject({
      verdicts: { spf: 'pass', dmarc: 'pass', dmarc_policy: 'reject' },
    });
    expect(await messageOf(server, alias.id, forged.id)).toMatchObject({
      status: 'quarantined',
      reason: 'dmarc_failed',
      subject: 'forged',
    });
    await target.arrived(1);
    expect(target.posts().map(({ rawBody }) => JSON.parse(rawBody.toString()).subject)).toEqual(['good']);
    expect((await server.api('GET', `/v1/events?endpoint=${alias.id}&status=quarantined`)).json.data).toMatchObject([
      { id: forged.id },
    ]);
  });

  it.each<[string, string, object, string | null, object]>([
    ['a virus', letter('virus').replace('Where', 'EICAR'), {}, 'virus', { virus: 'fail' }],
    [
      'spam, which is only reported',
      letter('spam').replace('Where', 'GTUBE'),
      {},
      null,
      { spam: 'fail', virus: 'pass' },
    ],
    [
      'a scanner that closes the connection',
      letter('away').replace('Where is it', 'hang up on me'),
      {},
      null,
      { virus: 'processing_failed' },
    ],
    ['no From', letter('nobody').replace(/^From.*\r\n/, ''), {}, 'from_missing', {}],
    ['two From headers', `From: boss@bank.example\r\n${letter('two')}`, {}, 'from_ambiguous', {}],
    [
      'two authors',
      letter('authors').replace('<ada@b.example>', '<ada@b.example>, boss@bank.example'),
      {},
      'from_ambiguous',
      {},
    ],
  ])('%s', async (_what, raw, settings, reason, verdicts) => {
    const alias = await aliasTo(server, [destination], settings);
    await deliver(smtp, alias.address, raw);

    const [message] = await messagesOf(server, alias.id, 1);

    expect(message).toMatchObject({ state: reason === null ? 'processed' : 'quarantined', reason });
    expect((await messageOf(server, alias.id, message.id)).verdicts).toMatchObject(verdicts);
  });

  it('a message that cannot be parsed is still delivered, with a note and its bytes', async () => {
    const target = targets.open();
    const alias = await aliasTo(server, [await destinationAt(server, target.url)]);
    const raw = letter(
      'bomb',
      Array.from({ length: 300 }, (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`).join(
        '',
      ),
    );
    await deliver(smtp, alias.address, raw);

    const [post] = await target.arrived(1);

    const event = JSON.parse(post?.rawBody.toString() ?? '');
    expect(event).toMatchObject({
      subject: 'bomb',
      from: 'Ada <ada@b.example>',
      text: null,
      html: null,
      attachments: [],
      parse_error: expect.stringContaining('256'),
    });
    expect((await server.api('GET', `/v1/aliases/${alias.id}/messages/${event.id}/raw`)).text).toBe(raw);
  });

  it('two headers of 100,000 folded lines are read at once, and so is the message after them', async () => {
    const alias = await aliasTo(server, []);
    const raws = ['folded-0', 'folded-1'].map((subject) => letter(subject, `X-Big: ${'a\r\n '.repeat(100_000)}z\r\n`));
    for (const raw of raws) await deliver(smtp, alias.address, raw);
    await deliver(smtp, alias.address, letter('after'));

    const [after, ...folded] = await messagesOf(server, alias.id, 3);

    expect(await messageOf(server, alias.id, after.id)).toMatchObject({ subject: 'after', parse_error: null });
    for (const [i, { id }] of folded.reverse().entries()) {
      expect(await messageOf(server, alias.id, id)).toMatchObject({
        subject: `folded-${i}`,
        from: 'Ada <ada@b.example>',
        auth: 'none',
        parse_error: expect.stringContaining('Max header size'),
      });
      expect((await server.api('GET', `/v1/aliases/${alias.id}/messages/${id}/raw`)).text).toBe(raws[i]);
    }
  });

  it('NUL bytes and names with dots are harmless', async () => {
    const alias = await aliasTo(server, []);
    const raw = `From: ada@b.example\r\nSubject: a=?utf-8?B?AGI=?=\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\na=\0b\r\n--x\r\nContent-Type: text/html; name="../../../etc/passwd"\r\nContent-Disposition: attachment\r\n\r\n<script>\r\n--x--\r\n`;
    await deliver(smtp, alias.address, Buffer.from(raw));

    const [{ id }] = await messagesOf(server, alias.id, 1);

    expect(await messageOf(server, alias.id, id)).toMatchObject({
      parse_error: null,
      attachments: [{ filename: 'passwd', content_type: 'text/html' }],
    });
    const file = await server.api('GET', `/v1/aliases/${alias.id}/messages/${id}/attachments/0`);
    expect([file.status, file.headers.get('content-type'), file.headers.get('content-disposition')]).toEqual([
      200,
      'application/octet-stream',
      'attachment; filename="passwd"',
    ]);
  });

  it('a large message is also stored byte for byte', async () => {
    const alias = await aliasTo(server, []);
    const body = Buffer.alloc(
      3 * 1024 * 1024,
      'c29tZSBieXRlcyBvZiBhIGZpbGUgdGhhdCBpcyBsYXJnZXIgdGhhbiBhIHJvdyBpcyBraW5kIA==\r\n',
    );
    const raw = Buffer.concat([
      Buffer.from(
        letter('large', 'Content-Type: application/x-large\r\nContent-Transfer-Encoding: base64\r\n').replace(
          'Where is it?\r\n',
          '',
        ),
      ),
      body,
      Buffer.from('\r\n'),
    ]);
    await deliver(smtp, alias.address, raw);

    const [{ id }] = await messagesOf(server, alias.id, 1);

    const fetched = await fetch(`${server.url}/v1/aliases/${alias.id}/messages/${id}/raw`, {
      headers: { authorization: `Bearer ${server.apiKey}` },
    });
    expect(Buffer.from(await fetched.arrayBuffer()).equals(raw)).toBe(true);
  });

  it('is also available to pull consumers', async () => {
    const { id: pull } = expectStatus(
      await server.api('POST', '/v1/destinations', { name: 'pulled', type: 'pull' }),
      201,
    ).json;
    const alias = await aliasTo(server, [pull]);
    await deliver(smtp, alias.address, letter('pulled'));

    const page = await until(
      async () => (await server.api('GET', `/v1/pull/${pull}`)).json,
      ({ data }) => data.length > 0,
      WITHIN_MS,
    );

    expect(JSON.stringify(page.data[0])).toContain('pulled');
  });

  it('nothing of an erased message is left', async () => {
    const alias = await aliasTo(server, []);
    await deliver(smtp, alias.address, letter('secret'));
    const [{ id }] = await messagesOf(server, alias.id, 1);
    expectStatus(await server.api('DELETE', `/v1/events/${id}/payload`), 204);

    for (const path of ['', '/raw', '/attachments/0'])
      expectRefusal(await server.api('GET', `/v1/aliases/${alias.id}/messages/${id}${path}`), 404);
    const [row] = await sql.rows('select m::text as text from inbox_messages m where id = $1', [uuidOf(id)]);
    expect(row?.['text']).not.toMatch(/secret|ada@|Where/);
  });

  describe('messages of a deleted alias', () => {
    /** Delivers a message with an attachment whose bytes are in a blob, and deletes its alias. Returns its event. */
    async function received(): Promise<{ alias: { id: string; address: string }; event: ApiAnswer['json'] }> {
      const target = targets.open();
      const alias = await aliasTo(server, [await destinationAt(server, target.url)]);
      const raw =
        `Subject: kept\r\nMessage-ID: <kept@b.example>\r\nFrom: ada@b.example\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n` +
        `--x\r\nContent-Type: text/html\r\n\r\n<p>kept</p>\r\n--x\r\nContent-Disposition: attachment; filename=a.bin\r\n\r\n${'kept\r\n'.repeat(60_000)}\r\n--x--\r\n`;
      await deliver(smtp, alias.address, raw);
      const [post] = await target.arrived(1);
      expectStatus(await server.api('DELETE', `/v1/aliases/${alias.id}`), 204);
      return { alias, event: JSON.parse(post?.rawBody.toString() ?? '') };
    }

    const pathsOf = (alias: string, { id }: { id: string }): string[] =>
      ['', `/${id}`, `/${id}/raw`, `/${id}/attachments/0`, `/${id}/view`].map(
        (path) => `/v1/aliases/${alias}/messages${path}`,
      );

    it('200: stay readable by the id of the alias, also at the URLs in delivered events, with a key for reading', async () => {
      const { alias, event } = await received();
      const { key } = await createKey(server, { scope: 'read', environment: 'live' });

      const answers = await Promise.all(
        pathsOf(alias.id, event).map((path) => server.api('GET', path, undefined, as(key))),
      );
      const files = await Promise.all(
        [event.raw_url, event.attachments[0].url].map((url: string) => fetch(url, { headers: as(key) })),
      );

      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      expect([answers[0]?.json.data.length, answers[1]?.json.alias]).toEqual([1, alias.address]);
      expect([files.map(({ status }) => status), await files[1]?.text()]).toEqual([
        [200, 200],
        `${'kept\r\n'.repeat(60_000)}`,
      ]);
      const links = expectStatus(
        await server.api('POST', `/v1/aliases/${alias.id}/messages/${event.id}/links`, {}),
        200,
      ).json;
      expect((await fetch(links.raw_url)).status).toBe(200);
    });

    it('404: the alias itself, its address, what delivers again, other environments, and unknown aliases', async () => {
      const { alias, event } = await received();
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
      const message = `/v1/aliases/${alias.id}/messages/${event.id}`;

      expectRefusal(await server.api('GET', `/v1/aliases/${alias.id}`), 404);
      expectRefusal(await server.api('PATCH', `/v1/aliases/${alias.id}`, { maxSizeBytes: null }), 404);
      expectRefusal(await server.api('POST', `/v1/aliases/${alias.id}/replay`, { dry_run: true }), 404);
      expectRefusal(await server.api('POST', `${message}/release`), 404);
      for (const path of [
        ...pathsOf(encodeURIComponent(alias.address), event),
        ...pathsOf('al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', event),
      ])
        expectRefusal(await server.api('GET', path), 404);
      for (const path of pathsOf(alias.id, event))
        expectRefusal(await server.api('GET', path, undefined, as(key)), 404);
      expectRefusal(await server.api('POST', `${message}/links`, {}, as(key)), 404);
    });

    it('another alias with the same address does not show them', async () => {
      const { alias, event } = await received();
      const localPart = alias.address.split('.')[0];
      const again = await aliasTo(server, [destination], { localPart });

      expect(again.address).toBe(alias.address);
      for (const name of [again.id, encodeURIComponent(alias.address)]) {
        expect((await server.api('GET', `/v1/aliases/${name}/messages`)).json.data).toEqual([]);
        expectRefusal(await server.api('GET', `/v1/aliases/${name}/messages/${event.id}/raw`), 404);
      }
    });

    it('204, then 404: erasing the event removes the bytes', async () => {
      const { alias, event } = await received();
      const blobs = () => sql.rows('select 1 from blob_chunks where id = $1', [uuidOf(event.id)]);
      const before = (await blobs()).length;

      expectStatus(await server.api('DELETE', `/v1/events/${event.id}/payload`), 204);

      const [list, ...paths] = pathsOf(alias.id, event);
      for (const path of paths) expectRefusal(await server.api('GET', path), 404);
      expect((await server.api('GET', list ?? '')).json.data).toMatchObject([{ subject: null }]);
      expect([before > 0, await blobs()]).toEqual([true, []]);
    });
  });

  describe('POST /v1/aliases/{alias}/replay', () => {
    const replay = (alias: string, body: object = {}) => server.api('POST', `/v1/aliases/${alias}/replay`, body);

    it('200: sends messages again to the current destinations of the alias, but never quarantined ones', async () => {
      const [before, now] = [targets.open(), targets.open()];
      const alias = await aliasTo(server, [await destinationAt(server, before.url)]);
      for (const subject of ['first', 'second']) await deliver(smtp, alias.address, letter(subject));
      await deliver(smtp, alias.address, letter('bad').replace('Where', 'EICAR'));
      await messagesOf(server, alias.id, 3);
      await before.arrived(2);
      const other = await destinationAt(server, now.url);
      expectStatus(await server.api('PATCH', `/v1/aliases/${alias.id}`, { destinationIds: [other] }), 200);

      const counted = expectStatus(await replay(alias.id, { dry_run: true }), 200).json;
      const done = expectStatus(await replay(encodeURIComponent(alias.address), { since: LONG_AGO }), 200).json;

      const counts = {
        alias_id: alias.id,
        scanned: 3,
        replayed: 2,
        enqueued: 2,
        skipped: 0,
        excluded: 1,
        destinations: [other],
        next_cursor: null,
      };
      expect([counted, done]).toMatchObject([
        { ...counts, dry_run: true },
        { ...counts, dry_run: false, replay_id: expect.stringMatching(/^rpl_/) },
      ]);
      const posts = await now.arrived(2);
      expect(
        posts.map(({ headers, rawBody }) => [
          headers['webhook-replayed'],
          headers['webhook-id'] === JSON.parse(rawBody.toString()).id,
        ]),
      ).toEqual([
        ['true', true],
        ['true', true],
      ]);
      expect([now.posts().length, before.posts().length]).toEqual([2, 2]);
    });

    it('200: at most a thousand messages per call, and a cursor to continue', async () => {
      const alias = await aliasTo(server, [destination]);
      await deliver(smtp, alias.address, letter('many'));
      const [{ id }] = await messagesOf(server, alias.id, 1);
      await sql.rows(
        `insert into events (environment_id, id, expires_on, target_id, url, direction, event_type, headers, payload_bytes, payload, disposition)
         select environment_id, (substr(id::text, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, expires_on, target_id, url, direction, event_type, headers, payload_bytes, payload, disposition
         from events, generate_series(1, 1100) n where id = $1`,
        [uuidOf(id)],
      );

      const first = expectStatus(await replay(alias.id, { dry_run: true }), 200).json;
      const second = expectStatus(await replay(alias.id, { dry_run: true, cursor: first.next_cursor }), 200).json;

      expect([first.scanned, typeof first.next_cursor, second.scanned, second.next_cursor]).toEqual([
        1000,
        'string',
        101,
        null,
      ]);
      expectRefusal(await replay(alias.id, { dry_run: false, cursor: first.next_cursor }), 400);
    });

    it('422, 404 and 400 for invalid parameters', async () => {
      const alias = await aliasTo(server, []);

      expectInvalid(
        await replay(alias.id, { since: '2026-11-21T00:00:00Z', until: '2026-11-20T00:00:00Z' }),
        'schema',
        'since',
      );
      expectInvalid(await replay(alias.id, { status: 'nonsense' }), 'schema', 'status');
      for (const body of [{}, { dry_run: false }, { status: 'dlq' }])
        expectInvalid(await replay(alias.id, body), 'schema', 'since');
      expectStatus(await replay(alias.id, { until: LONG_AGO }), 200);
      expectRefusal(await replay('al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'), 404);
      expectRefusal(await replay(alias.id, { cursor: 'x' }), 400);
    });
  });
});
