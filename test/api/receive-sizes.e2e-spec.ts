import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal, newOrganization, OPERATOR_KEY } from './answers.js';
import { until } from './polling.js';
import { page, pullDestination } from './pulling.js';
import type { Inbound, Sent } from './receiving.js';
import { accepted, change, inbound, provide, requestOf, requestsOf } from './receiving.js';
import type { Sql } from './scene.js';
import {
  destinationAt,
  eventIn,
  eventOf,
  expectStatus,
  openSql,
  startTargets,
  type Targets,
  WITHIN_MS,
} from './scene.js';
import { flushSignals, listen, type SystemEventPayload } from './system-event-target.js';

const MEGABYTE = 1024 * 1024;
const MAX = 25 * MEGABYTE;
const TYPE = { 'content-type': 'application/json' };

function jsonOfSize(bytes: number): Buffer {
  const body = Buffer.alloc(bytes, 'a');
  body.write('{"a":"');
  body.write('"}', bytes - 2);
  return body;
}

const withLength = (body: Buffer): Sent => ({ body, headers: TYPE });
const chunked = (body: Buffer): Sent => ({
  body,
  headers: { ...TYPE, 'transfer-encoding': 'chunked', 'content-length': [] },
});

describe('max_body_bytes', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer({ OPERATOR_KEY }), startTargets()]);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await targets?.close();
  });

  const shown = async ({ id }: Inbound): Promise<ApiAnswer['json']> =>
    expectStatus(await server.api('GET', `/v1/endpoints/${id}`), 200).json;

  const counted = async (outcome: string): Promise<number> => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(
      new RegExp(`^posthorn_ingest_requests_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
    );
  };

  it.each([0, -1, MAX + 1, 1.5, '1000', true, [], {}, 1e300])('422: %j is not a limit', async (limit) => {
    const endpoint = await inbound(server);

    const answers = [
      await server.api('POST', '/v1/endpoints', { slug: 'refused', max_body_bytes: limit }),
      await server.api('PATCH', `/v1/endpoints/${endpoint.id}`, { max_body_bytes: limit }),
    ];

    for (const answer of answers) expectInvalid(answer, 'schema', 'max_body_bytes');
    expect((await shown(endpoint)).max_body_bytes).toBe(MEGABYTE);
  });

  it('PATCH changes the limit at once; null restores 1 MB; the audit log has both values', async () => {
    const endpoint = await inbound(server, { max_body_bytes: 10 });
    const ten = withLength(jsonOfSize(10));
    const eleven = withLength(jsonOfSize(11));

    await accepted(server, endpoint, ten);
    expectRefusal(await provide(server, endpoint.at, eleven), 413);
    await change(server, endpoint, { name: 'Another' });
    expect((await shown(endpoint)).max_body_bytes).toBe(10);
    await change(server, endpoint, { max_body_bytes: 11 });
    await accepted(server, endpoint, eleven);
    await change(server, endpoint, { max_body_bytes: null });
    expect((await shown(endpoint)).max_body_bytes).toBe(MEGABYTE);
    await accepted(server, endpoint, withLength(jsonOfSize(MEGABYTE)));

    const { data } = (await server.api('GET', `/v1/audit?resource=${endpoint.id}`)).json as { data: unknown[] };
    expect(JSON.stringify(data)).toContain('max_body_bytes');
  });

  it.each([
    ['with its length', 1000, withLength],
    ['in chunks', 1000, chunked],
    ['with its length', 3 * MEGABYTE, withLength],
    ['in chunks', 3 * MEGABYTE, chunked],
  ])(
    '413: a body %s over the limit of %i is stored without its body, as too_large, and cannot be replayed',
    async (_title, limit, sent) => {
      const endpoint = await inbound(server, { max_body_bytes: limit });
      const before = await counted('too_large');

      await accepted(server, endpoint, sent(jsonOfSize(limit - 1)));
      await accepted(server, endpoint, sent(jsonOfSize(limit)));
      const answer = await provide(server, `${endpoint.at}/below?q=1`, sent(jsonOfSize(limit + 1)));

      expectRefusal(answer, 413);
      expect(answer.json.error.details).toEqual({ max_body_bytes: limit });
      const requests = await requestsOf(server, endpoint);
      expect(requests.map(({ status }) => status as string)).toEqual(['too_large', 'ignored', 'ignored']);
      const [refused] = requests;
      expect(refused).toMatchObject({
        event_id: null,
        verified: null,
        note: expect.stringContaining(`${limit} bytes`),
      });
      expect(refused.size_bytes).toBeGreaterThan(limit);
      if (sent === withLength) expect(refused.size_bytes).toBe(limit + 1);
      expect(await requestOf(server, endpoint, refused.id)).toMatchObject({
        method: 'POST',
        path: '/below',
        query: 'q=1',
        body: '',
        headers: expect.arrayContaining([['content-type', 'application/json']]),
        answer: { status: 413, body: null },
      });
      const listed = await server.api('GET', `/v1/endpoints/${endpoint.id}/requests?status=too_large`);
      expect(listed.json.data).toEqual([refused]);
      expect((await server.api('GET', `/v1/endpoints/${endpoint.id}/requests?status=routed`)).json.data).toEqual([]);
      for (const path of [`requests/${refused.id}/replay`, 'trial']) {
        const body = path === 'trial' ? { request: refused.id } : undefined;
        const refusal = await server.api('POST', `/v1/endpoints/${endpoint.id}/${path}`, body);
        expectRefusal(refusal, 409);
        expect(refusal.json.error.details.reason).toBe('too_large');
      }
      expect(await counted('too_large')).toBe(before + 1);
    },
  );

  it('a rejected request keeps credentials hidden, and belongs to its environment only', async () => {
    const endpoint = await inbound(server, { max_body_bytes: 1, verification: 'bearer' });
    await provide(server, endpoint.at, { body: 'ab', headers: { authorization: 'Bearer token-of-a-provider' } });
    const [{ id }] = await requestsOf(server, endpoint);
    const read = await createKey(server, { scope: 'read' });
    const other = await createKey(server, { scope: 'admin', environment: 'test' });

    const request = await requestOf(server, endpoint, id, as(read.key));
    const elsewhere = await server.api('GET', `/v1/endpoints/${endpoint.id}/requests/${id}`, undefined, as(other.key));

    expect(request.headers).toContainEqual(['authorization', '(hidden)']);
    expectRefusal(elsewhere, 404);
  });

  it('one system event per endpoint and hour, however many bodies are too large', async () => {
    const ops = await listen(server, targets);
    const endpoint = await inbound(server, { max_body_bytes: 5 });

    for (let i = 0; i < 20; i += 1) expectRefusal(await provide(server, endpoint.at, { body: 'larger' }), 413);

    expect(await requestsOf(server, endpoint)).toHaveLength(20);
    await flushSignals(sql);
    const itemsOf = (events: SystemEventPayload[]): unknown[] =>
      events.flatMap(({ data }) => data.items).filter((item) => item['endpoint'] === endpoint.id);
    const events = await ops.waitFor('endpoint.body_too_large', (sent) => itemsOf(sent).length > 0);
    expect(itemsOf(events)).toEqual([
      {
        endpoint: endpoint.id,
        path: endpoint.path,
        max_body_bytes: 5,
        size_bytes: 6,
        last_request: expect.stringMatching(/^req_/),
        count: 1,
      },
    ]);
  });

  it.each([
    ['with its length', withLength],
    ['in chunks', chunked],
  ])(
    '200: 25 MB %s reach https and pull completely, and are shown, replayed and downloaded',
    async (_title, sent) => {
      const target = targets.open();
      const feed = await pullDestination(server);
      const endpoint = await inbound(server, {
        max_body_bytes: MAX,
        destinations: [await destinationAt(server, target.url), feed],
      });
      const body = jsonOfSize(MAX);
      body.write('é', 100);

      const id = await accepted(server, endpoint, sent(body));

      const [post] = await target.arrived(1, 60_000);
      expect(post?.rawBody.equals(body)).toBe(true);
      const event = await eventIn(server, id, 'delivered');
      expect(event).toMatchObject({ payload_truncated: true });
      const item = await until(
        () => page(server, feed, { limit: 100 }),
        ({ data }) => data.length > 0,
        WITHIN_MS,
      );
      expect(item.data).toHaveLength(1);
      expect(JSON.stringify(item.data[0].payload)).toBe(body.toString());
      expect((await server.api('GET', `/v1/events/${id}/payload`)).text).toBe(body.toString());
      expect(await requestOf(server, endpoint, id)).toMatchObject({ size_bytes: MAX, body: body.toString() });
      const { json: replayed } = expectStatus(
        await server.api('POST', `/v1/endpoints/${endpoint.id}/requests/${id.replace('evt_', 'req_')}/replay`),
        202,
      );
      expect((await target.arrived(2, 60_000))[1]?.rawBody.equals(body)).toBe(true);
      expect((await eventOf(server, replayed.event_id)).payload_truncated).toBe(true);
    },
    120_000,
  );

  it('code gets bodies of 1 MB; a larger one fails the transform before it runs, and the proxy falls back', async () => {
    const target = targets.open();
    const settings = {
      max_body_bytes: 2 * MEGABYTE,
      destinations: [await destinationAt(server, target.url)],
      responseProxy: { target: 'managed', code: 'export default () => ({status: 202})' },
    };
    const transform = { engine: 'managed', code: 'export default ({body}) => ({body: {length: body.a.length}})' };
    const [closed, open] = [
      await inbound(server, { ...settings, transform }),
      await inbound(server, { ...settings, transform: { ...transform, failMode: 'open' } }),
    ];
    const [largest, tooLarge] = [jsonOfSize(MEGABYTE), jsonOfSize(MEGABYTE + 1)];

    expect((await provide(server, closed.at, withLength(largest))).status).toBe(202);
    expect((await provide(server, closed.at, withLength(tooLarge))).status).toBe(200);
    expect((await provide(server, open.at, withLength(tooLarge))).status).toBe(200);

    const posts = await target.arrived(2);
    expect(posts.map(({ rawBody }) => rawBody.length).sort((a, b) => a - b)).toEqual([18, MEGABYTE + 1]);
    const why = 'The transform failed: the body is over 1 MB, the limit of code.';
    expect((await requestsOf(server, closed)).map(({ status, note }) => [status, note] as unknown)).toEqual([
      ['parked', why],
      ['routed', 'transformed'],
    ]);
    expect((await requestsOf(server, open))[0].note).toBe(`${why} It was delivered untransformed.`);
  });

  it('a compressed body counts as received, and unpacks to at most 1 MB for filters', async () => {
    const endpoint = await inbound(server, { max_body_bytes: 10_000 });
    const small = gzipSync(jsonOfSize(2 * MEGABYTE));
    expect(small.length).toBeLessThan(10_000);

    const id = await accepted(server, endpoint, { body: small, headers: { ...TYPE, 'content-encoding': 'gzip' } });

    expect(await requestOf(server, endpoint, id)).toMatchObject({ size_bytes: small.length });
  });

  it('503 with Retry-After: large bodies over the share of an organization; others are received, and the share is freed', async () => {
    const endpoint = await inbound(server, { max_body_bytes: MAX });
    const neighbour = expectStatus(
      await server.api(
        'POST',
        '/v1/endpoints',
        { slug: 'neighbour', max_body_bytes: MAX },
        await newOrganization(server),
      ),
      201,
    ).json as { path: string };
    const large = (): Promise<ApiAnswer> => provide(server, endpoint.at, withLength(jsonOfSize(2 * MEGABYTE)));
    const open = [0, 1].map(() => begun(server, endpoint, MAX));
    await Promise.all(open.map(({ started }) => started));
    expect((await large()).status).toBe(200);
    for (const { write } of open) write(Buffer.alloc(MAX - 1));

    // Sends probes until a 503 shows that the open requests have reserved all memory. The probes send no bytes, so they
    // reserve no memory themselves.
    for (let status: number | null = null; status !== 503;) {
      const idle = begun(server, endpoint, 2 * MEGABYTE);
      status = await Promise.race([idle.answered, pause(500, null)]);
      idle.abort();
    }
    const refused = await large();

    expectRefusal(refused, 503);
    expect(refused.headers.get('retry-after')).toBe('1');
    const before = await counted('busy');
    expectRefusal(await provide(server, endpoint.at, chunked(jsonOfSize(2 * MEGABYTE))), 503);
    expect(await counted('busy')).toBe(before + 1);
    await accepted(server, endpoint, withLength(jsonOfSize(MEGABYTE)));
    expect((await provide(server, `/in/${neighbour.path}`, withLength(jsonOfSize(MAX)))).status).toBe(200);
    for (const { abort } of open) abort();
    await until(large, ({ status }) => status === 200, WITHIN_MS);
  });
});

/**
 * Begins a request of the given length and keeps it open. `started` resolves when the service requests the body with
 * `100 Continue`.
 */
function begun(
  server: PosthornServer,
  { at }: Inbound,
  length: number,
): { started: Promise<unknown>; answered: Promise<number>; write: (bytes: Buffer) => void; abort: () => void } {
  const { hostname, port } = new URL(server.url);
  const request = http.request({
    hostname,
    port,
    path: at,
    method: 'POST',
    headers: { ...TYPE, 'content-length': String(length), expect: '100-continue' },
    agent: false,
  });
  request.on('error', () => undefined);
  request.flushHeaders();
  const started = new Promise((resolve) => request.once('continue', resolve));
  const answered = new Promise<number>((resolve) =>
    request.once('response', ({ statusCode = 0 }) => resolve(statusCode)),
  );
  return { started, answered, write: (bytes) => void request.write(bytes), abort: () => request.destroy() };
}
