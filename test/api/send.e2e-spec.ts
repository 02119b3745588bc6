import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { ReceivedRequest } from '../support/receiver.js';
import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { as, createKey, expectInvalid, expectRefusal } from './answers.js';
import type { Sql, Targets } from './scene.js';
import {
  destinationAt,
  eventAfter,
  eventIn,
  eventOf,
  expectStatus,
  makeDue,
  openSql,
  RARE_RETRIES,
  send,
  startTargets,
} from './scene.js';

const MEGABYTE = 1_048_576;

describe('POST /v1/send', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    server = await sharedServer();
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  const secretOf = async (destination: string): Promise<string> =>
    expectStatus(await server.api('GET', `/v1/destinations/${destination}/secret`), 200).json.secret;

  describe('request to the receiver', () => {
    it('202: a destination gets one signed POST that a Standard Webhooks library verifies over the raw body', async () => {
      const target = targets.open();
      const destination = await destinationAt(server, target.url);

      const answer = await server.api('POST', '/v1/send', {
        destination,
        event_type: 'invoice.paid',
        payload: { amount: 4200 },
      });

      expect(answer.status).toBe(202);
      expect(answer.json).toEqual({ message_id: expect.stringMatching(/^msg_[0-9A-HJKMNP-TV-Z]{26}$/) });
      const [post] = (await target.arrived(1)) as [ReceivedRequest];
      expect(post.rawBody.toString()).toBe('{"amount":4200}');
      expect(post.headers).toMatchObject({
        'content-type': 'application/json',
        'content-length': '15',
        'webhook-id': answer.json.message_id,
        'webhook-event-type': 'invoice.paid',
        'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
      });
      expect(post.headers).not.toHaveProperty('webhook-replayed');
      const webhook = new Webhook(await secretOf(destination));
      expect(webhook.verify(post.rawBody, post.headers as Record<string, string>)).toEqual({ amount: 4200 });
      expect(() => webhook.verify('{"amount": 4200}', post.headers as Record<string, string>)).toThrow(
        'No matching signature',
      );
      await eventIn(server, answer.json.message_id, 'delivered');
      expect(target.posts()).toHaveLength(1);
    });

    it('202: an ad-hoc URL is called with its query and signed with the secret of the environment', async () => {
      const target = targets.open();

      const messageId = await send(server, target.url);

      const [post] = (await target.arrived(1)) as [ReceivedRequest];
      const { secret } = expectStatus(await server.api('GET', '/v1/signing-secret'), 200).json;
      expect(new Webhook(secret).verify(post.rawBody, post.headers as Record<string, string>)).toEqual({
        hello: 'world',
      });
      expect((await eventIn(server, messageId, 'delivered')).destination).toBe(target.url);
    });

    it('202: during the grace of a rotation the old and the new secret verify; without a grace only the new one does', async () => {
      const target = targets.open();
      const destination = await destinationAt(server, target.url);
      const first = await secretOf(destination);
      const rotate = async (graceSeconds: number): Promise<string> =>
        expectStatus(
          await server.api('POST', `/v1/destinations/${destination}/secret/rotate`, { grace_seconds: graceSeconds }),
          200,
        ).json.secret;
      const verifiers = (post: ReceivedRequest, secrets: string[]): string[] =>
        secrets.filter((secret) => {
          try {
            return new Webhook(secret).verify(post.rawBody, post.headers as Record<string, string>) !== undefined;
          } catch {
            return false;
          }
        });

      const second = await rotate(3600);
      await send(server, destination);
      await target.arrived(1);
      const third = await rotate(0);
      await send(server, destination);

      const [during, behind] = (await target.arrived(2)) as [ReceivedRequest, ReceivedRequest];
      expect(verifiers(during, [first, second, third])).toEqual([first, second]);
      expect(verifiers(behind, [first, second, third])).toEqual([third]);
    });

    it('202: a retry keeps the webhook-id, verifies like the first attempt and is not marked as a replay', async () => {
      const target = targets.open((_post, index) => ({ status: index < 2 ? 500 : 200 }));
      const destination = await destinationAt(server, target.url, RARE_RETRIES);

      const messageId = await send(server, destination);

      await eventAfter(server, messageId, 1);
      await makeDue(sql, messageId);
      await eventAfter(server, messageId, 2);
      await makeDue(sql, messageId);
      await eventIn(server, messageId, 'delivered');
      const posts = target.posts();
      expect(posts.map(({ headers }) => headers['webhook-id'])).toEqual([messageId, messageId, messageId]);
      const webhook = new Webhook(await secretOf(destination));
      for (const post of posts) webhook.verify(post.rawBody, post.headers as Record<string, string>);
      for (const post of posts) expect(post.headers).not.toHaveProperty('webhook-replayed');
    });
  });

  describe('the body has exactly the characters of the payload in the request, on the first attempt and on a retry', () => {
    const PAYLOADS: [string, string][] = [
      ['an integer beyond 2^53', '{"id":12345678901234567890,"small":-9007199254740993}'],
      ['numbers in unusual spellings', '{"a":1.0,"b":1e400,"c":-0,"d":1E+2,"e":0.10000000000000000000001}'],
      ['escapes', '{"a":"\\u00e9\\/\\n\\ud83d\\ude00\\u0041","\\u0062":"\\\\\\""}'],
      ['the order of keys', '{"z":1,"a":2,"10":3,"9":4,"m":{"y":1,"b":2}}'],
      ['white space', '{ "a" :\t1 ,\r\n  "b" : [ 1,  2 ] }'],
      ['keys that occur twice', '{"a":1,"a":2}'],
      ['text beyond ASCII', '{"name":"Ærøskøbing 🐘 日本語"}'],
      ['a key that is a prototype', '{"__proto__":{"admin":true},"constructor":1}'],
      ['a member with the name payload', '{"payload":{"payload":"\\"payload\\":{}"}}'],
      ['nothing', '{}'],
    ];

    it.each(PAYLOADS)('%s', async (_what, payload) => {
      const target = targets.open((_post, index) => ({ status: index === 0 ? 500 : 200 }));
      const destination = await destinationAt(server, target.url, RARE_RETRIES);

      const answer = await server.api(
        'POST',
        '/v1/send',
        `{"event_type":"a", "payload" : ${payload}\n, "destination":"${destination}"}`,
      );

      const messageId: string = expectStatus(answer, 202).json.message_id;
      await eventAfter(server, messageId, 1);
      await makeDue(sql, messageId);
      const posts = await target.arrived(2);
      expect(posts.map(({ rawBody }) => rawBody.toString())).toEqual([payload, payload]);
      const webhook = new Webhook(await secretOf(destination));
      for (const post of posts)
        webhook.verify(post.rawBody, post.headers as Record<string, string>, { jsonParse: false });
      expect((await server.api('GET', `/v1/events/${messageId}`)).text).toContain(`"payload":${payload}`);
    });

    it('a payload of 1 MB arrives completely; one byte more is 413, and nothing is stored', async () => {
      const target = targets.open();
      const payload = (bytes: number): string => `{"a":"${'x'.repeat(bytes - 8)}"}`;
      const body = (bytes: number): string =>
        `{"destination":"${target.url}","event_type":"a","payload":${payload(bytes)}}`;

      const refused = await server.api('POST', '/v1/send', body(MEGABYTE + 1));
      const accepted = await server.api('POST', '/v1/send', body(MEGABYTE));

      expectRefusal(refused, 413);
      expectStatus(accepted, 202);
      await eventIn(server, accepted.json.message_id, 'delivered');
      expect(target.posts().map(({ rawBody }) => rawBody.equals(Buffer.from(payload(MEGABYTE))))).toEqual([true]);
    });
  });

  describe('headers', () => {
    it('202: headers of the message override headers of the destination, and webhook headers override both', async () => {
      const target = targets.open();
      const destination = await destinationAt(server, target.url, {
        headers: { 'X-Both': 'destination', 'x-static': 'yes' },
      });

      await send(server, destination, {
        headers: { 'x-both': 'message', 'X-Tenant': '42', authorization: 'Bearer theirs' },
      });

      const [post] = (await target.arrived(1)) as [ReceivedRequest];
      expect(post.headers).toMatchObject({
        'x-both': 'message',
        'x-static': 'yes',
        'x-tenant': '42',
        authorization: 'Bearer theirs',
        'content-type': 'application/json',
        'user-agent': expect.stringMatching(/^Posthorn\//),
      });
    });

    it.each([
      'webhook-id',
      'Webhook-Signature',
      'Webhook-Event-Type',
      'webhook-anything',
      'svix-id',
      'Host',
      'content-length',
      'Content-Type',
      'transfer-encoding',
      'connection',
      'cookie',
      'proxy-authorization',
      'x-amz-date',
      'traceparent',
      'user-agent',
      'in valid',
      '',
    ])('422: callers cannot set %p', async (name) => {
      const target = targets.open();

      const answer = await server.api('POST', '/v1/send', {
        destination: target.url,
        event_type: 'a',
        payload: {},
        headers: { 'x-fine': '1', [name]: 'x' },
      });

      expect(expectInvalid(answer, 'schema')).toEqual([`headers.${name}`]);
    });

    it.each([
      ['a line break', 'a\r\nx-evil: 1'],
      ['NUL', 'a\0b'],
      ['a character beyond Latin-1', '日'],
    ])('422: a value with %s', async (_what, value) => {
      const answer = await server.api('POST', '/v1/send', {
        destination: targets.open().url,
        event_type: 'a',
        payload: {},
        headers: { 'x-a': value },
      });

      expectInvalid(answer, 'schema');
    });

    it('202: a valid traceparent is forwarded unchanged, an invalid one is not', async () => {
      const target = targets.open();
      const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
      const body = { destination: target.url, event_type: 'a', payload: {} };

      expectStatus(await server.api('POST', '/v1/send', body, { traceparent }), 202);
      await target.arrived(1);
      expectStatus(await server.api('POST', '/v1/send', body, { traceparent: 'nonsense' }), 202);

      const posts = await target.arrived(2);
      expect(posts.map(({ headers }) => headers['traceparent'])).toEqual([traceparent, undefined]);
    });
  });

  describe('allowed targets', () => {
    it('422: the same response for an unknown destination, one of the other environment and a deleted one', async () => {
      const target = targets.open();
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
      const deleted = await destinationAt(server, target.url);
      expectStatus(await server.api('DELETE', `/v1/destinations/${deleted}`), 204);
      const live = await destinationAt(server, target.url);
      const body = { event_type: 'a', payload: {} };

      const answers = [
        await server.api('POST', '/v1/send', { ...body, destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' }),
        await server.api('POST', '/v1/send', { ...body, destination: live }, as(key)),
        await server.api('POST', '/v1/send', { ...body, destination: deleted }),
      ];

      for (const answer of answers) expectInvalid(answer, 'schema', 'destination');
      expect(new Set(answers.map(({ json }) => JSON.stringify(json.error.details))).size).toBe(1);
      expect(target.posts()).toEqual([]);
    });

    it('422: a disabled destination, and 202 once it is active again', async () => {
      const target = targets.open();
      const destination = await destinationAt(server, target.url);
      const body = { destination, event_type: 'a', payload: {} };

      expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'disabled' }), 200);
      const refused = await server.api('POST', '/v1/send', body);
      expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'active' }), 200);
      const accepted = await server.api('POST', '/v1/send', body);

      expectInvalid(refused, 'schema', 'destination');
      expectStatus(accepted, 202);
      await target.arrived(1);
    });

    it('202: a message to a pull destination is stored and counts as delivered without an attempt', async () => {
      const created = await server.api('POST', '/v1/destinations', { name: 'Behind a firewall', type: 'pull' });

      const messageId = await send(server, created.json.id, { payload: { waits: true } });

      expect(await eventOf(server, messageId)).toMatchObject({
        status: 'delivered',
        destination: created.json.id,
        payload: { waits: true },
        attempts: [],
      });
    });
  });

  it('202: the same Idempotency-Key sends once and repeats the first response, also for concurrent requests', async () => {
    const target = targets.open();
    const key = { 'idempotency-key': randomUUID() };
    const body = { destination: target.url, event_type: 'a', payload: {} };

    const racing = await Promise.all([1, 2, 3].map(() => server.api('POST', '/v1/send', body, key)));
    const repeated = await server.api('POST', '/v1/send', body, key);

    const accepted = racing.filter(({ status }) => status === 202);
    expect(new Set(accepted.map(({ text }) => text))).toEqual(new Set([repeated.text]));
    expect(racing.map(({ status }) => status).filter((status) => status !== 202 && status !== 409)).toEqual([]);
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    await eventIn(server, repeated.json.message_id, 'delivered');
    expect(target.posts()).toHaveLength(1);
  });

  it('200: POST /v1/destinations/{id}/test returns the attempt that it made', async () => {
    const target = targets.open(() => ({ status: 418, body: 'short and stout' }));
    const destination = await destinationAt(server, target.url, RARE_RETRIES);

    const answer = await server.api('POST', `/v1/destinations/${destination}/test`);

    expect(expectStatus(answer, 200).json).toEqual({
      message_id: target.posts()[0]?.headers['webhook-id'],
      attempt: {
        number: 1,
        status: 418,
        duration_ms: expect.any(Number),
        at: expect.any(String),
        response_excerpt: 'short and stout',
        error: null,
      },
    });
  });
});
