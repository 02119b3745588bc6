import { randomUUID } from 'node:crypto';
import { simpleParser } from 'mailparser';
import { Resend } from 'resend';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectInvalid, expectRefusal } from './answers.js';
import { EMAIL, emailIn, emailOf, rawOf, sendEmail, simulated, SIMULATOR } from './emailing.js';
import type { Sql } from './scene.js';
import { expectStatus, openSql } from './scene.js';

describe('POST /v1/emails/batch', () => {
  let server: PosthornServer;
  let sql: Sql;

  beforeAll(async () => {
    server = await startServer();
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
  });

  const count = async (): Promise<unknown> =>
    (await sql.rows('select count(*)::int as count from events'))[0]?.['count'];

  it('202: each email is accepted separately, in order: an invalid or suppressed one does not affect the others', async () => {
    const emails = [
      { ...EMAIL, subject: 'first' },
      { ...EMAIL, to: 'nobody' },
      { ...EMAIL, to: simulated('suppressed'), subject: 'third' },
      { ...EMAIL, from: 'a@unverified.example' },
      'nonsense',
      { ...EMAIL, to: [simulated('bounced'), simulated('suppressed')], subject: 'sixth' },
      { ...EMAIL, html: '', text: ' ' },
    ];

    const { status, json } = await server.api('POST', '/v1/emails/batch', { emails });

    expect([status, json]).toEqual([
      202,
      {
        data: [
          { id: expect.stringMatching(/^evt_/) },
          { id: null, error: { type: 'validation_failed', message: expect.stringContaining('to: ') } },
          { id: expect.stringMatching(/^evt_/), error: { type: 'suppressed', message: expect.any(String) } },
          {
            id: null,
            error: { type: 'validation_failed', message: expect.stringContaining('not a verified sending domain') },
          },
          { id: null, error: { type: 'validation_failed', message: expect.stringContaining('JSON object') } },
          { id: expect.stringMatching(/^evt_/) },
          { id: null, error: { type: 'validation_failed', message: expect.stringContaining('blank') } },
        ],
      },
    ]);
    const [first, , third, , , sixth] = json.data.map(({ id }: { id: string }) => id);
    expect((await emailIn(server, first, 'delivered')).subject).toBe('first');
    expect((await emailIn(server, third, 'suppressed')).timeline).toMatchObject([
      { type: 'rejected', subtype: 'suppressed' },
    ]);
    expect((await emailIn(server, sixth, 'bounced')).recipients).toMatchObject([
      { status: 'bounced' },
      { status: 'suppressed' },
    ]);
  });

  it('202: a hundred emails, in the order of the request', async () => {
    const emails = Array.from({ length: 100 }, (_, i) => ({ ...EMAIL, subject: `number ${i}` }));

    const { data } = expectStatus(await server.api('POST', '/v1/emails/batch', emails), 202).json;

    expect(new Set(data.map(({ id }: { id: string }) => id)).size).toBe(100);
    for (const i of [0, 41, 99]) expect((await emailOf(server, data[i].id)).subject).toBe(`number ${i}`);
  });

  it('202: the same Idempotency-Key repeats the stored response and sends nothing again, even if addresses were suppressed meanwhile', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const to = 'somebody@example.org';
    const emails = [
      { ...EMAIL, to },
      { ...EMAIL, to: 'nobody' },
    ];
    const first = await server.api('POST', '/v1/emails/batch', emails, key);
    const before = await count();
    expectStatus(await server.api('POST', '/v1/suppressions', { email: to }), 201);

    const second = await server.api('POST', '/v1/emails/batch', emails, key);

    expect([first.status, second.status, second.text, await count()]).toEqual([202, 202, first.text, before]);
    expectRefusal(await server.api('POST', '/v1/emails/batch', [EMAIL], key), 409);
  });

  it('202: a batch interrupted by a crash continues where it stopped, and does not send accepted emails again', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const emails = [EMAIL, EMAIL, EMAIL];
    const first = expectStatus(await server.api('POST', '/v1/emails/batch', emails, key), 202).json.data;
    const before = await count();
    // Simulates a crash before the idempotency keys of the whole batch and of its last email were stored.
    await sql.rows(
      `delete from idempotency_keys where key = $1 and route in ('POST /v1/emails/batch', 'POST /v1/emails/batch 2')`,
      [key['idempotency-key']],
    );

    const second = expectStatus(await server.api('POST', '/v1/emails/batch', emails, key), 202).json.data;

    expect(second.slice(0, 2)).toEqual(first.slice(0, 2));
    expect([second[2].id === first[2].id, await count()]).toEqual([false, Number(before) + 1]);
  });

  it.each<[string, unknown, string]>([
    ['no list', {}, 'emails'],
    ['an empty list', { emails: [] }, 'emails'],
    ['101 emails', Array.from({ length: 101 }, () => EMAIL), 'emails'],
    ['an unknown field beside the emails', { emails: [EMAIL], mode: 'strict' }, 'mode'],
    [
      '21 attachments in all emails together',
      Array.from({ length: 21 }, () => ({ ...EMAIL, attachments: [{ filename: 'a', content: 'YQ==' }] })),
      'emails',
    ],
  ])('422: %s', async (_what, body, path) => {
    const before = await count();

    expectInvalid(await server.api('POST', '/v1/emails/batch', body), 'schema', path);

    expect(await count()).toBe(before);
  });

  describe('the resend package with its base URL set to Posthorn', () => {
    const resend = (): Resend => new Resend(server.apiKey, { baseUrl: `${server.url}/v1` });

    it('sends an email and reads it back', async () => {
      const { data, error } = await resend().emails.send(
        {
          from: `Shop <shop@${SIMULATOR}>`,
          to: [simulated('delivered')],
          replyTo: 'help@example.com',
          subject: 'From resend',
          html: '<p>Hello</p>',
          text: 'Hello',
          headers: { 'X-Entity-Ref-ID': '4711' },
          tags: [{ name: 'kind', value: 'order' }],
          attachments: [{ filename: 'a.txt', content: Buffer.from('hello'), contentType: 'text/plain' }],
        },
        { idempotencyKey: randomUUID() },
      );

      expect(error).toBeNull();
      await emailIn(server, data?.id as string, 'delivered');
      const read = await resend().emails.get(data?.id as string);
      expect([read.error, read.data]).toEqual([
        null,
        expect.objectContaining({ id: data?.id, subject: 'From resend', reply_to: ['help@example.com'] }),
      ]);
      const sent = await simpleParser(await rawOf(server, data?.id as string));
      expect([sent.attachments[0]?.content.toString(), sent.headers.get('x-entity-ref-id')]).toEqual(['hello', '4711']);
      const listed = await resend().emails.list({ limit: 1 });
      expect(listed.data?.data.map(({ id }) => id)).toEqual([data?.id]);
    });

    it('sends a batch and gets an id for each email', async () => {
      const { data, error } = await resend().batch.send(
        ['one', 'two'].map((subject) => ({
          from: `shop@${SIMULATOR}`,
          to: simulated('delivered'),
          subject,
          text: 'Hello',
        })),
      );

      expect(error).toBeNull();
      const subjects = await Promise.all((data?.data ?? []).map(async ({ id }) => (await emailOf(server, id)).subject));
      expect(subjects).toEqual(['one', 'two']);
    });

    it('gets the validation error', async () => {
      const { data, error } = await resend().emails.send({
        from: 'a@unverified.example',
        to: 'b@example.org',
        subject: 'x',
        text: 'y',
      });

      expect([data, error]).toEqual([null, expect.objectContaining({})]);
      expect(JSON.stringify(error)).toContain('not a verified sending domain');
    });
  });

  it('422: an attachment URL in a private network is not fetched', async () => {
    const body = { ...EMAIL, attachments: [{ url: 'https://169.254.169.254/latest/meta-data' }] };

    expect(expectInvalid(await server.api('POST', '/v1/emails', body), 'connectivity')).toEqual(['attachments.0.url']);
    expect(await sendEmail(server)).toMatch(/^evt_/);
  });
});
