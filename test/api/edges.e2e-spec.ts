import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { type ApiAnswer, type PosthornServer, startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal } from './answers.js';
import { until } from './polling.js';
import { exchangeBytes, requestText } from './raw-request.js';
import { accepted, inbound, json, requestOf, setSecret } from './receiving.js';
import {
  destinationAt,
  eventIn,
  expectStatus,
  openSql,
  send,
  type Sql,
  startTargets,
  type Targets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';

const STEERING = [
  'X-Accel-Redirect',
  'X-Sendfile',
  'Refresh',
  'NEL',
  'Report-To',
  'Reporting-Endpoints',
  'WWW-Authenticate',
];

describe('edge cases', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer({ METRICS_PORT: '0', LOG_LEVEL: 'info' });
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  /** Sends a request with the path unchanged, because `fetch` would normalize the path. Returns the response. */
  const raw = async (line: string, headers: Record<string, string> = {}, body = ''): Promise<ApiAnswer> => {
    const {
      answers: [answer],
    } = await exchangeBytes(server, requestText(line, { authorization: `Bearer ${server.apiKey}`, ...headers }, body));
    return answer as ApiAnswer;
  };

  describe('a path with unnecessary percent-encoding', () => {
    it('is treated as the same route by every check', async () => {
      const { key: reader } = await createKey(server, { scope: 'read' });
      const body = JSON.stringify({ name: 'x', scope: 'read' });

      expect((await raw('GET /%761/org')).json).toEqual((await server.api('GET', '/v1/org')).json);
      expectRefusal(await raw('GET /%761/org', { authorization: '' }), 401);
      expectRefusal(
        await raw('POST /v%31/%6Beys', { 'content-type': 'application/json', authorization: `Bearer ${reader}` }, body),
        403,
      );
      expectRefusal(await raw('GET /%761/events/%00'), 400);
      expectRefusal(await raw('GET /%76%31/nothing'), 404);
    });

    it('shares the scope of an Idempotency-Key', async () => {
      const destination = await destinationAt(server, targets.open().url);
      const [key, body] = [randomUUID(), JSON.stringify({ destination, event_type: 'a', payload: {} })];
      const headers = { 'content-type': 'application/json', 'idempotency-key': key };

      const first = await raw('POST /v1/send', headers, body);
      const again = await raw('POST /%761/%73end', headers, body);

      expect(again.text).toBe(expectStatus(first, 202).text);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
    });
  });

  it.each(['/v1/org', '/in/a/b', '/nothing'])('400: two Host headers (%s)', async (path) => {
    const answer = await exchangeBytes(
      server,
      `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.apiKey}\r\nhost: b\r\n\r\n`,
    );

    expectRefusal(answer.answers[0] as ApiAnswer, 400);
  });

  it('401: the server stops reading the body, and the client gets the response', async () => {
    const { hostname, port } = new URL(server.url);
    const length = 256 * 1024 * 1024;
    const socket = net.connect(Number(port), hostname);
    let text = '';
    let isEnded = false;
    socket
      .setEncoding('latin1')
      .on('data', (chunk: string) => (text += chunk))
      .on('end', () => (isEnded = true))
      .on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(
      `POST /v1/send HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`,
    );
    let sent = 0;
    const more = (): void => {
      while (sent < length && !socket.destroyed && socket.writable) {
        sent += 65_536;
        if (!socket.write(Buffer.alloc(65_536))) return;
      }
    };
    socket.on('drain', more);
    more();

    await until(
      async () => isEnded || socket.destroyed || sent >= length,
      (is) => is,
      WITHIN_MS,
    );

    socket.destroy();
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
    expect(text).toMatch(/\r\nconnection: close\r\n/i);
    expect(isEnded).toBe(true);
    // The service has stopped reading, so the client can send no more than fits into the buffers of two sockets.
    expect(sent).toBeLessThan(length / 4);
  });

  describe('413', () => {
    /**
     * Sends the head of a request and the beginning of its body, waits for the response, then continues with the body.
     */
    async function sendOn(
      length: number,
    ): Promise<{ text: string; sent: number; error: Error | null; isEnded: boolean }> {
      const { hostname, port } = new URL(server.url);
      const socket = net.connect({ port: Number(port), host: hostname, allowHalfOpen: true });
      const seen = { text: '', sent: 0, error: null as Error | null, isEnded: false };
      socket.setEncoding('latin1').on('data', (chunk: string) => (seen.text += chunk));
      socket.on('end', () => (seen.isEnded = true)).on('error', (error) => (seen.error = error));
      await once(socket, 'connect');
      const head = [
        'POST /v1/send HTTP/1.1',
        'Host: a',
        `Authorization: Bearer ${server.apiKey}`,
        'Content-Type: application/json',
        `Content-Length: ${length}`,
      ];
      socket.write(`${head.join('\r\n')}\r\n\r\n `);
      seen.sent = 1;
      await until(
        async () => seen.text,
        (text) => text.includes('payload_too_large'),
        WITHIN_MS,
      );
      while (seen.sent < length && !socket.destroyed) {
        const bytes = Math.min(65_536, length - seen.sent);
        await new Promise((resolve) => socket.write(Buffer.alloc(bytes, ' '), resolve));
        if (!socket.destroyed) seen.sent += bytes;
      }
      await until(
        async () => seen.isEnded || socket.destroyed,
        (is) => is,
        WITHIN_MS,
      );
      socket.destroy();
      return seen;
    }

    it('the server reads on after an oversized body, so that a client that is still sending gets the response', async () => {
      const { text, sent, error, isEnded } = await sendOn(24 * 1024 * 1024);

      expect(text).toMatch(/^HTTP\/1\.1 413 /);
      expect(text).toMatch(/\r\nconnection: close\r\n/i);
      expect([error, isEnded, sent]).toEqual([null, true, 24 * 1024 * 1024]);
    });

    it('the server reads on only up to a limit', async () => {
      const { text, sent } = await sendOn(1024 * 1024 * 1024);

      expect(text).toMatch(/^HTTP\/1\.1 413 /);
      expect(sent).toBeLessThan(512 * 1024 * 1024);
    });
  });

  it('422: the listeners of the service cannot be destinations, including one on a dynamic port', async () => {
    const metricsPort = /Metrics on port (\d+)/.exec(server.logs())?.[1] ?? '';

    expect(Number(metricsPort)).toBeGreaterThan(0);
    const answer = await server.api('POST', '/v1/destinations', {
      name: 'x',
      type: 'https',
      url: `http://127.0.0.1:${metricsPort}/metrics`,
    });
    expectInvalid(answer, 'connectivity');
    expect(answer.text).toContain('listener of this service itself');
  });

  describe("headers that a tenant's response cannot set", () => {
    it.each(STEERING)('422: %s, in a response and in a rule', async (name) => {
      const headers = { [name]: 'a' };

      for (const settings of [
        { response: { type: 'static', body: 'a', headers } },
        { responseRules: { default: { headers } } },
        { responseRules: { rules: [{ when: { path: '$.a', op: 'eq', value: 1 }, respond: { headers } }] } },
      ])
        expectRefusal(await server.api('POST', '/v1/endpoints', { slug: randomUUID(), ...settings }), 422);
    });

    it('a header saved by an earlier version is not sent either', async () => {
      const endpoint = await inbound(server, { responseRules: { default: { headers: { 'x-mine': '1' }, body: 'a' } } });
      await sql.rows(
        `update endpoints set response_rules = '{"default": {"headers": {"x-mine": "1", "refresh": "0;url=//a"}, "body": "a"}}'`,
      );
      await sql.rows(`select pg_notify('posthorn', 'endpoint:*')`);

      const answer = await until(
        () => fetch(`${server.url}${endpoint.at}`, { method: 'POST' }),
        ({ status }) => status === 200,
      );

      expect(answer.headers.get('x-mine')).toBe('1');
      expect(answer.headers.get('refresh')).toBeNull();
    });
  });

  describe('PATCH /v1/org', () => {
    it('403: a test key cannot change the name or the slug, because live shares them', async () => {
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
      const before = (await server.api('GET', '/v1/org')).json;

      for (const change of [
        { name: 'Other' },
        { slug: 'other' },
        { name: 'Other', slug: 'other', retention_days: 7 },
      ]) {
        expectRefusal(await server.api('PATCH', '/v1/org', change, as(key)), 403);
      }
      expect((await server.api('GET', '/v1/org')).json).toEqual(before);
      expectStatus(await server.api('PATCH', '/v1/org', { retention_days: 7 }, as(key)), 200);
    });

    it('409: a slug given up by another organization stays reserved; an organization can return to its own old slug', async () => {
      const { slug } = (await server.api('GET', '/v1/org')).json;
      const other = randomUUID();
      await sql.rows(`insert into reserved_slugs (slug, organization_id) values ('given-up', $1)`, [other]);

      expectRefusal(await server.api('PATCH', '/v1/org', { slug: 'given-up' }), 409);
      expectStatus(await server.api('PATCH', '/v1/org', { slug: 'moved' }), 200);
      const reserved = await sql.rows('select slug, organization_id <> $1 as own from reserved_slugs where slug = $2', [
        other,
        slug,
      ]);
      expect(reserved).toEqual([{ slug, own: true }]);
      expectStatus(await server.api('PATCH', '/v1/org', { slug }), 200);
    });
  });

  it('provider secrets in stored headers are encrypted, and decrypted for a replay and a mirror; older plain rows still work', async () => {
    const target = targets.open();
    const mirror = expectStatus(
      await server.api('POST', '/v1/destinations', { name: 'm', type: 'mirror', url: target.url }),
      201,
    ).json.id as string;
    const endpoint = await inbound(server, { preset: 'gitlab', destinations: [mirror] });
    const token = `gitlab-${randomUUID()}`;
    await setSecret(server, endpoint, token);
    const request = await accepted(
      server,
      endpoint,
      json({ a: 1 }, { 'x-gitlab-token': token, authorization: `Basic ${token}` }),
    );

    const [stored] = await sql.rows<{ headers: string }>('select headers::text from requests where id = $1', [
      uuidOf(request),
    ]);
    const [post] = await target.arrived(1);
    const { key } = expectStatus(await server.api('POST', '/v1/keys', { name: 'reader', scope: 'read' }), 201).json;
    const shown = await requestOf(server, endpoint, request, { authorization: `Bearer ${key}` });
    // Marks the request as unverified, so that the replay verifies its token again.
    await sql.rows(`update requests set verification = 'failed'`);
    const replays = [
      expectStatus(await server.api('POST', `/v1/endpoints/${endpoint.id}/requests/${request}/replay`), 202).json,
    ];
    await sql.rows(
      `update requests set headers = jsonb_build_array(jsonb_build_array('x-gitlab-token', $1::text)) where id = $2`,
      [token, uuidOf(request)],
    );
    replays.push(
      expectStatus(await server.api('POST', `/v1/endpoints/${endpoint.id}/requests/${request}/replay`), 202).json,
    );

    expect(stored?.headers).not.toContain(token);
    expect(post?.headers['x-gitlab-token']).toBe(token);
    expect(JSON.stringify(shown)).not.toContain(token);
    for (const { event_id: id } of replays)
      expect(await requestOf(server, endpoint, id)).toMatchObject({ status: 'routed', verified: true });
  });

  it('still delivers', async () => {
    await eventIn(server, await send(server, await destinationAt(server, targets.open().url)), 'delivered');
  });
});
