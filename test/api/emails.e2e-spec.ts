import { randomUUID } from 'node:crypto';
import { simpleParser } from 'mailparser';
import pg from 'pg';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { EMAIL, emailAfter, emailIn, emailOf, rawOf, sendEmail, SENDER, simulated, SIMULATOR } from './emailing.js';
import { until } from './polling.js';
import type { Sql } from './scene.js';
import { eventIn, expectStatus, makeDue, openSql, uuidOf, WITHIN_MS } from './scene.js';

const EVENT_ID = /^evt_[0-9A-HJKMNP-TV-Z]{26}$/;

describe('POST /v1/emails', () => {
  let server: PosthornServer;
  let sql: Sql;
  let testKey: string;

  beforeAll(async () => {
    server = await startServer();
    sql = openSql(server);
    testKey = (await createKey(server, { scope: 'admin', environment: 'test' })).key;
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
  });

  describe('accepted emails', () => {
    it('202: an email to the simulator is delivered, with one attempt, its timeline, and the raw message', async () => {
      const answer = await server.api('POST', '/v1/emails', {
        ...EMAIL,
        html: '<b>It is on its way.</b>',
        cc: simulated('delivered'),
        tags: [{ name: 'kind', value: 'order' }],
      });

      expect([answer.status, answer.json]).toEqual([202, { id: expect.stringMatching(EVENT_ID), status: 'sending' }]);
      const email = await emailIn(server, answer.json.id, 'delivered');
      expect(email).toMatchObject({
        id: answer.json.id,
        from: SENDER,
        to: [`delivered@${SIMULATOR}`],
        bcc: [],
        reply_to: [],
        subject: 'Your order',
        created_at: expect.stringMatching(TIMESTAMP),
        message_id: `<${answer.json.id}@${SIMULATOR}>`,
        tags: [{ name: 'kind', value: 'order' }],
        attachments: [],
        captured: true,
      });
      expect(email.recipients.map(({ status }: { status: string }) => status)).toEqual(['delivered', 'delivered']);
      expect(email.timeline.map(({ type }: { type: string }) => type).sort()).toEqual([
        'delivered',
        'delivered',
        'sent',
        'sent',
      ]);
      expect((await emailAfter(server, answer.json.id, 1)).attempts).toEqual([
        {
          number: 1,
          status: 250,
          duration_ms: expect.any(Number),
          at: expect.stringMatching(TIMESTAMP),
          response_excerpt: '250 2.0.0 Accepted by the simulator.',
        },
      ]);
      const sent = await simpleParser(await rawOf(server, answer.json.id));
      expect(sent).toMatchObject({
        subject: 'Your order',
        text: 'It is on its way.',
        html: '<b>It is on its way.</b>',
        messageId: email.message_id,
      });
    });

    it('202: an email with only HTML has a text part that is derived from it, unless its text is empty', async () => {
      const html = '<p>It is <b>on its way</b>.</p>';
      const derived = await sendEmail(server, { text: undefined, html });
      const omitted = await sendEmail(server, { text: '', html });

      const [withText, without] = await Promise.all([rawOf(server, derived), rawOf(server, omitted)]);
      expect(withText).toMatch(/multipart\/alternative[^]*text\/plain[^]*It is on its way\.[^]*text\/html/);
      expect([without.includes('text/plain'), without.includes('text/html')]).toEqual([false, true]);
    });

    it('200: an email that was sent without a text part is shown without a text', async () => {
      const id = await sendEmail(server, { text: '', html: '<p>It is <b>on its way</b>.</p>' });

      const { json: email } = await server.api('GET', `/v1/emails/${id}`);
      const { json: content } = await server.api('GET', `/v1/emails/${id}/content`);
      expect([email.text, content.text, content.html]).toEqual([null, null, '<p>It is <b>on its way</b>.</p>']);
    });

    it('202: lists and single addresses are both accepted, and so are the alternative field names', async () => {
      const id = await sendEmail(server, {
        to: [`A <${simulated('delivered')}>`],
        cc: [simulated('delivered')],
        replyTo: 'Help <help@example.com>',
        attachments: [
          {
            filename: 'a.txt',
            content: Buffer.from('hello').toString('base64'),
            contentType: 'text/plain',
            contentId: 'a',
          },
        ],
      });

      const sent = await simpleParser(await rawOf(server, id));
      expect([
        sent.replyTo?.text,
        sent.attachments.map(({ filename, contentType, content }) => [filename, contentType, content.toString()]),
      ]).toEqual(['"Help" <help@example.com>', [['a.txt', 'text/plain', 'hello']]]);
      expect(await emailOf(server, id)).toMatchObject({
        reply_to: ['Help <help@example.com>'],
        attachments: [{ filename: 'a.txt', content_type: 'text/plain', size_bytes: 5 }],
      });
    });

    const OPTIONAL_FIELDS =
      'cc bcc reply_to replyTo html headers attachments tags template unsubscribe topic_id topicId scheduled_at scheduledAt';
    const OPTIONAL_FILE_FIELDS = 'filename content_type contentType content_id contentId url path';
    const nullsOf = (names: string): object => Object.fromEntries(names.split(' ').map((name) => [name, null]));

    it.each<[string, object]>([
      ...OPTIONAL_FIELDS.split(' ').map((name): [string, object] => [name, { [name]: null }]),
      ['text', { text: null, html: '<p>It is on its way.</p>' }],
      ['template.variables', { text: undefined, template: { id: 'nulls', variables: null } }],
      ...OPTIONAL_FILE_FIELDS.split(' ').map((name): [string, object] => [
        `attachments.0.${name}`,
        { attachments: [{ filename: 'a.txt', content: 'YQ==', [name]: null }] },
      ]),
      ['every field', nullsOf(OPTIONAL_FIELDS)],
    ])('202: null in %s is the same as no value, alone and in a batch', async (_name, fields) => {
      const template = { name: 'Nulls', alias: 'nulls', text: 'Hello', variables: null };
      const made = await server.api('POST', '/v1/templates', template);
      if (made.status === 201)
        expectStatus(await server.api('POST', `/v1/templates/${made.json.id}/publish`, undefined), 200);

      const one = await server.api('POST', '/v1/emails', { ...EMAIL, ...fields });
      const batch = await server.api('POST', '/v1/emails/batch', [{ ...EMAIL, ...fields }]);

      expect([one.status, one.json.error?.message]).toEqual([202, undefined]);
      expect([batch.status, batch.json.data]).toEqual([202, [{ id: expect.stringMatching(EVENT_ID) }]]);
    });

    it('202: an attachment without a file name has a derived one', async () => {
      const content = 'YQ==';
      const files = [
        { content },
        { content, filename: null, content_type: 'application/pdf' },
        { content, filename: false, content_type: 'image/png; a=b', content_id: 'logo' },
      ];

      const id = await sendEmail(server, { attachments: files });

      expect((await emailOf(server, id)).attachments).toMatchObject([
        { filename: 'attachment', content_type: 'application/octet-stream' },
        { filename: 'attachment.pdf', content_type: 'application/pdf' },
        { filename: 'inline.png', content_type: 'image/png; a=b' },
      ]);
    });

    it('202: known fields of other email services are ignored', async () => {
      const fields = {
        track_opens: true,
        MessageStream: 'outbound',
        attachments: [{ filename: 'a', content: 'YQ==', disposition: 'inline' }],
      };

      expectStatus(await server.api('POST', '/v1/emails', { ...EMAIL, ...fields }), 202);
      const { json } = expectStatus(
        await server.api('POST', '/v1/emails/batch', { emails: [{ ...EMAIL, ...fields }] }),
        202,
      );

      expect(json.data).toEqual([{ id: expect.stringMatching(/^evt_/) }]);
    });

    it('413: a body above 18 MB, and the message names the limit', async () => {
      const { json } = expectStatus(
        await server.api('POST', '/v1/emails', { ...EMAIL, html: 'x'.repeat(19 * 1_048_576) }),
        413,
      );

      expect(json.error.message).toBe('The body is larger than 18 MB.');
    });

    it('413: a body of more than 1 MB with more than 100,000 fields, and 202 for as many numbers', async () => {
      const headers = Object.fromEntries(Array.from({ length: 100_001 }, (_, at) => [`x-${at}`, 'a']));
      const content = Array.from({ length: 500_000 }, (_, at) => at % 256);

      const { json } = expectStatus(await server.api('POST', '/v1/emails', { ...EMAIL, headers }), 413);
      expect([json.name, json.error.message]).toEqual([
        'validation_error',
        'A body of more than 1 MB has at most 100,000 fields, strings, objects and lists in total.',
      ]);
      expectStatus(
        await server.api('POST', '/v1/emails', { ...EMAIL, attachments: [{ filename: 'a', content }] }),
        202,
      );
    });

    it('202: bcc recipients get the message, which does not contain their addresses', async () => {
      const hidden = simulated('delivered');
      const id = await sendEmail(server, { bcc: hidden });

      const email = await emailIn(server, id, 'delivered');
      expect(email.recipients.map(({ address }: { address: string }) => address)).toEqual([
        `delivered@${SIMULATOR}`,
        hidden,
      ]);
      expect(await rawOf(server, id)).not.toMatch(new RegExp(`bcc|${hidden.replaceAll(/[.+]/g, '\\$&')}`, 'i'));
    });

    it.each<[string, unknown]>([
      ['base64 with line breaks', 'aGVs\r\nbG8=\r\n'],
      ['base64url without padding', '-_-_aGVsbG8'],
      ['the JSON of a Buffer', Buffer.from('hello').toJSON()],
    ])('202: an attachment as %s', async (_what, content) => {
      const id = await sendEmail(server, {
        attachments: [{ filename: 'a.bin', content, contentId: '<file@example.com>' }],
      });

      const [attachment] = (await simpleParser(await rawOf(server, id))).attachments;
      expect([attachment?.content.subarray(-5).toString(), attachment?.cid]).toEqual(['hello', 'file@example.com']);
    });

    it('202: addresses with characters outside ASCII, whose domain becomes A-labels', async () => {
      const id = await sendEmail(server, {
        to: [`zoë+delivered@${SIMULATOR}`, 'Пётр <пётр@bücher.example>'],
        reply_to: 'ирина@example.com',
      });

      const email = await emailOf(server, id);
      expect([email.to, email.reply_to]).toEqual([
        [`zoë+delivered@${SIMULATOR}`, 'Пётр <пётр@xn--bcher-kva.example>'],
        ['ирина@example.com'],
      ]);
      expect(Buffer.from(await rawOf(server, id)).toString()).toContain('пётр@');
    });

    it('422: too many recipients, with the limit and the count', async () => {
      const many = (count: number, name: string): string[] =>
        Array.from({ length: count }, (_, i) => `${name}${i}@${SIMULATOR}`);

      const oneList = await server.api('POST', '/v1/emails', { ...EMAIL, to: many(51, 'a') });
      const twoLists = await server.api('POST', '/v1/emails', { ...EMAIL, to: many(30, 'a'), bcc: many(21, 'b') });

      expect(oneList.json.error.message).toBe('to: must have at most 50 entries, and has 51');
      expect(twoLists.json.error.message).toContain('at most 50 recipients');
      expect(twoLists.json.error.message).toContain('this one has 51');
    });

    it('202: 10 MB of attachments are accepted', async () => {
      const content = Buffer.alloc(10 * 1024 * 1024, 7).toString('base64');
      const id = await sendEmail(server, { attachments: [{ filename: 'large.bin', content }] });

      const { attachments } = await simpleParser(await rawOf(server, id));
      expect(attachments.map(({ size }) => size)).toEqual([10 * 1024 * 1024]);
      expectInvalid(
        await server.api('POST', '/v1/emails', {
          ...EMAIL,
          attachments: [
            { filename: 'a', content },
            { filename: 'b', content: 'YQ==' },
          ],
        }),
        'schema',
        'attachments',
      );
    });

    it('202: the same Idempotency-Key twice sends once and repeats the first response; 409 with another body', async () => {
      const key = { 'idempotency-key': randomUUID() };
      const first = await server.api('POST', '/v1/emails', EMAIL, key);
      const second = await server.api('POST', '/v1/emails', EMAIL, key);

      expect([first.status, second.status, second.text]).toEqual([202, 202, first.text]);
      const { data } = expectStatus(await server.api('GET', '/v1/events?event_type=email.send&limit=100'), 200).json;
      expect(data.filter(({ id }: { id: string }) => id === first.json.id)).toHaveLength(1);
      const [{ count } = { count: 0 }] = await sql.rows<{ count: number }>('select count(*)::int as count from events');
      expect(await sql.rows('select count(*)::int as count from emails')).toEqual([{ count }]);
      expectRefusal(await server.api('POST', '/v1/emails', { ...EMAIL, subject: 'Another' }, key), 409);
    });
  });

  describe('outcomes of the simulator', () => {
    it.each([
      ['delivered', 'delivered', 'delivered'],
      ['bounced', 'bounced', 'failed'],
      ['complained', 'complained', 'failed'],
      ['suppressed', 'suppressed', 'failed'],
    ])('%s@: the email is %s, and its event %s', async (role, status, event) => {
      const id = await sendEmail(server, { to: simulated(role) });

      const email = await emailIn(server, id, status);
      expect((await eventIn(server, id, event)).event_type).toBe('email.send');
      expect(email.timeline.at(-1)).toMatchObject({ type: role === 'suppressed' ? 'rejected' : role });
      expect((await emailOf(server, id)).attempts).toHaveLength(role === 'suppressed' ? 0 : 1);
    });

    it('deferred@: the email is retried by the schedule, ends in the dead letter queue after eight attempts, and a redrive starts again', async () => {
      const id = await sendEmail(server, { to: [simulated('deferred'), simulated('delivered')] });

      for (let attempts = 1; attempts <= 8; attempts += 1) {
        const email = await emailAfter(server, id, attempts);
        expect(email.attempts.at(-1)).toMatchObject({ number: attempts, status: 451 });
        if (attempts < 8) await makeDue(sql, id);
      }
      const email = await emailIn(server, id, 'dlq');
      expect(email.recipients.map(({ status }: { status: string }) => status)).toEqual(['dlq', 'delivered']);
      expect(email.timeline.filter(({ type }: { type: string }) => type === 'sent')).toHaveLength(1);
      await eventIn(server, id, 'dlq');
      expectStatus(await server.api('POST', `/v1/events/${id}/replay`), 202);
      await emailAfter(server, id, 9);
      expect(await emailIn(server, id, 'sending')).toMatchObject({
        recipients: [{ status: 'sending' }, { status: 'delivered' }],
      });
    });

    it('mixed outcomes: the email has the worst of them, and each recipient is shown', async () => {
      const roles = ['delivered', 'bounced', 'suppressed', 'deferred'];
      const id = await sendEmail(server, { to: roles.map(simulated) });

      const email = await emailIn(server, id, 'bounced');
      expect(email.recipients.map(({ status }: { status: string }) => status)).toEqual([
        'delivered',
        'bounced',
        'suppressed',
        'sending',
      ]);
      await eventIn(server, id, 'retrying');
    });

    it('a bounce of the simulator suppresses no address', async () => {
      const to = simulated('bounced');
      await emailIn(server, await sendEmail(server, { to }), 'bounced');

      await emailIn(server, await sendEmail(server, { to }), 'bounced');
      expect((await server.api('GET', '/v1/suppressions')).json.data).toEqual([]);
    });
  });

  describe('rejected emails', () => {
    it.each<[string, object, string[]]>([
      ['no from', { from: undefined }, ['from']],
      ['two mailboxes in from', { from: 'a@example.com, b@example.com' }, ['from']],
      ['a quoted local part', { from: '"a@b"@example.com' }, ['from']],
      ['a domain that is not verified', { from: 'a@unverified.example' }, ['from']],
      ['a parent domain of the simulator', { from: 'a@localhost' }, ['from']],
      ['a recipient injected with a comma', { to: [`${EMAIL.to}, evil@example.com`] }, ['to.0']],
      ['a recipient injected with a line break', { to: [`${EMAIL.to}\r\nBcc: evil@example.com`] }, ['to.0']],
      ['a line break in a name', { to: [`A\nB <${EMAIL.to}>`] }, ['to.0']],
      ['no recipient', { to: [] }, ['to']],
      [
        '51 recipients',
        {
          to: Array.from({ length: 30 }, (_, i) => `a${i}@${SIMULATOR}`),
          bcc: Array.from({ length: 21 }, (_, i) => `b${i}@${SIMULATOR}`),
        },
        ['to'],
      ],
      ['a line break in the subject', { subject: 'a\r\nBcc: evil@example.com' }, ['subject']],
      ['a NUL in the subject', { subject: 'a\0b' }, ['subject']],
      ['no subject', { subject: undefined }, ['subject']],
      ['neither html nor text', { text: undefined }, ['text']],
      ['an empty html without a text', { html: '', text: undefined }, ['text']],
      ['a blank html and a blank text', { html: ' ', text: '\n' }, ['text']],
      ['a blank text at a scheduled time', { text: '', scheduled_at: 'in 1 hour' }, ['text']],
      ['attachments alone', { text: undefined, attachments: [{ filename: 'a', content: 'YQ==' }] }, ['text']],
      ['a header that adds recipients', { headers: { Bcc: 'evil@example.com' } }, ['headers.Bcc']],
      [
        'a header that changes the MIME structure',
        { headers: { 'Content-Type': 'text/html' } },
        ['headers.Content-Type'],
      ],
      ['a header with a line break', { headers: { 'X-A': 'a\r\nBcc: evil@example.com' } }, ['headers.X-A']],
      ['a header name with a line break', { headers: { 'X-A\r\nBcc': 'a' } }, ['headers.X-A\r\nBcc']],
      ['51 recipients in one list', { to: Array.from({ length: 51 }, (_, i) => `a${i}@${SIMULATOR}`) }, ['to']],
      [
        'base64 with another character',
        { attachments: [{ filename: 'a', content: 'YW*E=' }] },
        ['attachments.0.content'],
      ],
      ['a data URL', { attachments: [{ filename: 'a', content: 'data:,a' }] }, ['attachments.0.content']],
      [
        'a Buffer with a number that is no byte',
        { attachments: [{ filename: 'a', content: { type: 'Buffer', data: [256] } }] },
        ['attachments.0.content.data.0'],
      ],
      [
        'the JSON of another object',
        { attachments: [{ filename: 'a', content: { type: 'Uint8Array', data: [1] } }] },
        ['attachments.0.content.type'],
      ],
      ['a full-width @ in a local part', { to: 'victim＠evil.example@example.com' }, ['to']],
      ['base64 without padding', { attachments: [{ filename: 'a', content: 'YQ' }] }, ['attachments.0.content']],
      [
        'an attachment with content and url',
        { attachments: [{ filename: 'a', content: 'YQ==', url: 'https://example.com/a' }] },
        ['attachments.0.content'],
      ],
      ['an attachment over plain http', { attachments: [{ url: 'http://example.com/a' }] }, ['attachments.0.url']],
      [
        'a file name with a path',
        { attachments: [{ filename: '../../etc/passwd', content: 'YQ==' }] },
        ['attachments.0.filename'],
      ],
      ['an empty file name', { attachments: [{ filename: '', content: 'YQ==' }] }, ['attachments.0.filename']],
      [
        '21 attachments',
        { attachments: Array.from({ length: 21 }, () => ({ filename: 'a', content: 'YQ==' })) },
        ['attachments'],
      ],
      ['a tag with a space', { tags: [{ name: 'a b', value: 'c' }] }, ['tags.0.name']],
      ['a field under both of its names', { reply_to: 'a@example.com', replyTo: 'b@example.com' }, ['replyTo']],
      ['a time without a time zone', { scheduled_at: '2030-01-01T00:00:00' }, ['scheduled_at']],
      ['a time more than 30 days ahead', { scheduledAt: 'in 31 days' }, ['scheduled_at']],
      ['a template without a content and an unknown id', { template: { id: 'x' } }, ['text', 'template.id']],
      [
        'an attachment that declares the encoding of its content',
        { attachments: [{ filename: 'a', content: 'test', encoding: 'utf-8' }] },
        ['attachments.0.encoding'],
      ],
    ])('422: %s', async (_what, fields, paths) => {
      const before = await sql.rows('select count(*) as count from emails');

      expectInvalid(await server.api('POST', '/v1/emails', { ...EMAIL, ...fields }), 'schema', ...paths);

      expect(await sql.rows('select count(*) as count from emails')).toEqual(before);
    });

    it('422: details.reason says that the domain is not verified', async () => {
      const answer = await server.api('POST', '/v1/emails', { ...EMAIL, from: 'a@unverified.example' });

      expect([answer.status, answer.json.error.details.reason]).toEqual([422, 'domain_not_verified']);
    });

    it('422: callers cannot create a destination of type email', async () => {
      expectInvalid(await server.api('POST', '/v1/destinations', { name: 'Mine', type: 'email' }), 'schema', 'type');
    });
  });

  describe('access to an email', () => {
    it('404: an email of another environment is not found by any operation', async () => {
      const id = await sendEmail(server);
      await emailIn(server, id, 'delivered');

      for (const path of [`/v1/emails/${id}`, `/v1/emails/${id}/raw`])
        expectRefusal(await server.api('GET', path, undefined, as(testKey)), 404);
      expect((await server.api('GET', '/v1/emails', undefined, as(testKey))).json).toEqual({
        object: 'list',
        data: [],
        next_cursor: null,
        has_more: false,
      });
      for (const path of [
        '/v1/emails/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
        '/v1/emails/nonsense',
        '/v1/emails/nonsense/raw',
      ])
        expectRefusal(await server.api('GET', path), 404);
    });

    it('the internal target of emails is not listed as a destination, and cannot be sent to, changed or deleted', async () => {
      const id = await sendEmail(server);
      const { destination } = await eventIn(server, id, 'delivered');

      const { data } = (await server.api('GET', '/v1/destinations')).json;
      expect(data.map((each: { id: string }) => each.id)).not.toContain(destination);
      for (const [method, path] of [
        ['GET', ''],
        ['PATCH', ''],
        ['DELETE', ''],
        ['GET', '/secret'],
        ['POST', '/validate'],
        ['POST', '/test'],
      ] as const) {
        expectRefusal(
          await server.api(method, `/v1/destinations/${destination}${path}`, method === 'PATCH' ? {} : undefined),
          404,
        );
      }
      expectInvalid(
        await server.api('POST', '/v1/send', { destination, event_type: 'a', payload: {} }),
        'schema',
        'destination',
      );
      expectStatus(await server.api('GET', `/v1/metrics?key=${destination}`), 200);
    });
  });

  describe('erasure', () => {
    it('204: erasing the payload of its event erases the message, its addresses and its subject', async () => {
      const id = await sendEmail(server, {
        to: `Secret <${simulated('bounced')}>`,
        subject: 'A secret',
        bcc: simulated('delivered'),
      });
      await emailIn(server, id, 'bounced');

      expectStatus(await server.api('DELETE', `/v1/events/${id}/payload`), 204);

      const answer = await server.api('GET', `/v1/emails/${id}`);
      expect(answer.json).toMatchObject({
        status: 'bounced',
        to: [],
        bcc: [],
        subject: '',
        erased_at: expect.stringMatching(TIMESTAMP),
      });
      expect(answer.text).not.toMatch(/secret|bounced\+|delivered\+/i);
      expectRefusal(await server.api('GET', `/v1/emails/${id}/raw`), 404);
      expectRefusal(await server.api('POST', `/v1/events/${id}/replay`), 409);
    });
  });

  describe('GET /v1/emails', () => {
    it('200: newest first in pages, by status and by time; 400 for invalid filters', async () => {
      const key = (await createKey(server, { scope: 'admin', environment: 'test' })).key;
      const send = async (role: string): Promise<string> => sendEmail(server, { to: simulated(role) }, as(key));
      const ids: string[] = [];
      for (const role of ['delivered', 'bounced', 'complained', 'suppressed', 'deferred', 'delivered', 'bounced'])
        ids.push(await send(role));
      await eventIn(
        { ...server, api: (method, path, body) => server.api(method, path, body, as(key)) },
        ids[6] as string,
        'failed',
      );
      const list = async (query: string): Promise<string[]> =>
        expectStatus(await server.api('GET', `/v1/emails${query}`, undefined, as(key)), 200).json.data.map(
          ({ id }: { id: string }) => id,
        );

      const first = (await server.api('GET', '/v1/emails?limit=4', undefined, as(key))).json;
      const second = (await server.api('GET', `/v1/emails?limit=4&cursor=${first.next_cursor}`, undefined, as(key)))
        .json;

      expect([...first.data, ...second.data].map(({ id }) => id)).toEqual([...ids].reverse());
      expect([first.data.length, second.next_cursor, Object.keys(first.data[0])]).toEqual([
        4,
        null,
        ['id', 'from', 'to', 'subject', 'message_id', 'status', 'last_event', 'created_at'],
      ]);
      const at = (...indexes: number[]): (string | undefined)[] => indexes.map((i) => ids[i]);
      expect([
        await list('?status=bounced'),
        await list('?status=complained'),
        await list('?status=suppressed'),
        await list('?status=sending'),
        await list('?status=delivered'),
      ]).toEqual([at(6, 1), at(2), at(3), at(4), at(5, 0)]);
      expect([
        await list('?status=dlq'),
        await list('?status=failed'),
        await list('?until=2020-01-01T00:00:00Z'),
      ]).toEqual([[], [], []]);
      for (const query of ['?status=opened', '?since=yesterday', '?limit=101', '?cursor=x', '?to=a'])
        expectRefusal(await server.api('GET', `/v1/emails${query}`), 400);
    });

    it('200: by tag name, by tag name and value, and by a recipient of any kind and case, including scheduled emails; 400 for invalid filters', async () => {
      const key = (await createKey(server, { scope: 'admin', environment: 'test' })).key;
      const send = (fields: object): Promise<string> =>
        sendEmail(server, { to: simulated('delivered'), ...fields }, as(key));
      const welcome = await send({ tags: [{ name: 'campaign', value: 'welcome' }] });
      const autumn = await send({
        tags: [
          { name: 'kind', value: 'welcome' },
          { name: 'campaign', value: 'autumn' },
        ],
        bcc: 'Delivered+Ada@simulator.localhost',
      });
      const later = await send({
        tags: [{ name: 'campaign', value: 'welcome' }],
        cc: 'delivered+ada@simulator.localhost',
        scheduled_at: 'in 1 hour',
      });
      await send({});
      const list = async (query: string): Promise<string[]> =>
        expectStatus(await server.api('GET', `/v1/emails?${query}`, undefined, as(key)), 200).json.data.map(
          ({ id }: { id: string }) => id,
        );

      expect(await list('tag=campaign')).toEqual([later, autumn, welcome]);
      expect(await list('tag=campaign:welcome')).toEqual([later, welcome]);
      expect(await list('tag=welcome')).toEqual([]);
      expect(await list('recipient=DELIVERED%2Bada@simulator.localhost')).toEqual([later, autumn]);
      expect(await list('recipient=delivered%2Bada@simulator.localhost&tag=kind')).toEqual([autumn]);
      expect(await list('tag=campaign&status=scheduled')).toEqual([later]);
      expect(await list('tag=campaign&status=bounced')).toEqual([]);
      expect(await list('tag=campaign&limit=1')).toEqual([later]);
      for (const query of ['tag=a%20b', 'tag=a:b:c', 'tag=', 'recipient='])
        expectRefusal(await server.api('GET', `/v1/emails?${query}`), 400);
    });

    it('200: the status is not older than the attempts, even if a replay ends during the call', async () => {
      const id = await sendEmail(server, { to: simulated('delivered') });
      await emailAfter(server, id, 1);
      const become = (state: string): string => `
        update emails set status = '${state}', recipients = jsonb_set(recipients, '{0,state}', '"${state}"')
        where id = '${uuidOf(id)}'`;
      await sql.rows(become('failed'));
      const replay = new pg.Client({ connectionString: server.databaseUrl });
      await replay.connect();
      try {
        await replay.query('begin');
        await replay.query('lock table attempts in access exclusive mode');
        const reading = emailOf(server, id);
        await until(
          () =>
            sql.rows(`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%from attempts%'`),
          ({ length }) => length === 1,
          WITHIN_MS,
        );

        await replay.query(become('delivered'));
        await replay.query('commit');

        const { status, recipients, attempts } = await reading;
        expect([status, recipients[0].status, attempts.length]).toEqual(['delivered', 'delivered', 1]);
      } finally {
        await replay.end();
      }
    });

    it('200: a cancelled email has failed, and is listed with that status', async () => {
      const id = await sendEmail(server, { to: simulated('deferred') });
      await emailAfter(server, id, 1);

      expectStatus(await server.api('POST', `/v1/events/${id}/cancel`), 200);

      const email = await emailIn(server, id, 'failed');
      expect(email.recipients).toMatchObject([{ status: 'failed' }]);
      const { data } = (await server.api('GET', '/v1/emails?status=failed')).json;
      expect(data.map((each: { id: string }) => each.id)).toContain(id);
      expect(
        (await server.api('GET', '/v1/emails?status=sending')).json.data.map((each: { id: string }) => each.id),
      ).not.toContain(id);
    });
  });
});
