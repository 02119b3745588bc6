import { randomUUID } from 'node:crypto';
import { Resend } from 'resend';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal, REQUEST_ID, TIMESTAMP } from './answers.js';
import { EMAIL, emailIn, emailOf, rawOf, sendEmail, simulated, SIMULATOR } from './emailing.js';
import { until } from './polling.js';
import type { Sql, Targets } from './scene.js';
import { destinationAt, eventIn, expectStatus, openSql, send as sendEvent, startTargets, uuidOf } from './scene.js';

const HELLO = { from: `shop@${SIMULATOR}`, subject: 'From resend', text: 'Hello' };
const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

/** Calls, with the package itself, every method that docs/email.md marks as *Works*. */
describe('the resend package with its base URL set to Posthorn', () => {
  let server: PosthornServer;
  let sql: Sql;
  let targets: Targets;
  let resend: Resend;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer(), startTargets()]);
    sql = openSql(server);
    resend = new Resend(server.apiKey, { baseUrl: `${server.url}/v1` });
  });

  afterAll(async () => {
    await sql?.close();
    await Promise.all([server?.stop(), targets?.close()]);
  });

  /** Sends with the package and returns the id. */
  const send = async (fields: object = {}): Promise<string> => {
    const { data, error } = await resend.emails.send({ ...HELLO, to: simulated('delivered'), ...fields });
    expect(error).toBeNull();
    return data?.id ?? '';
  };

  describe('emails.get', () => {
    it('returns the HTML, the text and the last event', async () => {
      const id = await send({ html: '<p>Hällo</p>', replyTo: 'help@example.com', tags: [{ name: 'a', value: 'b' }] });
      await emailIn(server, id, 'delivered');

      const { data, error } = await resend.emails.get(id);

      expect(error).toBeNull();
      expect(data).toMatchObject({
        object: 'email',
        id,
        from: HELLO.from,
        cc: [],
        bcc: [],
        reply_to: ['help@example.com'],
        subject: 'From resend',
        last_event: 'delivered',
        message_id: `<${id}@${SIMULATOR}>`,
        created_at: expect.stringMatching(TIMESTAMP),
        tags: [{ name: 'a', value: 'b' }],
      });
      expect([data?.html, data?.text]).toEqual(['<p>Hällo</p>', 'Hello']);
    });

    const BODIES = [
      'Hello',
      'Hello\n',
      'Hello\n\n',
      '\nHello ',
      'Hällo',
      'Hällo\n',
      '世界',
      '世界\n',
      'x'.repeat(2_000),
    ];

    it.each<[string, (body: string) => object]>([
      ['a text alone', (text) => ({ text })],
      ['an HTML alone', (html) => ({ html, text: '' })],
      ['a text and an HTML', (body) => ({ text: body, html: body })],
      ['a text with an attachment', (text) => ({ text, attachments: [{ filename: 'a', content: Buffer.from('a') }] })],
    ])('returns the content as it was given: %s', async (_what, fieldsOf) => {
      for (const body of BODIES) {
        const given = { html: null, ...fieldsOf(body) } as { text: string; html: string | null };
        const id = await send(given);

        const { data } = await resend.emails.get(id);
        const content = (await server.api('GET', `/v1/emails/${id}/content`)).json;

        const expected = [given.html, given.text || null];
        expect([data?.html, data?.text]).toEqual(expected);
        expect([content.html, content.text]).toEqual(expected);
      }
    });

    it.each([
      ['delivered', 'delivered', 'delivered'],
      ['bounced', 'bounced', 'bounced'],
      ['complained', 'complained', 'complained'],
      ['suppressed', 'suppressed', 'suppressed'],
      ['deferred', 'sending', 'delivery_delayed'],
    ])('the last event of an email to %s@', async (role, status, lastEvent) => {
      const id = await send({ to: simulated(role) });
      await emailIn(server, id, status);

      await until(
        () => resend.emails.get(id),
        ({ data }) => data?.last_event === lastEvent,
      );
    });

    it('returns the HTML and the text of a scheduled email, and neither for one that was cancelled', async () => {
      const id = await send({ html: '<p>Later</p>', scheduledAt: 'in 1 hour' });

      const scheduled = await resend.emails.get(id);
      await resend.emails.cancel(id);
      const canceled = await resend.emails.get(id);

      expect([scheduled.data?.html, scheduled.data?.text, scheduled.data?.last_event]).toEqual([
        '<p>Later</p>',
        'Hello',
        'scheduled',
      ]);
      expect([canceled.data?.html, canceled.data?.text, canceled.data?.last_event]).toEqual([null, null, 'canceled']);
    });

    it('without content, returns everything else', async () => {
      const id = await send();

      const { json } = await server.api('GET', `/v1/emails/${id}?content=false`);

      expect([json.id, 'html' in json, 'text' in json]).toEqual([id, false, false]);
      expectRefusal(await server.api('GET', `/v1/emails/${id}?content=maybe`), 400);
    });
  });

  describe('emails.list', () => {
    it('pages with after and before, newest first', async () => {
      const { key } = await createKey(server, { scope: 'write', environment: 'test' });
      const own = new Resend(key, { baseUrl: `${server.url}/v1` });
      const ids: string[] = [];
      for (const later of [false, true, false, true, false])
        ids.unshift(await sendEmail(server, later ? { scheduled_at: inHours(1) } : {}, as(key)));
      const page = async (options: object): Promise<[string[] | undefined, boolean | undefined]> => {
        const { data, error } = await own.emails.list(options);
        expect(error).toBeNull();
        expect(data?.object).toBe('list');
        return [data?.data.map(({ id }) => id), data?.has_more];
      };

      expect(await page({})).toEqual([ids, false]);
      expect(await page({ limit: 2 })).toEqual([ids.slice(0, 2), true]);
      expect(await page({ limit: 2, after: ids[1] })).toEqual([ids.slice(2, 4), true]);
      expect(await page({ limit: 2, after: ids[3] })).toEqual([ids.slice(4), false]);
      expect(await page({ limit: 2, before: ids[4] })).toEqual([ids.slice(2, 4), true]);
      expect(await page({ limit: 2, before: ids[2] })).toEqual([ids.slice(0, 2), false]);
      expect(await page({ before: ids[0] })).toEqual([[], false]);
      const listed = await own.emails.list({ limit: 1 });
      expect(listed.data?.data[0]).toMatchObject({
        last_event: expect.any(String),
        message_id: `<${ids[0]}@${SIMULATOR}>`,
        subject: EMAIL.subject,
      });
    });

    it.each([
      ['after=nonsense'],
      ['before=nonsense'],
      ["after=' or 1=1 --"],
      ['after=msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'],
      ['before=evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1&status=delivered'],
      ['before=evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1&tag=a'],
      ['before=evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1&after=evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'],
    ])('400: %s', async (query) => {
      expectRefusal(await server.api('GET', `/v1/emails?${query}`), 400);
    });

    it('a page after an id continues with its own cursor', async () => {
      const ids = [await send(), await send(), await send()].reverse();

      const first = (await server.api('GET', `/v1/emails?limit=1&after=${ids[0]}`)).json;
      const second = (await server.api('GET', `/v1/emails?limit=1&cursor=${first.next_cursor}`)).json;

      expect([first.data[0].id, second.data[0].id]).toEqual([ids[1], ids[2]]);
      expectRefusal(await server.api('GET', `/v1/emails?after=${ids[0]}&cursor=${first.next_cursor}`), 400);
    });
  });

  describe('emails.update', () => {
    it('changes the time of a scheduled email', async () => {
      const id = await send({ scheduledAt: 'in 1 hour' });
      const scheduledAt = inHours(48);

      const { data, error } = await resend.emails.update({ id, scheduledAt });

      expect([error, data]).toEqual([null, { object: 'email', id, scheduled_at: scheduledAt }]);
      expect((await emailOf(server, id)).scheduled_at).toBe(scheduledAt);
    });

    it.each(['scheduled_at', 'scheduledAt'])('accepts null in the other name of the field: %s', async (name) => {
      const id = await send({ scheduledAt: 'in 1 hour' });
      const at = inHours(3);

      // The packages for Python and Go send the id in the body, too.
      const changes = { id, scheduled_at: null, scheduledAt: null, [name]: at };
      const { json } = expectStatus(await server.api('PATCH', `/v1/emails/${id}`, changes), 200);

      expect(json.scheduled_at).toBe(at);
    });

    it('a time in the past sends the email now', async () => {
      const id = await send({ scheduledAt: 'in 1 hour' });

      expectStatus(await server.api('PATCH', `/v1/emails/${id}`, { scheduled_at: '2020-01-01T00:00:00Z' }), 200);

      await emailIn(server, id, 'delivered');
    });

    it.each<[string, object, string]>([
      ['no time', {}, 'scheduled_at'],
      ['no time with a zone', { scheduled_at: '2030-01-01T00:00:00' }, 'scheduled_at'],
      ['words', { scheduled_at: 'tomorrow' }, 'scheduled_at'],
      ['31 days ahead', { scheduledAt: 'in 31 days' }, 'scheduled_at'],
      ['a number', { scheduled_at: 5 }, 'scheduled_at'],
      ['null', { scheduled_at: null }, 'scheduled_at'],
      ['both names', { scheduled_at: 'in 1 hour', scheduledAt: 'in 1 hour' }, 'scheduledAt'],
      ['another field', { scheduled_at: 'in 1 hour', subject: 'x' }, 'subject'],
      ['a text that is too long', { scheduled_at: 'x'.repeat(65) }, 'scheduled_at'],
    ])('422: %s', async (_what, body, path) => {
      const id = await send({ scheduledAt: 'in 1 hour' });
      const before = (await emailOf(server, id)).scheduled_at;

      expectInvalid(await server.api('PATCH', `/v1/emails/${id}`, body), 'schema', path);

      expect((await emailOf(server, id)).scheduled_at).toBe(before);
    });

    it('409 for an email that was sent or cancelled, and 404 for one of another environment', async () => {
      const later = { scheduled_at: 'in 2 hours' };
      const [sent, canceled, other] = [
        await send(),
        await send({ scheduledAt: 'in 1 hour' }),
        await send({ scheduledAt: 'in 1 hour' }),
      ];
      const { key } = await createKey(server, { scope: 'write', environment: 'test' });
      expectStatus(await server.api('DELETE', `/v1/emails/${canceled}`), 204);

      expectRefusal(await server.api('PATCH', `/v1/emails/${sent}`, later), 409);
      expectRefusal(await server.api('PATCH', `/v1/emails/${canceled}`, later), 409);
      expectRefusal(await server.api('PATCH', `/v1/emails/${other}`, later, as(key)), 404);
      expectRefusal(await server.api('DELETE', `/v1/emails/${other}`, undefined, as(key)), 404);
    });
  });

  describe('emails.cancel', () => {
    it('the email stays readable as canceled, without its content, and is never sent', async () => {
      const id = await send({ scheduledAt: 'in 1 hour', attachments: [{ filename: 'a.txt', content: 'aGk=' }] });

      const first = await resend.emails.cancel(id);
      const again = await resend.emails.cancel(id);

      expect([first.error, first.data, again.data]).toEqual([null, { object: 'email', id }, { object: 'email', id }]);
      const email = await emailOf(server, id);
      expect(email).toMatchObject({
        status: 'canceled',
        last_event: 'canceled',
        from: HELLO.from,
        subject: HELLO.subject,
        captured: true,
        recipients: [{ status: 'canceled' }],
        timeline: [{ type: 'canceled' }],
        attachments: [{ filename: 'a.txt', size_bytes: 2 }],
      });
      expect(await sql.rows(`select 1 from scheduled_emails where id = '${uuidOf(id)}'`)).toEqual([]);
      expect(await sql.rows(`select 1 from blob_chunks where id = '${uuidOf(id)}'`)).toEqual([]);
      expectRefusal(await server.api('GET', `/v1/emails/${id}/raw`), 404);
      expectRefusal(await server.api('GET', `/v1/emails/${id}/content`), 404);
      const listed = (await server.api('GET', '/v1/emails?status=canceled')).json;
      expect(listed.data.map((each: { id: string }) => each.id)).toContain(id);
      expect((await eventIn(server, id, 'failed')).event_type).toBe('email.send');
      expect((await emailOf(server, id)).attempts).toEqual([]);
    });

    it('a replay of its event sends nothing', async () => {
      const id = await send({ scheduledAt: 'in 1 hour' });
      await resend.emails.cancel(id);
      await eventIn(server, id, 'failed');

      await server.api('POST', `/v1/events/${id}/replay`, {});
      await eventIn(server, id, 'failed');

      expect(await emailOf(server, id)).toMatchObject({ status: 'canceled', timeline: [{ type: 'canceled' }] });
    });
  });

  describe('emails.attachments', () => {
    const attachments = [
      { filename: 'Bericht März.txt', content: Buffer.from('hello'), contentType: 'text/plain' },
      { filename: 'logo.png', content: Buffer.from([1, 2, 3]), contentType: 'image/png', contentId: '<logo>' },
    ];

    it('lists and gets attachments with links that need no key', async () => {
      const emailId = await send({ html: '<img src="cid:logo">', attachments });

      const listed = await resend.emails.attachments.list({ emailId });
      const files = listed.data?.data ?? [];
      const one = await resend.emails.attachments.get({ emailId, id: files[0]?.id ?? '' });

      expect([listed.error, listed.data?.object, listed.data?.has_more]).toEqual([null, 'list', false]);
      const byName = Object.fromEntries(files.map((file) => [file.filename, file]));
      expect(byName['Bericht März.txt']).toMatchObject({
        size: 5,
        content_type: 'text/plain',
        content_disposition: 'attachment',
        expires_at: expect.stringMatching(TIMESTAMP),
      });
      expect(byName['logo.png']).toMatchObject({ size: 3, content_disposition: 'inline', content_id: 'logo' });
      expect([one.error, one.data?.object, one.data?.id]).toEqual([null, 'attachment', files[0]?.id]);
      const file = await fetch(byName['Bericht März.txt']?.download_url ?? '');
      expect([file.status, await file.text(), file.headers.get('content-disposition')]).toEqual([
        200,
        'hello',
        expect.stringContaining("filename*=UTF-8''Bericht%20M%C3%A4rz.txt"),
      ]);
      expect(file.headers.get('x-content-type-options')).toBe('nosniff');
      expect((await resend.emails.attachments.list({ emailId, limit: 1 })).data?.has_more).toBe(true);
      expect(
        (await resend.emails.attachments.list({ emailId, after: files[0]?.id ?? '' })).data?.data.map(({ id }) => id),
      ).toEqual([files[1]?.id]);
      expect(
        (await resend.emails.attachments.list({ emailId, before: files[1]?.id ?? '' })).data?.data.map(({ id }) => id),
      ).toEqual([files[0]?.id]);
    });

    it('takes the content as a list of bytes and the old names of content_id, as Python and Go send them', async () => {
      const content = [...Buffer.from('hello')];
      const body = {
        ...EMAIL,
        html: '<img src="cid:a"><img src="cid:b">',
        attachments: [
          { filename: 'a.png', content, inline_content_id: 'a' },
          { filename: 'b.png', content, inlineContentId: 'b' },
        ],
      };
      const { id } = expectStatus(await server.api('POST', '/v1/emails', body), 202).json;

      const { data } = await resend.emails.attachments.list({ emailId: id });

      expect(data?.data).toMatchObject([
        { size: 5, content_id: 'a', content_disposition: 'inline' },
        { size: 5, content_id: 'b', content_disposition: 'inline' },
      ]);
    });

    it.each([
      ['invoice.PDF', {}, 'application/pdf'],
      ['photo.jpg', {}, 'image/jpeg'],
      ['photo.jpg', { contentType: 'application/x-own' }, 'application/x-own'],
      ['logo.svg', {}, 'image/svg+xml'],
      ['page.html', {}, 'text/html'],
      ['archive.gzip', {}, 'application/octet-stream'],
      ['message.eml', {}, 'message/rfc822'],
      ['message.eml', { content: Buffer.from('Subject: x\n\nGr\u00fc\u00dfe\n') }, 'application/octet-stream'],
      ['file.unknown', {}, 'application/octet-stream'],
    ])('%s with %j has the type %s in the message and in every response', async (filename, fields, type) => {
      const content = Buffer.from('Subject: x\n\nhello\n');
      const emailId = await send({ attachments: [{ filename, content, ...fields }] });

      const email = await emailOf(server, emailId);
      const [listed] = (await resend.emails.attachments.list({ emailId })).data?.data ?? [];
      const read = await server.api('GET', `/v1/emails/${emailId}/content`);
      const raw = await rawOf(server, emailId);

      const shown = [email.attachments[0], read.json.attachments[0]];
      expect(shown).toMatchObject([{ content_type: type }, { content_type: type }]);
      expect([listed?.content_type, raw.includes(`Content-Type: ${type}; name=${filename}`)]).toEqual([type, true]);
      expect(shown.map(({ size_bytes: size }) => size)).toEqual([listed?.size, listed?.size]);
      const file = await fetch(listed?.download_url ?? '');
      expect(file.headers.get('content-disposition')).toMatch(/^attachment; /);
      expect(file.headers.get('content-type')).not.toMatch(/html|svg|xml/);
    });

    it.each([
      ['report.pdf', { html: '<a href="cid:file">Report</a>' }, 'inline'],
      ['report.pdf', {}, 'inline'],
      ['logo.png', { html: '<img src="cid:file">' }, 'inline'],
      ['notes.txt', { html: '<a href="cid:file">Notes</a>' }, 'attachment'],
      ['page.html', { html: '<a href="cid:file">Page</a>' }, 'attachment'],
      ['message.eml', {}, 'attachment'],
    ])(
      '%s with a contentId, in an email with %j, is %s in the message and in the API',
      async (filename, fields, as) => {
        const attachment = { filename, content: Buffer.from('Subject: x\r\n\r\nhello'), contentId: 'file' };
        const emailId = await send({ ...fields, attachments: [attachment] });

        const [listed] = (await resend.emails.attachments.list({ emailId })).data?.data ?? [];
        const raw = await rawOf(server, emailId);

        expect(listed).toMatchObject({ filename, content_id: 'file', content_disposition: as });
        expect(raw).toContain(`Content-Disposition: ${as}; filename=${filename}`);
      },
    );

    it('a position still returns the file itself', async () => {
      const id = await send({ attachments });

      const bodies = [0, 1].map(async (i) => (await server.api('GET', `/v1/emails/${id}/attachments/${i}`)).text);

      expect((await Promise.all(bodies)).includes('hello')).toBe(true);
    });

    it('404 for links that are changed, expired or of an erased email, and for unknown attachments', async () => {
      const emailId = await send({ attachments });
      const { data } = await resend.emails.attachments.list({ emailId });
      const url = new URL(data?.data[0]?.download_url ?? '');
      const token = url.searchParams.get('token') ?? '';
      const [body = '', mac = ''] = token.split('.');
      const statement = JSON.parse(Buffer.from(body, 'base64url').toString()) as unknown[];
      const forged = Buffer.from(JSON.stringify([Number(statement[0]) + 1, ...statement.slice(1)])).toString(
        'base64url',
      );
      const open = (other: string): Promise<unknown> =>
        fetch(`${server.url}/v1/email-attachments?token=${encodeURIComponent(other)}`).then(({ status }) => status);

      expect(await open(token)).toBe(200);
      for (const other of [`${forged}.${mac}`, `${body}.`, body, '.', `${token}.x`, `${token}x`, 'x'.repeat(500)])
        expect([other, await open(other)]).toEqual([other, 404]);
      expect(await open('x'.repeat(513))).toBe(400);
      for (const id of ['att_9', 'att_', 'att_-1', 'att_00000', '9', '-1', 'x'])
        expect([id, (await server.api('GET', `/v1/emails/${emailId}/attachments/${id}`)).status]).toEqual([id, 404]);
      expectRefusal(await server.api('GET', `/v1/emails/${emailId}/attachments?after=1`), 400);
      expectRefusal(await server.api('GET', `/v1/emails/${emailId}/attachments?after=att_0&before=att_1`), 400);
      await eventIn(server, emailId, 'delivered');
      expectStatus(await server.api('DELETE', `/v1/events/${emailId}/payload`), 204);
      expect(await open(token)).toBe(404);
    });

    it('404 for an email of another environment', async () => {
      const emailId = await send({ attachments });
      const { key } = await createKey(server, { scope: 'read', environment: 'test' });

      expectRefusal(await server.api('GET', `/v1/emails/${emailId}/attachments`, undefined, as(key)), 404);
      expectRefusal(await server.api('GET', `/v1/emails/${emailId}/attachments/att_0`, undefined, as(key)), 404);
    });
  });

  describe('batch.send', () => {
    const good = { ...HELLO, to: `delivered@${SIMULATOR}` };
    const count = async (): Promise<unknown> =>
      (await sql.rows('select count(*)::int as count from events'))[0]?.['count'];

    it('strict, the default: accepts all emails', async () => {
      const { data, error } = await resend.batch.send([good, { ...good, to: simulated('suppressed') }]);

      expect(error).toBeNull();
      expect(data?.data.map(({ id }) => id)).toEqual([expect.stringMatching(/^evt_/), expect.stringMatching(/^evt_/)]);
      await emailIn(server, data?.data[0]?.id ?? '', 'delivered');
      await emailIn(server, data?.data[1]?.id ?? '', 'suppressed');
    });

    it.each<[string, object, string]>([
      ['an invalid address', { to: 'nobody' }, 'emails.1.to'],
      ['an unverified sender', { from: 'a@unverified.example' }, 'emails.1.from'],
      ['a missing subject', { subject: undefined }, 'emails.1.subject'],
      ['a schedule', { scheduledAt: 'in 1 hour' }, 'emails.1.scheduled_at'],
    ])(
      'strict: 422 for %s, which names the email and the field, and nothing is accepted',
      async (_what, fields, path) => {
        const before = await count();

        const { data, error } = await resend.batch.send([good, { ...good, ...fields }, good] as never);

        expect([data, error]).toEqual([
          null,
          expect.objectContaining({ statusCode: 422, message: expect.stringContaining(`${path}: `) }),
        ]);
        expect(await count()).toBe(before);
      },
    );

    it('strict: names the faults of all emails', async () => {
      const answer = await server.api(
        'POST',
        '/v1/emails/batch',
        [{ ...EMAIL, to: 'a' }, EMAIL, { ...EMAIL, to: 'b' }],
        {
          'x-batch-validation': 'strict',
        },
      );

      expectInvalid(answer, 'schema', 'emails.0.to', 'emails.2.to');
      expect(answer.json.error.message).toMatch(
        /^No email of the batch was accepted\. emails\.0\.to: .+ \(and 1 more, see details\.fields\)$/,
      );
    });

    const unverified = { ...EMAIL, from: 'a@unverified.example' };
    const topic = { unsubscribe: { topic: 'top_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' } };
    const unreachable = { ...EMAIL, attachments: [{ url: 'https://169.254.169.254/a' }] };

    it.each<[string, object[], string, string[]]>([
      ['a sender before a field', [unverified, { ...EMAIL, to: 'a' }], 'schema', ['emails.0.from', 'emails.1.to']],
      ['a field before a sender', [{ ...EMAIL, to: 'a' }, unverified], 'schema', ['emails.0.to', 'emails.1.from']],
      ['both in one email', [EMAIL, { ...unverified, to: 'a' }], 'schema', ['emails.1.to', 'emails.1.from']],
      [
        'a topic and a file',
        [{ ...EMAIL, ...topic }, unreachable, 5 as unknown as object],
        'schema',
        ['emails.0.unsubscribe.topic', 'emails.1.attachments.0.url', 'emails.2'],
      ],
      [
        'a field, a sender, a topic and a file in one email',
        [EMAIL, { ...unreachable, ...topic, from: unverified.from, reply_to: ['x'] }],
        'schema',
        ['emails.1.reply_to.0', 'emails.1.from', 'emails.1.unsubscribe.topic', 'emails.1.attachments.0.url'],
      ],
      [
        'a sender, a topic and a file in one email',
        [{ ...unreachable, ...topic, from: unverified.from }],
        'schema',
        ['emails.0.from', 'emails.0.unsubscribe.topic', 'emails.0.attachments.0.url'],
      ],
      [
        'a schedule and a sender',
        [{ ...unverified, scheduled_at: 'in 1 hour' }],
        'schema',
        ['emails.0.scheduled_at', 'emails.0.from'],
      ],
      ['a file only', [EMAIL, unreachable], 'connectivity', ['emails.1.attachments.0.url']],
      [
        'a schedule and a field',
        [{ ...EMAIL, to: 'a', scheduled_at: 'in 1 hour' }],
        'schema',
        ['emails.0.to', 'emails.0.scheduled_at'],
      ],
      [
        'a sender and a template',
        [
          { ...EMAIL, text: undefined, template: { id: 'unknown' } },
          { ...unverified, template: { id: 'unknown' } },
        ],
        'schema',
        ['emails.0.template.id', 'emails.1.text', 'emails.1.template.id', 'emails.1.from'],
      ],
    ])('strict: names every fault, in the order of the emails: %s', async (_what, emails, check, paths) => {
      const before = await count();

      const answer = await server.api('POST', '/v1/emails/batch', emails, { 'x-batch-validation': 'strict' });

      expect(answer.json.error.details.fields.map(({ path }: { path: string }) => path)).toEqual(paths);
      expect([answer.status, answer.json.error.details.check, await count()]).toEqual([422, check, before]);
    });

    it('strict: the same idempotency key accepts the batch once', async () => {
      const idempotencyKey = `order/4711 ${randomUUID()}`;
      const first = await resend.batch.send([good, good], { idempotencyKey });
      const before = await count();

      const second = await resend.batch.send([good, good], { idempotencyKey });

      expect([first.error, second.data, await count()]).toEqual([null, first.data, before]);
    });

    it('permissive: accepts the valid emails and lists the others by their position', async () => {
      const { data, error } = await resend.batch.send([good, { ...good, to: 'nobody' }, good], {
        batchValidation: 'permissive',
      });

      expect(error).toBeNull();
      expect(data?.errors).toEqual([{ index: 1, message: expect.stringContaining('to: ') }]);
      expect(data?.data.map(({ id }) => id)).toEqual([
        expect.stringMatching(/^evt_/),
        null,
        expect.stringMatching(/^evt_/),
      ]);
    });

    it('permissive: no errors is an empty list', async () => {
      const { data } = await resend.batch.send([good], { batchValidation: 'permissive' });

      expect(data?.errors).toEqual([]);
    });

    it.each(['loose', '', 'strict, permissive'])('400: x-batch-validation: %j', async (mode) => {
      expectRefusal(await server.api('POST', '/v1/emails/batch', [EMAIL], { 'x-batch-validation': mode }), 400);
    });
  });

  describe('idempotency keys', () => {
    it.each(['order-4711', 'a', 'x'.repeat(256), 'welcome/user 1 #~!', '"quoted"'])(
      '202: %j sends once, and repeats the first response',
      async (text) => {
        const key = { 'idempotency-key': text };
        const body = { ...EMAIL, subject: text.slice(0, 40) };

        const [first, second] = [
          await server.api('POST', '/v1/emails', body, key),
          await server.api('POST', '/v1/emails', body, key),
        ];

        expect([first.status, second.status, second.text]).toEqual([202, 202, first.text]);
      },
    );

    it('with another body: the error name of the package', async () => {
      const idempotencyKey = `again ${randomUUID()}`;
      await resend.emails.send({ ...HELLO, to: simulated('delivered') }, { idempotencyKey });

      const { error } = await resend.emails.send({ ...HELLO, to: simulated('bounced') }, { idempotencyKey });

      expect(error).toMatchObject({ name: 'invalid_idempotent_request', statusCode: 409 });
    });

    it.each(['x'.repeat(257), 'naïve', ''])('400: %j', async (text) => {
      const { status, json } = await server.api('POST', '/v1/emails', EMAIL, { 'idempotency-key': text });

      expect([status, json.name]).toEqual([400, 'invalid_idempotency_key']);
    });

    it('400: other routes still take only a UUID', async () => {
      const body = { email: 'somebody@example.org' };
      expectRefusal(await server.api('POST', '/v1/suppressions', body, { 'idempotency-key': 'order-4711' }), 400);
    });
  });

  describe('errors', () => {
    it('have the envelope, and name, message and statusCode beside it', async () => {
      const { json } = await server.api('POST', '/v1/emails', { ...EMAIL, to: 'nobody' });

      expect(json).toEqual({
        error: {
          type: 'validation_failed',
          message: json.message,
          request_id: expect.stringMatching(REQUEST_ID),
          details: expect.any(Object),
        },
        name: 'validation_error',
        message: expect.stringContaining('to: '),
        statusCode: 422,
      });
    });

    it.each<[string, string, string, object | undefined, Record<string, string>, [number, string]]>([
      ['no key', 'GET', '/v1/emails', undefined, { authorization: '' }, [401, 'missing_api_key']],
      ['a wrong key', 'GET', '/v1/emails', undefined, as('ek_live_x'), [401, 'invalid_api_key']],
      ['an unknown path', 'POST', '/v1/emails/evt_1/share', {}, {}, [404, 'not_found']],
      ['an unknown method', 'DELETE', '/v1/templates', undefined, {}, [404, 'not_found']],
      ['a path of another service', 'POST', '/v1/contacts', {}, {}, [404, 'not_found']],
      ['a path with a query', 'GET', '/v1/api-keys?limit=5', undefined, {}, [404, 'not_found']],
      ['an unknown domain', 'GET', '/v1/domains/dom_1', undefined, {}, [404, 'not_found']],
      ['a domain with a name', 'POST', '/v1/domains', { name: 'x.example' }, {}, [422, 'missing_required_field']],
      ['an unknown domain to verify', 'POST', '/v1/domains/dom_1/verify', undefined, {}, [404, 'not_found']],
      ['an unknown email', 'GET', '/v1/emails/evt_1', undefined, {}, [404, 'not_found']],
      ['no subject', 'POST', '/v1/emails', { ...EMAIL, subject: undefined }, {}, [422, 'missing_required_field']],
      [
        'a bad attachment',
        'POST',
        '/v1/emails',
        { ...EMAIL, attachments: [{ filename: 'a', content: '*' }] },
        {},
        [422, 'invalid_attachment'],
      ],
      ['an unknown template', 'GET', '/v1/templates/none', undefined, {}, [404, 'not_found']],
      ['a template without a name', 'POST', '/v1/templates', {}, {}, [422, 'missing_required_field']],
      ['an unknown topic', 'GET', '/v1/topics/none', undefined, {}, [404, 'not_found']],
      ['no key for topics', 'GET', '/v1/topics', undefined, { authorization: '' }, [401, 'missing_api_key']],
      [
        'a topic of a wrong kind',
        'POST',
        '/v1/topics',
        { name: 5, default_subscription: 'opt_in' },
        {},
        [422, 'validation_error'],
      ],
      ['no subscription', 'PUT', '/v1/topics/none/subscriptions/a@b.example', {}, {}, [422, 'missing_required_field']],
      ['an unknown parameter', 'GET', '/v1/emails?x=1', undefined, {}, [400, 'validation_error']],
    ])('%s', async (_what, method, path, body, headers, expected) => {
      const { status, json } = await server.api(method, path, body, headers);

      expect([status, json.name]).toEqual(expected);
      expect([json.statusCode, json.message]).toEqual([status, json.error.message]);
    });

    it('a read key may not send', async () => {
      const { key } = await createKey(server, { scope: 'read' });

      const { error } = await new Resend(key, { baseUrl: `${server.url}/v1` }).emails.send({
        ...HELLO,
        to: simulated('delivered'),
      });

      expect(error).toMatchObject({ name: 'restricted_api_key', statusCode: 403 });
    });
  });

  describe('webhooks.verify', () => {
    it('accepts the signature of a delivery, and no other', async () => {
      const target = targets.open();
      const destination = await destinationAt(server, target.url);
      const { secret } = (await server.api('GET', `/v1/destinations/${destination}/secret`)).json;
      await sendEvent(server, destination, { payload: { type: 'order.paid' } });
      const [post] = await target.arrived(1);
      const headers = {
        id: String(post?.headers['webhook-id']),
        timestamp: String(post?.headers['webhook-timestamp']),
        signature: String(post?.headers['webhook-signature']),
      };
      const payload = post?.rawBody.toString() ?? '';

      expect(resend.webhooks.verify({ payload, headers, webhookSecret: secret })).toEqual({ type: 'order.paid' });
      expect(() => resend.webhooks.verify({ payload: `${payload} `, headers, webhookSecret: secret })).toThrow(
        'signature',
      );
    });
  });

  describe('topics', () => {
    it('create, get, list and update; an email of the topic; remove as docs/email.md says', async () => {
      const made = await resend.topics.create({ name: 'From Resend', defaultSubscription: 'opt_in' });
      const id = made.data?.id ?? '';
      const [got, listed] = [await resend.topics.get(id), await resend.topics.list()];
      const sent = await resend.emails.send({ ...HELLO, to: simulated('delivered'), topicId: id });

      expect([made.error, got.error, listed.error, sent.error]).toEqual([null, null, null, null]);
      expect(got.data).toMatchObject({ id, name: 'From Resend', default_subscription: 'opt_in' });
      expect(listed.data?.data.map((topic) => topic.id)).toEqual([id]);
      const updated = await resend.topics.update({ id, name: 'Changed' });
      expect([updated.error, updated.data]).toMatchObject([null, { id, name: 'Changed' }]);
      expect((await resend.topics.update({ id: 'from-resend', description: 'By key' })).error).toBeNull();
      expect((await server.api('GET', `/v1/topics/${id}`)).json).toMatchObject({
        name: 'Changed',
        description: 'By key',
      });
      for (const other of ['from-resend', 'top_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', '', 5])
        expectInvalid(await server.api('PATCH', `/v1/topics/${id}`, { id: other, name: 'x' }), 'schema', 'id');
      const body = { name: 'B', default_subscription: 'opt_in', visibility: 'public' };
      expectInvalid(await server.api('POST', '/v1/topics', body), 'schema', 'visibility');
      expect((await resend.topics.remove(id)).error?.name).toBe('application_error');
      expectRefusal(await server.api('GET', `/v1/topics/${id}`), 404);
    });
  });

  describe('suppressions', () => {
    it('add, get and list', async () => {
      const email = `${randomUUID()}@example.org`;

      const added = await resend.suppressions.add({ email });
      const got = await resend.suppressions.get(email);
      const listed = await resend.suppressions.list({ limit: 1, origin: 'manual' });

      expect([added.error, got.error, listed.error]).toEqual([null, null, null]);
      expect(got.data).toMatchObject({ id: added.data?.id, email, origin: 'manual', source_id: null });
      expect(listed.data?.data.map(({ id }) => id)).toEqual([added.data?.id]);
    });

    it('batch.add', async () => {
      const emails = [`${randomUUID()}@example.org`, `${randomUUID()}@example.org`];

      const { data, error } = await resend.suppressions.batch.add({ emails });

      expect(error).toBeNull();
      const got = await Promise.all(emails.map((email) => resend.suppressions.get(email)));
      expect(data?.data.map(({ id }) => id)).toEqual(got.map((each) => each.data?.id));
    });
  });
});
