import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { as, createKey, expectInvalid, expectRefusal } from './answers.js';
import type { Sql } from './scene.js';
import { expectStatus, openSql, uuidOf } from './scene.js';

const UNKNOWN = '01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

describe('endpoints: routes, secrets and access', () => {
  let server: PosthornServer;
  let sql: Sql;
  let made = 0;

  beforeAll(async () => {
    server = await sharedServer();
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
  });

  const api = (method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
    server.api(method, `/v1/endpoints${path}`, body);
  const endpoint = async (settings: object = {}): Promise<ApiAnswer['json']> =>
    expectStatus(await api('POST', '', { slug: `e-${(made += 1)}`, ...settings }), 201).json;
  const read = async (id: string): Promise<ApiAnswer['json']> => (await api('GET', `/${id}`)).json;
  const destination = async (key = server.apiKey): Promise<string> =>
    expectStatus(await server.api('POST', '/v1/destinations', { name: 'Pull', type: 'pull' }, as(key)), 201).json
      .id as string;
  const FILTER = { path: '$.type', op: 'starts_with', value: 'invoice.' };
  const ROUTE_ID = /^rte_[0-9A-HJKMNP-TV-Z]{26}$/;

  describe('routes', () => {
    it('201: destinations and routes are two forms of the same setting', async () => {
      const [a, b] = [await destination(), await destination()];

      const short = await endpoint({ destinations: [a, b] });
      const long = await endpoint({
        routes: [
          { destination: b, filter: FILTER },
          { destination: a, filter: null },
        ],
      });

      expect(short).toMatchObject({
        destinations: [a, b],
        routes: [
          { destination: a, filter: null },
          { destination: b, filter: null },
        ],
      });
      expect(long).toMatchObject({
        destinations: [b, a],
        routes: [
          { destination: b, filter: FILTER },
          { destination: a, filter: null },
        ],
      });
      for (const { id } of [...short.routes, ...long.routes]) expect(id).toMatch(ROUTE_ID);
      expect(await read(long.id)).toEqual(long);
    });

    it('200: PATCH with destinations keeps the ids and filters of the routes that stay', async () => {
      const [a, b, c] = [await destination(), await destination(), await destination()];
      const before = await endpoint({ routes: [{ destination: a, filter: FILTER }, { destination: b }] });

      const { json } = await api('PATCH', `/${before.id}`, { destinations: [c, a] });

      expect(json).toMatchObject({ destinations: [c, a], version: 2 });
      expect(json.routes).toEqual([
        { id: expect.stringMatching(ROUTE_ID), destination: c, filter: null },
        before.routes[0],
      ]);
    });

    it('200: PATCH with routes replaces all of them; a route with an id keeps it', async () => {
      const [a, b] = [await destination(), await destination()];
      const before = await endpoint({ routes: [{ destination: a, filter: FILTER }, { destination: b }] });
      const [{ id }] = before.routes;

      const { json } = await api('PATCH', `/${before.id}`, {
        routes: [{ id, destination: b, filter: { ...FILTER, op: 'eq' } }],
      });

      expect(json.routes).toEqual([{ id, destination: b, filter: { ...FILTER, op: 'eq' } }]);
      expect((await api('PATCH', `/${before.id}`, { destinations: [] })).json).toMatchObject({
        routes: [],
        destinations: [],
        version: 3,
      });
    });

    it('422: a duplicate destination, a route id of another endpoint, or contradictory fields; nothing changes', async () => {
      const [a, b] = [await destination(), await destination()];
      const [before, other] = [await endpoint({ destinations: [a] }), await endpoint({ destinations: [a] })];

      expectInvalid(await api('PATCH', `/${before.id}`, { destinations: [b, b] }), 'schema', 'destinations.1');
      expectInvalid(
        await api('PATCH', `/${before.id}`, { routes: [{ destination: b }, { destination: b }] }),
        'schema',
        'routes.1.destination',
      );
      expectInvalid(
        await api('PATCH', `/${before.id}`, { routes: [{ id: other.routes[0].id, destination: b }] }),
        'schema',
        'routes.0.id',
      );
      expectInvalid(
        await api('PATCH', `/${before.id}`, { destinations: [a], routes: [{ destination: b }] }),
        'schema',
        'destinations',
      );
      expectInvalid(
        await api('PATCH', `/${before.id}`, { destinations: Array(101).fill(a) }),
        'schema',
        'destinations',
      );
      expect(await read(before.id)).toEqual(before);
    });

    it('201, 200, 204: each change of a single route is a new version of the endpoint', async () => {
      const [a, b] = [await destination(), await destination()];
      const { id } = await endpoint({ destinations: [a] });

      const added = await api('POST', `/${id}/routes`, { destination: b, filter: FILTER });
      const changed = await api('PATCH', `/${id}/routes/${added.json.id}`, { filter: null });
      const listed = await api('GET', `/${id}/routes`);
      const removed = await api('DELETE', `/${id}/routes/${listed.json.data[0].id}`);

      expect(added).toMatchObject({
        status: 201,
        json: { id: expect.stringMatching(ROUTE_ID), destination: b, filter: FILTER },
      });
      expect(changed).toMatchObject({ status: 200, json: { ...added.json, filter: null } });
      expect(listed.json).toMatchObject({ data: [{ destination: a }, changed.json], next_cursor: null });
      expect(removed.status).toBe(204);
      expect(await read(id)).toMatchObject({ routes: [changed.json], destinations: [b], version: 4 });
      expectRefusal(await api('DELETE', `/${id}/routes/${listed.json.data[0].id}`), 404);
    });

    it('200: a PATCH without changes creates no new version; a new destination keeps the filter of the route', async () => {
      const [a, b] = [await destination(), await destination()];
      const {
        id,
        routes: [route],
      } = await endpoint({ routes: [{ destination: a, filter: FILTER }] });

      const [same, moved] = [
        await api('PATCH', `/${id}/routes/${route.id}`, {}),
        await api('PATCH', `/${id}/routes/${route.id}`, { destination: b }),
      ];

      expect([same.json, moved.json]).toEqual([route, { ...route, destination: b }]);
      expect((await read(id)).version).toBe(2);
    });

    it('422 and 404: invalid fields of a single route, and routes of other endpoints', async () => {
      const [a, b] = [await destination(), await destination()];
      const [
        {
          id,
          routes: [route, second],
        },
        other,
      ] = [await endpoint({ destinations: [a, b] }), await endpoint()];

      expectInvalid(await api('POST', `/${id}/routes`, {}), 'schema', 'destination');
      expectInvalid(await api('POST', `/${id}/routes`, { destination: a }), 'schema', 'destination');
      expectInvalid(await api('POST', `/${id}/routes`, { destination: `dst_${UNKNOWN}` }), 'schema', 'destination');
      expectInvalid(
        await api('POST', `/${id}/routes`, { destination: a, filter: { op: 'eq' } }),
        'schema',
        'filter.path',
        'filter.value',
      );
      expectInvalid(await api('PATCH', `/${id}/routes/${route.id}`, { destination: b }), 'schema', 'destination');
      expectInvalid(await api('PATCH', `/${id}/routes/${second.id}`, { filter: { any: [] } }), 'schema', 'filter.any');
      expectRefusal(await api('PATCH', `/${other.id}/routes/${route.id}`, { filter: null }), 404);
      expectRefusal(await api('DELETE', `/${other.id}/routes/${route.id}`), 404);
      expectRefusal(await api('GET', `/ep_${UNKNOWN}/routes`), 404);
      expectRefusal(await api('PATCH', `/${id}/routes/rte_x`, {}), 404);
      expect(await read(id)).toMatchObject({ destinations: [a, b], version: 1 });
    });

    it('409: at most 100 routes', async () => {
      const { id } = await endpoint({ destinations: [await destination()] });
      await sql.rows(
        `insert into routes (environment_id, id, endpoint_id, destination_id, position)
         select environment_id, gen_random_uuid(), id, gen_random_uuid(), n from endpoints, generate_series(1, 99) n where id = $1`,
        [uuidOf(id)],
      );

      expectRefusal(await api('POST', `/${id}/routes`, { destination: await destination() }), 409);
    });

    it('201: concurrent calls all add their routes', async () => {
      const [{ id }, ids] = [await endpoint(), await Promise.all(Array.from({ length: 6 }, () => destination()))];

      const answers = await Promise.all(ids.map((each) => api('POST', `/${id}/routes`, { destination: each })));

      expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 201));
      expect((await read(id)).destinations.sort()).toEqual([...ids].sort());
    });
  });

  describe('PUT /v1/endpoints/{id}/secret', () => {
    it('204 without a body: the secret is stored encrypted and never shown', async () => {
      const { id, has_secret: before } = await endpoint({ preset: 'stripe' });

      const answer = await api('PUT', `/${id}/secret`, { secret: 'whsec_never-shown' });

      expect([before, answer.status, answer.text]).toEqual([false, 204, '']);
      const [shown, [row]] = [
        await api('GET', `/${id}`),
        await sql.rows<{ secrets: Buffer }>('select secrets from endpoints where id = $1', [uuidOf(id)]),
      ];
      expect(shown.json).toMatchObject({ has_secret: true, version: 1 });
      expect(shown.text).not.toContain('never-shown');
      expect(row?.secrets.includes('never-shown')).toBe(false);
    });

    it.each<[string, object, string]>([
      ['no secret', {}, 'secret'],
      ['an empty secret', { secret: '' }, 'secret'],
      ['a line break', { secret: 'a\nb' }, 'secret'],
      ['4097 characters', { secret: 'a'.repeat(4097) }, 'secret'],
      ['a negative grace', { secret: 'a', grace_seconds: -1 }, 'grace_seconds'],
      ['a grace of more than a week', { secret: 'a', grace_seconds: 604_801 }, 'grace_seconds'],
    ])('422: %s', async (_what, body, path) => {
      const { id } = await endpoint();

      const answer = await api('PUT', `/${id}/secret`, body);

      expectInvalid(answer, 'schema', path);
      expect((await read(id)).has_secret).toBe(false);
    });

    it.each<[string, object, string]>([
      ['a non-hexadecimal key of Adyen', { preset: 'adyen' }, 'my-key'],
      ['half a public key of Discord', { preset: 'discord' }, 'ab'.repeat(16)],
      ['an invalid public key of SendGrid', { preset: 'sendgrid' }, 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE'],
      ['a Standard Webhooks secret that is not base64', { preset: 'standard-webhooks' }, 'whsec_not base64!'],
      ['a Standard Webhooks public key that is too short', { preset: 'svix' }, 'whpk_AAAA'],
      ['an invalid ARN of SNS', { preset: 'aws-sns' }, 'MyTopic'],
      ['a password of Postmark without the user name', { preset: 'postmark' }, 'hunter2'],
      ['a token with a trailing space', { preset: 'gitlab' }, 'token '],
      [
        'a key that must be base64',
        { verification: 'hmac-sha256', verificationConfig: { keyEncoding: 'base64' } },
        'not base64!',
      ],
    ])('422: %s can never work, so it is not stored', async (_what, settings, secret) => {
      const { id } = await endpoint(settings);

      const answer = await api('PUT', `/${id}/secret`, { secret });

      expectInvalid(answer, 'schema', 'secret');
      expect(answer.text).not.toContain(secret);
      expect((await read(id)).has_secret).toBe(false);
    });

    it('404: an endpoint that does not exist', async () => {
      expectRefusal(await api('PUT', `/ep_${UNKNOWN}/secret`, { secret: 'a' }), 404);
    });
  });

  it('409: a named secret cannot be deleted while the code of a transform uses it', async () => {
    const secret = expectStatus(
      await server.api('POST', '/v1/secrets', { name: 'CRM', value: 'hidden-value' }),
      201,
    ).json;
    const remove = (): Promise<ApiAnswer> => server.api('DELETE', `/v1/secrets/${secret.id}`);
    const transform = {
      engine: 'managed',
      code: 'export default (event, { secrets }) => ({ ...event, token: secrets.CRM })',
    };
    const [first, second] = [await endpoint({ transform }), await endpoint({ transform })];
    await api('PATCH', `/${first.id}`, { name: 'Renamed' });

    const used = await remove();
    await api('PATCH', `/${first.id}`, { transform: null });
    await api('DELETE', `/${second.id}`);

    expectRefusal(used, 409);
    expect(used.json.error.details.used_by).toEqual([first, second].map(({ id }) => ({ kind: 'endpoint', id })));
    expect((await remove()).status).toBe(204);
    expectInvalid(await api('PATCH', `/${first.id}`, { transform }), 'schema', 'transform.code');
  });

  it('404: endpoints, routes and destinations of the other environment', async () => {
    const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
    const before = await endpoint({ destinations: [await destination()] });
    const path = `/v1/endpoints/${before.id}`;
    const calls: [string, string, object?][] = [
      ['GET', path],
      ['PATCH', path, { name: 'Mine' }],
      ['DELETE', path],
      ['PUT', `${path}/secret`, { secret: 'mine' }],
      ['GET', `${path}/routes`],
      ['POST', `${path}/routes`, { destination: await destination(key) }],
      ['PATCH', `${path}/routes/${before.routes[0].id}`, { filter: null }],
      ['DELETE', `${path}/routes/${before.routes[0].id}`],
    ];

    for (const [method, at, body] of calls) expectRefusal(await server.api(method, at, body, as(key)), 404);

    expect((await server.api('GET', '/v1/endpoints', undefined, as(key))).json.data).toEqual([]);
    const foreign = await server.api(
      'POST',
      '/v1/endpoints',
      { slug: 'foreign', destinations: before.destinations },
      as(key),
    );
    expectInvalid(foreign, 'schema', 'destinations.0');
    expect(await read(before.id)).toEqual(before);
  });

  it('403: a read key can read but change nothing; a write key can do both', async () => {
    const [reader, writer] = [
      (await createKey(server, { scope: 'read' })).key,
      (await createKey(server, { scope: 'write' })).key,
    ];
    const before = await endpoint({ destinations: [await destination()] });
    const path = `/v1/endpoints/${before.id}`;
    const reads = ['/v1/endpoints', path, `${path}/routes`, '/v1/ingest-domains'];
    const writes: [string, string, object?][] = [
      ['POST', '/v1/endpoints', { slug: 'by-a-reader' }],
      ['PATCH', path, { name: 'Mine' }],
      ['DELETE', path],
      ['PUT', `${path}/secret`, { secret: 'mine' }],
      ['POST', `${path}/routes`, { destination: before.destinations[0] }],
      ['PATCH', `${path}/routes/${before.routes[0].id}`, { filter: null }],
      ['DELETE', `${path}/routes/${before.routes[0].id}`],
    ];

    for (const at of reads) expectStatus(await server.api('GET', at, undefined, as(reader)), 200);
    for (const [method, at, body] of writes) expectRefusal(await server.api(method, at, body, as(reader)), 403);

    expect(await read(before.id)).toEqual(before);
    expectStatus(await server.api('PATCH', path, { name: 'Written' }, as(writer)), 200);
  });
});
