import { readFileSync } from 'node:fs';
import { freePort } from '../durability/processes.js';
import type { RawReceiver } from '../support/raw-receiver.js';
import { rawReceiver } from '../support/raw-receiver.js';
import type { Receiver } from '../support/receiver.js';
import { startReceiver } from '../support/receiver.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { expectInvalid, expectRefusal } from './answers.js';

const CREDENTIALS = { accessKeyId: 'AKIAPOSTHORNTEST', secretAccessKey: 'do-not-show-this-to-anybody' };
const BROKERS = ['sns', 'pubsub', 'azure', 'kafka', 'nats', 'amqp', 'redis'];

describe('reachability of a destination', () => {
  let server: PosthornServer;
  let receiver: Receiver;
  let selfSigned: RawReceiver;
  let closedPort: number;

  beforeAll(async () => {
    const tls = { cert: pem('cert'), key: pem('key') };
    [server, receiver, selfSigned] = await Promise.all([
      sharedServer(),
      startReceiver(),
      rawReceiver(undefined, { tls }),
    ]);
    closedPort = await freePort();
  });

  afterAll(async () => {
    await server.stop();
    await Promise.all([receiver.close(), selfSigned.close()]);
  });

  function pem(name: 'cert' | 'key'): string {
    return readFileSync(new URL(`../support/tls/localhost-${name}.pem`, import.meta.url), 'utf8');
  }

  const create = (body: object): Promise<ApiAnswer> =>
    server.api('POST', '/v1/destinations', { name: 'Checked', type: 'https', ...body });
  const check = (body: object): Promise<ApiAnswer> => server.api('POST', '/v1/destinations/check', body);
  const count = async (): Promise<number> => (await server.api('GET', '/v1/destinations?limit=100')).json.data.length;

  const UNREACHABLE: [string, () => string, RegExp][] = [
    ['nothing listens at the port', () => `http://127.0.0.1:${closedPort}/`, /refused/i],
    ["the certificate is nobody's", () => `https://127.0.0.1:${selfSigned.port}/`, /certificate|TLS/i],
    ['it speaks no TLS', () => receiver.url.replace('http:', 'https:'), /TLS/i],
    ['its name does not exist', () => 'https://nothing-here.invalid/', /name|DNS|resolve/i],
    ['its port belongs to another protocol', () => 'https://example.com:6379/', /port/i],
  ];

  it.each(UNREACHABLE)('422 on create, {ok: false} on check, with an explanation: %s', async (_what, url, detail) => {
    const before = await count();

    const [created, checked] = [await create({ url: url() }), await check({ type: 'https', url: url() })];

    expectRefusal(created, 422);
    expect(created.json.error.details.check).toMatch(/^(connectivity|schema)$/);
    expect(checked).toMatchObject({ status: 200, json: { ok: false, detail: expect.stringMatching(detail) } });
    expect(Object.keys(checked.json)).toEqual(['ok', 'detail']);
    expect(await count()).toBe(before);
  });

  it('422 connectivity: DNS, TCP and TLS failures are not reported as faults of the body', async () => {
    for (const [, url] of UNREACHABLE.slice(0, 4)) {
      const fields = expectInvalid(await create({ url: url() }), 'connectivity');
      expect(fields).toEqual([]);
    }
  });

  it('422 connectivity: a target that accepts the connection and never answers', async () => {
    const silent = await startReceiver(() => ({ hang: true }));

    const [created, checked] = await Promise.all([
      create({ url: silent.url }),
      check({ type: 'https', url: silent.url }),
    ]);

    await silent.close();
    expectInvalid(created, 'connectivity');
    expect(checked.json).toMatchObject({ ok: false, detail: expect.stringMatching(/within 10000 ms/) });
  });

  it.each([200, 204, 301, 401, 403, 404, 405, 410, 429, 500, 503])(
    'reachable: any HTTP status counts, including %i',
    async (status) => {
      receiver.answerWith({ status, headers: { location: 'http://127.0.0.1:1/' } });

      const [created, checked] = [
        await create({ url: receiver.url }),
        await check({ type: 'https', url: receiver.url }),
      ];

      expect(created).toMatchObject({ status: 201, json: { validation: 'valid', status: 'active' } });
      expect(checked).toMatchObject({ status: 200, json: { ok: true } });
    },
  );

  it('the probe is a HEAD without a body, and falls back to GET if the target breaks the connection', async () => {
    const strict = await startReceiver(({ method }) => (method === 'HEAD' ? { reset: true } : { status: 200 }));

    const created = await create({ url: `${strict.url}/hooks?a=1` });

    await strict.close();
    expect(created.status).toBe(201);
    expect(strict.requests.at(-1)).toMatchObject({ method: 'GET', path: '/hooks?a=1' });
    for (const { method, rawBody, headers } of strict.requests) {
      expect(['HEAD', 'GET']).toContain(method);
      expect(rawBody).toHaveLength(0);
      expect(headers).not.toHaveProperty('webhook-signature');
    }
  });

  it('the probe follows no redirect', async () => {
    const target = await startReceiver();
    receiver.answerWith({ status: 302, headers: { location: target.url } });

    const checked = await check({ type: 'https', url: receiver.url });

    await target.close();
    expect(checked.json.ok).toBe(true);
    expect(target.requests).toEqual([]);
  });

  describe('check', () => {
    it('stores nothing', async () => {
      const before = await count();

      await check({ type: 'https', url: receiver.url });

      expect(await count()).toBe(before);
    });

    it('{ok: true} for pull, with or without a url', async () => {
      expect((await check({ type: 'pull' })).json).toEqual({ ok: true });
      expect((await check({ type: 'pull', url: 'https://127.0.0.1/' })).json).toEqual({ ok: true });
      expect((await check({ type: 'pull', config: { queue: 'a' } })).json).toMatchObject({
        ok: false,
        detail: expect.stringContaining('config.queue'),
      });
      expect((await check({ type: 'pull', credentials: { token: 'a' } })).json).toMatchObject({
        ok: false,
        detail: expect.stringContaining('credentials'),
      });
    });

    it.each(BROKERS)('{ok: false} with the text of the specification: %s', async (type) => {
      expect((await check({ type, url: 'https://example.com/' })).json).toEqual({
        ok: false,
        detail: `${type} delivery isn't supported yet`,
      });
    });

    it('{ok: false} for https without a url', async () => {
      expect((await check({ type: 'https' })).json).toEqual({ ok: false, detail: 'url: is required' });
    });

    it.each<[string, unknown, string]>([
      ['no type', { url: 'https://example.com/' }, 'type'],
      ['an unknown type', { type: 'fax' }, 'type'],
      ['a type that is not a string', { type: 7 }, 'type'],
      ['a url that is not a string', { type: 'https', url: ['https://example.com/'] }, 'url'],
    ])('422: %s', async (_what, body, path) => {
      expectInvalid(await check(body as object), 'schema', path);
    });
  });

  describe('types', () => {
    it.each(BROKERS)('422 with the text of the specification: %s', async (type) => {
      const before = await count();

      const answer = await create({ type, config: { topic: 'a' }, credentials: CREDENTIALS });

      expectRefusal(answer, 422);
      expect(answer.json.error.message).toBe(`${type} delivery isn't supported yet`);
      expect(await count()).toBe(before);
    });

    it('201: a mirror is probed like an https destination; 422 from the connectivity check if it is unreachable', async () => {
      const before = await count();

      const [created, refused] = [
        await create({ type: 'mirror', url: receiver.url }),
        await create({ type: 'mirror', url: `http://127.0.0.1:${closedPort}/` }),
      ];

      expect(created.json).toMatchObject({ type: 'mirror', validation: 'valid', status: 'active' });
      expectRefusal(refused, 422);
      expect(refused.json.error.details.check).toBe('connectivity');
      expect(await count()).toBe(before + 1);
      expect((await check({ type: 'mirror', url: receiver.url })).json.ok).toBe(true);
    });

    const NO_TYPES = ['HTTPS', 'fax', 'https ', '__proto__', 'constructor', 'a'.repeat(64)];

    it.each(NO_TYPES)('422: %p is not a type, and the response lists the types', async (type) => {
      const answer = await create({ type, url: receiver.url });

      expectInvalid(answer, 'schema', 'type');
      for (const known of ['https', 'pull', 'sqs', 'mirror', ...BROKERS])
        expect(answer.json.error.message).toContain(known);
    });
  });

  describe('validate', () => {
    it('200: valid, then stale while the target is down, then valid again; the version does not change', async () => {
      const target = await rawReceiver();
      const { json } = await create({ url: `http://127.0.0.1:${target.port}/` });
      const validate = async (): Promise<ApiAnswer['json']> =>
        (await server.api('POST', `/v1/destinations/${json.id}/validate`)).json;
      const stored = async (): Promise<ApiAnswer['json']> =>
        (await server.api('GET', `/v1/destinations/${json.id}`)).json;

      expect(await validate()).toMatchObject({
        validation: 'valid',
        checks: { schema: true, credentials: true, connectivity: true },
      });
      await target.close();
      expect(await validate()).toMatchObject({
        validation: 'stale',
        checks: { schema: true, credentials: true, connectivity: false },
        detail: expect.stringMatching(/refused/i),
      });
      expect(await stored()).toMatchObject({ validation: 'stale', status: 'active', version: 1 });
      expect((await server.api('GET', '/v1/destinations?validation=stale')).json.data).toEqual([
        expect.objectContaining({ id: json.id }),
      ]);
      const back = await rawReceiver(undefined, { port: target.port });
      expect(await validate()).toMatchObject({ validation: 'valid' });
      await back.close();
    });

    it('200: pull is always reachable', async () => {
      const { json } = await create({ type: 'pull' });

      const answer = await server.api('POST', `/v1/destinations/${json.id}/validate`);

      expect(answer.json).toMatchObject({
        validation: 'valid',
        checks: { schema: true, credentials: true, connectivity: true },
      });
    });
  });

  it('POST /test returns the attempt', async () => {
    receiver.answerWith({ status: 418, body: 'short and stout' });
    const { json } = await create({ url: receiver.url });

    const answer = await server.api('POST', `/v1/destinations/${json.id}/test`);

    expect(answer).toMatchObject({
      status: 200,
      json: {
        message_id: expect.stringMatching(/^msg_/),
        attempt: { number: 1, status: 418, response_excerpt: 'short and stout', error: null },
      },
    });
    expect(receiver.requests.at(-1)?.headers['webhook-id']).toBe(answer.json.message_id);
  });
});
