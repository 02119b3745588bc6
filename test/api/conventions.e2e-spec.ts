import { USER_AGENT, VERSION } from '../../src/kernel/version.js';
import { Conformance, type OpenApi, routesOf } from '../conformance/openapi-document.js';
import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { as, expectInvalid, expectRateLimitHeaders, expectRefusal, REQUEST_ID, TIMESTAMP } from './answers.js';

const UNKNOWN_ID = '01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

describe('conventions', () => {
  let server: PosthornServer;

  beforeAll(async () => {
    server = await sharedServer();
  });

  afterAll(() => server.stop());

  describe('every error response is the envelope, contains the request id and shows the quota', () => {
    const NO_KEY = { authorization: '' };
    const JSON_BODY = '{"name":"A"}';
    const REFUSALS: [string, number, string, string, (string | Buffer)?, Record<string, string>?][] = [
      ['404: an unknown path', 404, 'GET', '/v1/nothing'],
      ['404: an unknown path outside of /v1', 404, 'GET', '/nothing'],
      ['404: an unknown path without a key', 404, 'GET', '/v1/nothing', undefined, NO_KEY],
      ['404: a version that is not there', 404, 'POST', '/v2/send', '{}'],
      ['404: a known path with another method', 404, 'PUT', '/v1/send', '{}'],
      ['404: DELETE of a collection', 404, 'DELETE', '/v1/destinations'],
      ['404: OPTIONS', 404, 'OPTIONS', '/v1/org'],
      ['404: a method that Posthorn never takes', 404, 'PROPFIND', '/v1/org'],
      ['404: a path in another case', 404, 'GET', '/v1/Org'],
      ['404: an id that is none', 404, 'GET', '/v1/destinations/nothing'],
      ['404: an id of another kind', 404, 'GET', `/v1/destinations/ek_${UNKNOWN_ID}`],
      ['404: an id that nothing has', 404, 'GET', `/v1/destinations/dst_${UNKNOWN_ID}`],
      ['400: broken percent-encoding in a path', 400, 'GET', '/v1/destinations/%zz'],
      ['400: half of percent-encoding in a path', 400, 'GET', '/v1/destinations/%'],
      ['400: percent-encoding that is no UTF-8', 400, 'GET', '/v1/destinations/%ff'],
      ['400: NUL in a path', 400, 'GET', '/v1/destinations/dst_%00'],
      ['400: NUL in a query', 400, 'GET', '/v1/events?event_type=%00'],
      ['400: malformed JSON', 400, 'POST', '/v1/destinations', '{"name":'],
      ['400: JSON with a comma too many', 400, 'POST', '/v1/destinations', '{"name":"A",}'],
      ['400: a bad query parameter', 400, 'GET', '/v1/events?status=lost'],
      ['400: a bad time in a query', 400, 'GET', '/v1/events?since=yesterday'],
      ['400: a malformed Idempotency-Key', 400, 'POST', '/v1/keys', JSON_BODY, { 'idempotency-key': 'order-17' }],
      ['401: no key', 401, 'GET', '/v1/org', undefined, NO_KEY],
      ['401: another scheme', 401, 'GET', '/v1/org', undefined, { authorization: 'Basic ZWtfbGl2ZTo=' }],
      ['401: a key that is none', 401, 'GET', '/v1/org', undefined, as('ek_live_nothing')],
      ['401: a key with a typo', 401, 'GET', '/v1/org', undefined, as(`ek_live_${'a'.repeat(49)}`)],
      ['401: before the body is read', 401, 'POST', '/v1/send', '{"broken', NO_KEY],
      ['413: a body that is too large', 413, 'POST', '/v1/send', Buffer.alloc(1_048_576 + 65_537, ' ')],
      ['415: a form', 415, 'POST', '/v1/send', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
      ['415: plain text', 415, 'POST', '/v1/send', '{}', { 'content-type': 'text/plain' }],
      ['415: another charset', 415, 'POST', '/v1/send', '{}', { 'content-type': 'application/json; charset=latin1' }],
      ['415: a compressed body', 415, 'POST', '/v1/send', '{}', { 'content-encoding': 'gzip' }],
      ['415: a content type that is none', 415, 'POST', '/v1/send', '{}', { 'content-type': 'json' }],
      ['422: a body that breaks its schema', 422, 'POST', '/v1/destinations', '{}'],
      ['422: no body', 422, 'POST', '/v1/destinations'],
    ];

    it.each(REFUSALS)('%s', async (...[, status, method, path, body, headers]) => {
      const answer = await server.api(method, path, body, headers);

      expectRefusal(answer, status);
      expectRateLimitHeaders(answer.headers);
    });
  });

  it('every request has a unique id, also on success', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.api('GET', '/v1/org')));

    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) expect(id).toMatch(REQUEST_ID);
  });

  it('a request id sent by the client is not used', async () => {
    const answer = await server.api('GET', '/v1/nothing', undefined, { 'x-request-id': 'mine', 'request-id': 'mine' });

    expect(answer.json.error.request_id).toMatch(REQUEST_ID);
  });

  it('401 requests a bearer key', async () => {
    const answer = await server.api('GET', '/v1/org', undefined, { authorization: '' });

    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('the word Bearer is case-insensitive', async () => {
    const answer = await server.api('GET', '/v1/org', undefined, { authorization: `bearer ${server.apiKey}` });

    expect(answer.status).toBe(200);
  });

  it.each([
    ['GET', '/v1/billing'],
    ['POST', '/v1/billing/checkout'],
  ])('501: %s %s is not available yet', async (method, path) => {
    const answer = await server.api(method, path, method === 'POST' ? {} : undefined);

    expectRefusal(answer, 501);
    expectRateLimitHeaders(answer.headers);
  });

  it('a successful response shows the quota, which each request reduces by one', async () => {
    const [first, second] = [await server.api('GET', '/v1/org'), await server.api('GET', '/v1/org')];

    expectRateLimitHeaders(first.headers);
    const [before, after] = [first, second].map(({ headers }) => Number(headers.get('ratelimit-remaining')));
    // `after` can be higher than expected, because the rate limit refills 100 tokens per second between the two
    // requests.
    expect(after).toBeGreaterThanOrEqual(Number(before) - 1);
    expect(Number(first.headers.get('ratelimit-limit'))).toBe(6000);
  });

  it('204 has no body', async () => {
    const { json } = await server.api('POST', '/v1/keys', { name: 'Short-lived', scope: 'read' });

    const answer = await server.api('DELETE', `/v1/keys/${json.id}`);

    expect(answer).toMatchObject({ status: 204, text: '' });
    expectRateLimitHeaders(answer.headers);
  });

  it('HEAD returns the headers of GET, without the body', async () => {
    const answer = await server.api('HEAD', '/v1/org');

    expect(answer).toMatchObject({ status: 200, text: '' });
  });

  it('every timestamp is RFC 3339 in UTC with milliseconds', async () => {
    const key = await server.api('POST', '/v1/keys', {
      name: 'Timed',
      scope: 'read',
      expires_at: '2099-06-30T23:59:59+02:00',
    });
    const destination = await server.api('POST', '/v1/destinations', { name: 'Pull', type: 'pull' });
    const send = await server.api('POST', '/v1/send', {
      destination: destination.json.id,
      event_type: 'a',
      payload: {},
    });
    const event = await server.api('GET', `/v1/events/${send.json.message_id}`);
    const org = await server.api('GET', '/v1/org');

    expect(key.json.expires_at).toBe('2099-06-30T21:59:59.000Z');
    for (const time of [
      key.json.created_at,
      destination.json.created_at,
      event.json.received_at,
      org.json.created_at,
    ]) {
      expect(time).toMatch(TIMESTAMP);
      expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(120_000);
    }
  });

  it('422: an unknown field in a body, also in a nested object, and nothing is created', async () => {
    const answers = [
      await server.api('POST', '/v1/keys', { name: 'Misspelt', scope: 'read', expiresAt: '2099-01-01T00:00:00Z' }),
      await server.api('POST', '/v1/app/acme/endpoints', { url: 'https://example.com/', eventTypes: ['invoice.paid'] }),
      await server.api('POST', '/v1/endpoints', { slug: 'misspelt', routes: [{ destination: 'dst_x', filters: {} }] }),
    ];

    expect(answers.map((answer) => expectInvalid(answer, 'schema'))).toEqual([
      ['expiresAt'],
      ['eventTypes'],
      ['routes.0.filters'],
    ]);
    expect(answers[1]?.json.error.message).toBe('eventTypes: is not known here');
    expect((await server.api('GET', '/v1/keys')).json.data.map(({ name }: { name: string }) => name)).not.toContain(
      'Misspelt',
    );
  });

  it.each([
    ['GET', '/v1/events?statuss=dlq', 'statuss'],
    ['GET', '/v1/org?colour=red', 'colour'],
    ['POST', '/v1/send?dry_run=true', 'dry_run'],
    ['DELETE', '/v1/destinations/dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1?force=true', 'force'],
  ])('400: %s %s has an unknown parameter', async (method, path, parameter) => {
    const answer = await server.api(
      method,
      path,
      method === 'POST' ? { destination: 'https://example.com/', event_type: 'a', payload: {} } : undefined,
    );

    expectRefusal(answer, 400);
    expect(answer.json.error).toMatchObject({
      message: expect.stringMatching(
        new RegExp(`^The query parameter ${parameter} is not known here\\. (There are none|Known are [a-z_, ]+)\\.$`),
      ),
      details: { fields: [{ path: parameter, message: 'is not known here' }] },
    });
  });

  it('200: health probes may have any parameter', async () => {
    expect((await fetch(`${server.url}/health/live?t=1`)).status).toBe(200);
  });

  it.each(['/health/live', '/health/ready'])('200: GET %s works without a key', async (path) => {
    const response = await fetch(server.url + path);

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: expect.stringMatching(/^(ok|ready)$/) });
  });

  it('200: GET /health/ready returns the running version, as do the OpenAPI document and every User-Agent', async () => {
    const ready = (await (await fetch(`${server.url}/health/ready`)).json()) as {
      version: string;
      parts: { process: { version: string } };
    };
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as { info: { version: string } };

    expect([ready.version, ready.parts.process.version, document.info.version, USER_AGENT]).toEqual([
      VERSION,
      VERSION,
      VERSION,
      `Posthorn/${VERSION}`,
    ]);
  });

  it('302: GET / redirects browsers to the console, and programs to the OpenAPI document', async () => {
    const leads = async (accept: string): Promise<[number, string | null]> => {
      const { status, headers } = await fetch(server.url, { headers: { accept }, redirect: 'manual' });
      return [status, headers.get('location')];
    };

    expect(await leads('text/html,application/xhtml+xml,*/*;q=0.8')).toEqual([302, 'console']);
    for (const accept of ['*/*', 'application/json']) expect(await leads(accept)).toEqual([302, 'openapi.json']);
    expect((await (await fetch(server.url)).json()).openapi).toBe('3.1.0');
  });

  it('200: GET /docs and GET /openapi.json work without a key', async () => {
    const [docs, document] = [await fetch(`${server.url}/docs`), await fetch(`${server.url}/openapi.json`)];

    expect(docs.headers.get('content-type')).toMatch(/^text\/html/);
    const page = await docs.text();
    expect(page).toContain('swagger-ui');
    expect(page).toContain("<link rel='icon' href='data:image/svg+xml,");
    expect(await document.json()).toMatchObject({
      openapi: '3.1.0',
      paths: { '/v1/send': { post: { operationId: 'sendWebhook' } } },
    });
  });

  describe('the document', () => {
    let document: OpenApi;
    let conformance: Conformance;

    beforeAll(async () => {
      document = (await server.api('GET', '/openapi.json')).json as OpenApi;
      conformance = new Conformance(document);
    });

    it('has at least one named example of every body, and each is valid under its schema', () => {
      const faults = routesOf(document).flatMap(({ operation }) => {
        const { examples = {}, schema = {} } = operation.requestBody?.content['application/json'] ?? {
          examples: { none: { value: {} } },
        };
        const none = Object.keys(examples).length === 0 ? [`${operation.operationId}: no example`] : [];
        return [
          ...none,
          ...Object.entries(examples).flatMap(([name, { value }]) =>
            conformance.componentFaults(schema, value).map((fault) => `${operation.operationId} ${name}: ${fault}`),
          ),
        ];
      });

      expect(faults).toEqual([]);
    });

    it('gives no examples of optional parameters, because Swagger UI and other clients would send them', () => {
      const filled = routesOf(document).flatMap(({ operation }) =>
        (operation.parameters ?? [])
          .filter(
            (each) =>
              each['required'] !== true &&
              ('example' in each || 'examples' in each || 'example' in (each.schema ?? {})),
          )
          .map(({ name }) => `${operation.operationId} ${name}`),
      );

      expect(filled).toEqual([]);
    });

    it('states the required scope of every operation, and the service enforces it', async () => {
      const keys = { none: '', read: '', write: '' };
      for (const scope of ['read', 'write'] as const)
        keys[scope] = (await server.api('POST', '/v1/keys', { name: scope, scope })).json.key as string;
      const refused = async (method: string, at: string, key: string): Promise<boolean> => {
        const answer = await fetch(server.url + at.replaceAll(/\{\w+\}/g, 'x'), {
          method,
          headers: { authorization: `Bearer ${key}` },
        });
        return [401, 403].includes(answer.status);
      };

      for (const { method, path: at, operation } of routesOf(document)) {
        const schemes = operation.security as { apiKey?: string[]; operatorKey?: string[] }[];
        // A key of an organization does not authenticate operator operations.
        if (schemes.some(({ operatorKey }) => operatorKey !== undefined)) {
          expect([
            operation.operationId,
            await refused(method, at, keys.none),
            await refused(method, at, server.apiKey),
          ]).toEqual([operation.operationId, true, true]);
          continue;
        }
        const [scope] = schemes.map(({ apiKey }) => apiKey?.join());
        const refusals = [
          await refused(method, at, keys.none),
          await refused(method, at, keys.read),
          await refused(method, at, keys.write),
        ];

        expect([operation.operationId, ...refusals]).toEqual([
          operation.operationId,
          scope !== undefined,
          ['write', 'admin'].includes(scope ?? ''),
          scope === 'admin',
        ]);
      }
      expect(document.components.securitySchemes.apiKey).toEqual({
        type: 'http',
        scheme: 'bearer',
        description: expect.stringContaining('ek_live_'),
      });
    });
  });
});
