import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { as, createKey, expectRefusal } from './answers.js';
import { until } from './polling.js';
import { emit, endpointOf, eventsOf } from './recovering.js';
import { inletTo, jobIn, receive } from './replaying.js';
import type { Sql, Targets } from './scene.js';
import {
  destinationAt,
  eventAfter,
  eventIn,
  expectStatus,
  openSql,
  RARE_RETRIES,
  send,
  startTargets,
  uuidOf,
} from './scene.js';

describe('stored requests and responses of attempts', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;
  let reader: Record<string, string>;

  beforeAll(async () => {
    targets = await startTargets();
    server = await sharedServer();
    sql = openSql(server);
    reader = as((await createKey(server, { name: 'reader', scope: 'read' })).key);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  const exchanges = async (id: string, headers: Record<string, string> = {}): Promise<ApiAnswer['json'][]> =>
    expectStatus(await server.api('GET', `/v1/events/${id}/exchanges`, undefined, headers), 200).json.data;
  const stored = async (id: string): Promise<string | null> =>
    (
      await sql.rows<{ exchange: string | null }>(
        'select exchange from attempts where event_id = $1 order by started_at',
        [uuidOf(id)],
      )
    )[0]?.exchange ?? null;

  it('match what the receiver got and answered, including signature and query; secrets are redacted, also in the row', async () => {
    const name = `S${randomUUID().replaceAll('-', '')}`;
    expectStatus(await server.api('POST', '/v1/secrets', { name, value: 'from-a-named-secret' }), 201);
    const target = targets.open(() => ({
      status: 503,
      headers: { 'retry-after': '3600', 'set-cookie': 'sid=cookie-of-the-receiver', 'x-trace': 'abc' },
    }));
    const headers = {
      authorization: 'Bearer of-the-destination',
      'x-tenant': '42',
      'x-plain-name': `{{secrets.${name}}}`,
    };
    const destination = await destinationAt(server, target.url, { ...RARE_RETRIES, headers });
    const message = await send(server, destination, { headers: { 'x-order': '7', 'x-api-key': 'of-the-event' } });
    await eventAfter(server, message, 1);

    const [exchange, ...rest] = await exchanges(message);

    const [post] = await target.arrived(1);
    expect(rest).toEqual([]);
    expect(exchange).toMatchObject({
      delivery: `evt_${message.slice(4)}.0`,
      number: 1,
      at: expect.any(String),
      request: { method: 'POST', url: target.url },
      response: { status: 503 },
    });
    const got = { ...post?.headers };
    for (const name of ['host', 'content-length', 'connection']) delete got[name];
    expect(got).toMatchObject({
      authorization: 'Bearer of-the-destination',
      'x-plain-name': 'from-a-named-secret',
      'x-api-key': 'of-the-event',
    });
    expect(exchange.request.headers).toEqual({ ...got, authorization: '(hidden)', 'x-plain-name': '(hidden)' });
    expect(exchange.response.headers).toMatchObject({
      'retry-after': '3600',
      'x-trace': 'abc',
      'set-cookie': '(hidden)',
    });
    const [forReader] = await exchanges(message, reader);
    expect(forReader.request.headers).toEqual({ ...exchange.request.headers, 'x-api-key': '(hidden)' });
    expect(await stored(message)).not.toMatch(/of-the-destination|from-a-named|of-the-event|cookie-of/);
  });

  it('a stored delivery can be signed again on request, with every current key, which is audited; secrets stay redacted, and nothing is sent', async () => {
    const name = `S${randomUUID().replaceAll('-', '')}`;
    expectStatus(await server.api('POST', '/v1/secrets', { name, value: 'from-a-named-secret' }), 201);
    const target = targets.open(() => ({ status: 200 }));
    const destination = await destinationAt(server, target.url, {
      headers: { 'x-tenant': '42', 'x-plain-name': `{{secrets.${name}}}` },
    });
    const body = `{"destination":"${destination}","event_type":"a","payload":{"n":12345678901234567890,"one":1.10}}`;
    const message = expectStatus(await server.api('POST', '/v1/send', body), 202).json.message_id as string;
    await eventIn(server, message, 'delivered');
    const { secret } = expectStatus(await server.api('GET', `/v1/destinations/${destination}/secret`), 200).json;

    const answer = expectStatus(await server.api('POST', `/v1/events/${message}/sign`), 200);

    const { headers, ...rest } = answer.json;
    expect(rest).toEqual({
      delivery: `evt_${message.slice(4)}.0`,
      method: 'POST',
      url: target.url,
      signed_at: expect.any(String),
      expires_at: expect.any(String),
    });
    expect(Date.parse(rest.expires_at) - Date.parse(rest.signed_at)).toBe(300_000);
    expect(headers).toMatchObject({
      'webhook-id': message,
      'webhook-event-type': 'a',
      'x-tenant': '42',
      'x-plain-name': '(hidden)',
    });
    const payload = Buffer.from(
      await (
        await fetch(`${server.url}/v1/events/${message}/payload`, {
          headers: { authorization: `Bearer ${server.apiKey}` },
        })
      ).arrayBuffer(),
    );
    expect(() => new Webhook(secret).verify(payload, headers)).not.toThrow();
    expect(answer.text).not.toMatch(/from-a-named-secret|whsec_/);
    expect(await target.arrived(1)).toHaveLength(1);
    const {
      data: [entry],
    } = expectStatus(await server.api('GET', '/v1/audit?limit=1'), 200).json;
    expect(entry).toMatchObject({ action: 'POST /v1/events/:id/sign' });
    expect(JSON.stringify(entry)).not.toContain(headers['webhook-signature']);
    expectRefusal(await server.api('POST', `/v1/events/${message}/sign`, undefined, reader), 403);
    expectRefusal(
      await server.api('POST', `/v1/events/${message}/sign`, { delivery: `evt_${message.slice(4)}.7` }),
      404,
    );
    const pulled = expectStatus(await server.api('POST', '/v1/destinations', { name: 'Pulled', type: 'pull' }), 201)
      .json.id as string;
    expectRefusal(await server.api('POST', `/v1/events/${await send(server, pulled)}/sign`), 409);
    expectStatus(await server.api('DELETE', `/v1/events/${message}/payload`), 204);
    expectRefusal(await server.api('POST', `/v1/events/${message}/sign`), 404);
  });

  it('without a response, contain the request; each attempt has its own, the latest first', async () => {
    const target = targets.open((_, index) => ({ status: index === 0 ? 500 : 502 }));
    const destination = await destinationAt(server, target.url, {
      retry: { max_attempts: 2, schedule: [0, 0] },
      config: RARE_RETRIES.config,
    });
    const message = await send(server, destination);
    await eventIn(server, message, 'dlq');
    const silent = targets.open(() => ({ reset: true }));
    const nowhere = await destinationAt(server, silent.url, {
      retry: { max_attempts: 1, schedule: [0] },
      config: RARE_RETRIES.config,
    });
    const unanswered = await send(server, nowhere);
    await eventIn(server, unanswered, 'dlq');

    expect((await exchanges(message)).map(({ number, response }) => [number, response.status])).toEqual([
      [2, 502],
      [1, 500],
    ]);
    const [first, second] = (await target.arrived(2)).map(({ headers }) => headers['webhook-signature']);
    expect((await exchanges(message)).map(({ request }) => request.headers['webhook-signature'])).toEqual([
      second,
      first,
    ]);
    expect(await exchanges(unanswered)).toMatchObject([
      { request: { url: silent.url, headers: { 'content-type': 'application/json' } }, response: null },
    ]);
  });

  it('are not stored for a delivered event', async () => {
    const message = await send(server, await destinationAt(server, targets.open().url));
    await eventIn(server, message, 'delivered');

    expect(await exchanges(message)).toEqual([]);
    expect(await stored(message)).toBeNull();
  });

  it('are bounded, whatever the size of the response', async () => {
    const long = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`x-long-${n}`, 'v'.repeat(1_000)]));
    const target = targets.open(() => ({ status: 500, headers: long }));
    const message = await send(server, await destinationAt(server, target.url, RARE_RETRIES));
    await eventAfter(server, message, 1);

    const [{ response }] = await exchanges(message);

    expect(Object.keys(response.headers).filter((name) => name.startsWith('x-long')).length).toBeLessThanOrEqual(4);
    expect((await stored(message))?.length).toBeLessThan(6_000);
  });

  it('of a mirror do not contain the received data, which is stored with the request', async () => {
    const target = targets.open(() => ({ status: 500 }));
    const destination = await destinationAt(server, target.url, {
      type: 'mirror',
      ...RARE_RETRIES,
      headers: { 'x-tenant': '42' },
    });
    const event = (await receive(await inletTo(server, [destination]), { a: 1 }, { 'x-provider': 'theirs' })) ?? '';
    await eventAfter(server, event, 1);

    expect(await exchanges(event)).toMatchObject([
      { request: { method: 'POST', url: target.url, headers: { 'x-tenant': '42' } }, response: { status: 500 } },
    ]);
    expect(await stored(event)).not.toContain('theirs');
  });

  it('the erasure of an event removes the values of its own headers; the erasure of an application removes everything', async () => {
    const failing = (): string => targets.open(() => ({ status: 500, headers: { 'x-customer': 'their-name' } })).url;
    const message = await send(server, await destinationAt(server, failing(), RARE_RETRIES), {
      headers: { 'x-order': 'theirs' },
    });
    await eventAfter(server, message, 1);
    const app = randomUUID();
    await endpointOf(server, app, { url: failing(), retry: { max_attempts: 1, schedule: [0] } });
    const sent = await emit(server, app, { headers: { 'x-order': 'theirs' } });
    const [{ id }] = (await until(
      () => eventsOf(server, sent),
      ([event]) => event?.status === 'dlq',
      20_000,
    )) as [{ id: string }];
    expect((await exchanges(id))[0].request.headers).toMatchObject({ 'x-order': 'theirs' });

    expectStatus(await server.api('DELETE', `/v1/events/${message}/payload`), 204);
    await jobIn(
      server,
      expectStatus(await server.api('POST', `/v1/app/${app}/erase`), 202).json.id,
      'completed',
      60_000,
    );

    expect((await exchanges(message))[0].request.headers).toMatchObject({ 'x-order': '', 'webhook-id': message });
    expect(await stored(message)).not.toContain('theirs');
    expect(await exchanges(id)).toEqual([]);
    expect(await stored(id)).toBeNull();
  });

  it('404: an event of another environment, and an event that does not exist', async () => {
    const message = await send(server, await destinationAt(server, targets.open().url));
    const { environment } = (await server.api('GET', '/v1/org')).json;
    const other = as(
      (
        await createKey(server, {
          name: 'elsewhere',
          scope: 'write',
          environment: environment === 'live' ? 'test' : 'live',
        })
      ).key,
    );

    expectRefusal(await server.api('GET', `/v1/events/${message}/exchanges`, undefined, other), 404);
    expectRefusal(await server.api('GET', '/v1/events/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/exchanges'), 404);
    expectRefusal(await server.api('GET', '/v1/events/nothing/exchanges'), 404);
  });
});
