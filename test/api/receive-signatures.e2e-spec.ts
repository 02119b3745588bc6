import { createHmac, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid } from './answers.js';
import type { Inbound, Json, Sent } from './receiving.js';
import { accepted, change, inbound, provide, requestOf, requestsOf, setSecret } from './receiving.js';
import type { Sql } from './scene.js';
import { expectStatus, openSql } from './scene.js';

const BODY = '{"type":"message.new","id":"1"}';
const hmac = (text: string): string => createHmac('sha256', 's3cret').update(text).digest('hex');
const now = (): number => Math.floor(Date.now() / 1000);

describe('signatures of composite headers, tokens and queries', () => {
  let server: PosthornServer;
  let sql: Sql;

  beforeAll(async () => {
    server = await startServer();
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
  });

  async function created(settings: object): Promise<Inbound> {
    const endpoint = await inbound(server, settings);
    await setSecret(server, endpoint, 's3cret');
    return endpoint;
  }

  /** Sends a request that must be quarantined. Returns the field `note`, which explains why. */
  async function refused(endpoint: Inbound, sent: Sent, query = ''): Promise<string> {
    expectStatus(await provide(server, endpoint.at + query, sent), 401);
    const [newest] = await requestsOf(server, endpoint);
    expect(newest).toMatchObject({ status: 'quarantined', verified: false });
    return newest.note as string;
  }

  it.each([
    'workos',
    'mux',
    'elevenlabs',
    'mercadopago',
    'pagerduty',
    'netlify',
    'monday',
    'fusionauth',
    'getstream',
    'zendesk',
  ])('%s: 200 for a signed sample, and 401 for an unsigned request', async (preset) => {
    const endpoint = await created({ preset });

    expectStatus(await server.api('POST', `/v1/endpoints/${endpoint.id}/test`, {}), 200);

    expect(await requestsOf(server, endpoint)).toEqual([
      expect.objectContaining({ status: 'ignored', verified: true }),
    ]);
    expect(await refused(endpoint, { body: BODY })).toMatch(/the header [a-z0-9-]+ is missing/);
  });

  it('a gzip body is verified after decompression, and a decompression bomb is refused', async () => {
    const endpoint = await created({ preset: 'getstream' });
    const headers = { 'content-encoding': 'gzip', 'x-signature': hmac(BODY) };

    const id = await accepted(server, endpoint, { headers, body: gzipSync(BODY) });

    expect(await requestOf(server, endpoint, id)).toMatchObject({ verified: true, body_encoding: 'base64' });
    expect(await refused(endpoint, { headers, body: gzipSync(Buffer.alloc(64 * 1024 * 1024)) })).toMatch(
      /the body cannot be decompressed, or is too large when decompressed/,
    );
  });

  it('the note of a quarantined request names the part that cannot be read', async () => {
    const endpoint = await created({ preset: 'mux' });
    const sent = (value: string): Sent => ({ body: BODY, headers: { 'mux-signature': value } });

    const id = await accepted(server, endpoint, sent(`t=${now()},v1=${hmac(`${now()}.${BODY}`)}`));

    expect(await requestOf(server, endpoint, id)).toMatchObject({ verified: true });
    expect(await refused(endpoint, sent(`v1=${hmac(BODY)}`))).toMatch(/has no part t=…/);
    expect(await refused(endpoint, sent(`t=later,v1=${hmac(BODY)}`))).toMatch(/is not a whole number of seconds/);
    expect(await refused(endpoint, sent(`t=${now()},v9=${hmac(BODY)}`))).toMatch(/has no part v1=…/);
  });

  it('monday.com checks the URL with a challenge, which makes no event', async () => {
    const endpoint = await inbound(server, { preset: 'monday' });
    const body = '{"challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"}';

    const answer = await provide(server, endpoint.at, { body, headers: { 'content-type': 'application/json' } });

    expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([200, body, 'application/json']);
    expect(await requestsOf(server, endpoint)).toEqual([]);
    expect(await refused(endpoint, { body: '{"challenge":"a","event":{}}' })).toMatch(/no secret/);
  });

  describe('a key in the query', () => {
    const settings = { verification: 'api-key', verificationConfig: { queryParameter: 'token' } };
    const find = async (endpoint: Inbound, id: string, headers?: Record<string, string>): Promise<Json> => {
      const { query, url, verified } = await requestOf(server, endpoint, id, headers);
      return { query, url: (url as string).split('?')[1], verified };
    };

    it('is accepted, stored encrypted, shown to scope write, and hidden from scope read', async () => {
      const endpoint = await inbound(server, settings);
      const key = `key-${randomUUID()}`;
      await setSecret(server, endpoint, key);
      const reader = as((await createKey(server, { scope: 'read' })).key);

      const id = await accepted(server, { ...endpoint, at: `${endpoint.at}?a=1&token=${key}&b=2` });

      const whole = `a=1&token=${key}&b=2`;
      const hidden = 'a=1&token=(hidden)&b=2';
      expect(await find(endpoint, id)).toEqual({ query: whole, url: whole, verified: true });
      expect(await find(endpoint, id, reader)).toEqual({ query: hidden, url: hidden, verified: true });
      const rows = await sql.rows<{ row: string }>(`select requests::text as row from requests where query <> ''`);
      expect(rows.length).toBeGreaterThan(0);
      expect(rows.filter(({ row }) => row.includes(key))).toEqual([]);
      const trial = await server.api('POST', `/v1/endpoints/${endpoint.id}/trial`, {
        request: id.replace('evt_', 'req_'),
        transform: { engine: 'managed', code: 'export default (event) => ({ ...event, body: event.query })' },
      });
      expect(expectStatus(trial, 200).text).not.toContain(key);
      expect(trial.text).toContain('(hidden)');

      await change(server, endpoint, { verification: 'none' });

      expect(await find(endpoint, id, reader)).toEqual({ query: hidden, url: hidden, verified: true });
      expect((await find(endpoint, id)).query).toBe(whole);
    });

    it('is refused if it is wrong, missing or repeated; after the secret is corrected, a replay is accepted', async () => {
      const endpoint = await created(settings);

      expect(await refused(endpoint, {})).toMatch(/the query parameter token is missing/);
      expect(await refused(endpoint, {}, '?token=s3cret&token=x')).toMatch(/occurs more than once/);
      expect(await refused(endpoint, {}, '?token=a%2Bb')).toMatch(/is not the endpoint's secret/);
      const [{ id }] = await requestsOf(server, endpoint);
      await setSecret(server, endpoint, 'a+b');
      const replay = await server.api('POST', `/v1/endpoints/${endpoint.id}/requests/${id as string}/replay`);

      expectStatus(replay, 202);
      expect((await requestsOf(server, endpoint))[0]).toMatchObject({ status: 'ignored', verified: true });
    });

    it('200 for a sample, which carries the key', async () => {
      const endpoint = await created(settings);

      expectStatus(await server.api('POST', `/v1/endpoints/${endpoint.id}/test`, {}), 200);

      const [request] = await requestsOf(server, endpoint);
      expect(await find(endpoint, request.id as string)).toMatchObject({ query: 'token=s3cret', verified: true });
    });
  });

  it.each<[string, object, string]>([
    ['hmac-sha256', { separator: '=' }, 'separator'],
    ['hmac-sha256', { separator: 7 }, 'separator'],
    ['hmac-sha256', { signatureField: '' }, 'signatureField'],
    ['hmac-sha256', { signatureField: 'v1=' }, 'signatureField'],
    ['hmac-sha256', { timestampField: ['t'] }, 'timestampField'],
    ['hmac-sha256', { timestampField: 't' }, 'timestampField'],
    ['hmac-sha256', { queryParameter: 'token' }, 'queryParameter'],
    ['api-key', { queryParameter: 'a\u0000b' }, 'queryParameter'],
    ['api-key', { queryParameter: 'a', header: 'x-key' }, 'queryParameter'],
    ['jwt-hs256', { jwksUrl: 'https://example.com' }, 'jwksUrl'],
    ['jwt-hs256', { algorithm: 'none' }, 'algorithm'],
  ])('422: %s with %j', async (verification, verificationConfig, at) => {
    const answer = await server.api('POST', '/v1/endpoints', { slug: randomUUID(), verification, verificationConfig });

    expectInvalid(answer, 'schema', `verificationConfig.${at}`);
  });

  it('422: a public key as the secret of a token', async () => {
    const endpoint = await inbound(server, { verification: 'jwt-hs256' });
    const secret = '-----BEGIN PUBLIC KEY-----MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE-----END PUBLIC KEY-----';

    expectInvalid(await server.api('PUT', `/v1/endpoints/${endpoint.id}/secret`, { secret }), 'schema', 'secret');
  });
});
