import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectInvalid, expectRefusal } from './answers.js';
import type { Inbound } from './receiving.js';
import { accepted, change, inbound, provide, requestsOf, setSecret } from './receiving.js';
import type { Sql } from './scene.js';
import { expectStatus, openSql } from './scene.js';

const MEGABYTE = 1024 * 1024;

describe('allowed_methods', () => {
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

  const shown = async ({ id }: Inbound): Promise<ApiAnswer['json']> =>
    expectStatus(await server.api('GET', `/v1/endpoints/${id}`), 200).json;

  const refusals = async (): Promise<number> => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^posthorn_ingest_requests_total\{outcome="method_not_allowed"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  };

  const stored = async (): Promise<unknown> =>
    (
      await sql.rows(
        'select (select count(*) from events)::int as events, (select count(*) from requests)::int as requests',
      )
    )[0];

  it('405 with Allow: a method not in the list is rejected with the error envelope, counted, and nothing is stored; listed ones are accepted', async () => {
    const endpoint = await inbound(server, { allowed_methods: ['POST', 'PUT'] });
    const [before, counted] = [await stored(), await refusals()];

    const refused = await Promise.all(
      ['GET', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'].map((method) => provide(server, endpoint.at, { method })),
    );
    const head = await provide(server, endpoint.at, { method: 'HEAD' });

    for (const answer of refused) {
      expectRefusal(answer, 405);
      expect(answer.headers.get('allow')).toBe('POST, PUT');
      expect(answer.json.error.details).toEqual({ allowed: ['POST', 'PUT'] });
    }
    expect([head.status, head.headers.get('allow'), head.text]).toEqual([405, 'POST, PUT', '']);
    expect(await stored()).toEqual(before);
    expect(await refusals()).toBe(counted + 6);
    await accepted(server, endpoint, { body: '{}' });
    await accepted(server, endpoint, { method: 'PUT', body: '{}' });
    expect((await requestsOf(server, endpoint)).map(({ method }) => method as string)).toEqual(['PUT', 'POST']);
  });

  it('PATCH changes the list and returns it; null and an empty list allow every method', async () => {
    const endpoint = await inbound(server);
    expect((await shown(endpoint)).allowed_methods).toBeNull();

    await change(server, endpoint, { allowed_methods: ['GET'] });
    expect((await shown(endpoint)).allowed_methods).toEqual(['GET']);
    expectRefusal(await provide(server, endpoint.at, { body: '{}' }), 405);
    await change(server, endpoint, { name: 'Another' });
    expectRefusal(await provide(server, endpoint.at, { body: '{}' }), 405);

    for (const any of [null, []]) {
      await change(server, endpoint, { allowed_methods: ['GET'] });
      await change(server, endpoint, { allowed_methods: any });
      expect((await shown(endpoint)).allowed_methods).toBeNull();
      await accepted(server, endpoint, { body: '{}' });
    }
  });

  it.each([
    [['POST', 'FETCH'], 'allowed_methods.1'],
    [['post'], 'allowed_methods.0'],
    [['CONNECT'], 'allowed_methods.0'],
    [['POST', 'POST'], 'allowed_methods'],
    ['POST', 'allowed_methods'],
  ])('422: %j', async (methods, path) => {
    expectInvalid(
      await server.api('POST', '/v1/endpoints', { slug: 'faulty', allowed_methods: methods }),
      'schema',
      path,
    );
  });

  it('the method is checked before the size, and the size before the signature: 405, 413, 401', async () => {
    const endpoint = await inbound(server, { verification: 'hmac-sha256', allowed_methods: ['POST'] });
    await setSecret(server, endpoint, 's3cret');
    const large = Buffer.alloc(MEGABYTE + 1, 'a');
    const before = (await stored()) as { events: number };

    const answers = [
      await provide(server, endpoint.at, { method: 'PUT', body: large }),
      await provide(server, endpoint.at, { body: large }),
    ];

    expectRefusal(answers[0] as ApiAnswer, 405);
    expectRefusal(answers[1] as ApiAnswer, 413);
    expect(await stored()).toMatchObject({ events: before.events });
    expectRefusal(await provide(server, endpoint.at, { body: 'a' }), 401);
    expect(await requestsOf(server, endpoint)).toEqual([
      expect.objectContaining({ status: 'quarantined' }),
      expect.objectContaining({ status: 'too_large' }),
    ]);
  });

  it('handshakes obey the list too: a HEAD, GET or POST handshake is answered if its method is allowed, otherwise 405', async () => {
    const trello = await inbound(server, { preset: 'trello', allowed_methods: ['POST', 'HEAD'] });
    const meta = await inbound(server, {
      allowed_methods: ['POST', 'GET'],
      response: { type: 'meta-challenge', verifyToken: 'meatyhamhock' },
    });
    const slack = await inbound(server, { preset: 'slack', allowed_methods: ['POST'] });
    const challenge = `${meta.at}?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=meatyhamhock`;

    expect((await provide(server, trello.at, { method: 'HEAD' })).status).toBe(200);
    expectRefusal(await provide(server, trello.at, { method: 'GET' }), 405);
    expect((await provide(server, challenge, { method: 'GET' })).text).toBe('1158201444');
    expect(
      (
        await provide(server, slack.at, {
          body: '{"type":"url_verification","token":"t","challenge":"c"}',
          headers: { 'content-type': 'application/json' },
        })
      ).text,
    ).toBe('c');
    await change(server, meta, { allowed_methods: ['POST'] });
    expectRefusal(await provide(server, challenge, { method: 'GET' }), 405);
    for (const endpoint of [trello, meta, slack]) expect(await requestsOf(server, endpoint)).toEqual([]);
  });

  it('409: a sample event is a POST, which the endpoint must allow; 404 for an unknown receive URL', async () => {
    const endpoint = await inbound(server, { allowed_methods: ['GET'] });

    const answer = await server.api('POST', `/v1/endpoints/${endpoint.id}/test`, {});

    expectRefusal(answer, 409);
    expect(answer.json.error.details).toEqual({ reason: 'method_not_allowed' });
    expectRefusal(await provide(server, `${endpoint.at}-not`, { body: '{}' }), 404);
  });

  it('a raw request can be replayed, whatever its method and the current list', async () => {
    const endpoint = await inbound(server);
    const id = await accepted(server, endpoint, { method: 'PUT', body: '{}' });
    await change(server, endpoint, { allowed_methods: ['POST'] });

    const replayed = expectStatus(
      await server.api('POST', `/v1/endpoints/${endpoint.id}/requests/${id}/replay`),
      202,
    ).json;

    expect((await requestsOf(server, endpoint))[0]).toMatchObject({
      event_id: replayed.event_id,
      method: 'PUT',
      replay_of: id.replace('evt_', 'req_'),
    });
  });
});
