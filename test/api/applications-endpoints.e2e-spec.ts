import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import type { CreatedEndpoint } from './applications.js';
import { applicationOf, emit, endpointAt, eventsIn, eventsOf } from './applications.js';
import type { Sql, Targets } from './scene.js';
import { destinationAt, expectStatus, openSql, removeRow, startTargets, uuidOf } from './scene.js';

const EXAMPLE = 'https://example.com/hooks';
const READ_ONLY = ['application', 'circuit', 'created_at', 'destination_status', 'id', 'updated_at'];
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

describe('endpoints of applications', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;
  let application: string;

  beforeAll(async () => {
    [server, targets] = await Promise.all([
      startServer({ RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' }),
      startTargets(),
    ]);
    sql = openSql(server);
    application = await applicationOf(server, { uid: 'acme' });
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await targets?.close();
  });

  const path = (endpoint = '', app = application): string => `/v1/app/${app}/endpoints${endpoint && `/${endpoint}`}`;
  const create = (body: object, app?: string): Promise<ApiAnswer> => server.api('POST', path('', app), body);
  const patch = (endpoint: string, body: object, app?: string): Promise<ApiAnswer> =>
    server.api('PATCH', path(endpoint, app), body);
  const read = async (endpoint: string, app?: string): Promise<ApiAnswer['json']> =>
    expectStatus(await server.api('GET', path(endpoint, app)), 200).json;

  it('201: the response shows all effective settings and, only this once, the secret; the endpoint is found by id and uid', async () => {
    const filter = { path: '$.amount', op: 'gte', value: '10' };
    const given = {
      uid: 'full',
      description: 'All',
      event_types: ['invoice.paid', 'user.*', 'invoice.paid'],
      channels: ['one'],
      filter,
      metadata: { a: 'b' },
      headers: { 'x-a': 'b' },
      retry: { max_attempts: 2, schedule: [0, 5] },
      rate_limit: { per_second: 10 },
      timeout_ms: 2_000,
      concurrency: 3,
      asymmetric: true,
      legacy_signature: { header: 'X-Old', secret: 'hidden' },
    };

    const {
      secret,
      public_key: publicKey,
      ...shown
    } = expectStatus(await create({ url: EXAMPLE, ...given }), 201).json;

    expect(secret).toMatch(/^whsec_/);
    expect(publicKey).toMatch(/^whpk_/);
    expect(shown).toEqual({
      ...given,
      id: expect.stringMatching(/^ep_/),
      application,
      url: EXAMPLE,
      destination: null,
      destination_status: null,
      event_types: ['invoice.paid', 'user.*'],
      legacy_signature: expect.objectContaining({ header: 'X-Old', algorithm: 'sha256' }),
      status: 'active',
      disabled_reason: null,
      circuit: { state: 'closed', opened_at: null },
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: shown.created_at,
    });
    expect(JSON.stringify(shown)).not.toContain('hidden');
    for (const app of [application, 'acme'])
      for (const name of [shown.id, 'full']) expect(await read(name, app)).toEqual(shown);
    expect((await server.api('GET', path(`${shown.id}/secret`))).json).toEqual({ secret, public_key: publicKey });
    expectRefusal(await server.api('GET', `/v1/destinations/${String(shown.id).replace('ep_', 'dst_')}`), 404);
    expectRefusal(await server.api('GET', `/v1/metrics?key=${String(shown.id).replace('ep_', 'dst_')}`), 404);
  });

  it('the subscribers of an event type are listed over all applications, newest first and in pages', async () => {
    const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
    const own: PosthornServer = {
      ...server,
      api: (method, given, body, headers) => server.api(method, given, body, { ...as(key), ...headers }),
    };
    const list = (query = ''): Promise<ApiAnswer> =>
      own.api('GET', `/v1/event-types/order.paid.late/subscribers${query}`);
    expectRefusal(await list(), 404);
    expectStatus(await own.api('POST', '/v1/event-types', { name: 'order.paid.late' }), 201);
    expect(expectStatus(await list(), 200).json).toEqual({ data: [], next_cursor: null });
    const [one, two] = [await applicationOf(own, { uid: 'one', name: 'One' }), await applicationOf(own)];
    const queue = expectStatus(await own.api('POST', '/v1/destinations', { name: 'Queue', type: 'pull' }), 201).json
      .id as string;
    const ids: string[] = [];
    for (const [app, fields] of [
      [one, { event_types: ['order.*'] }],
      [two, { event_types: ['order.paid.*', 'x'] }],
      [two, { event_types: ['order.paid.late'] }],
      [one, {}],
    ] as const) {
      ids.unshift((await endpointAt(own, app, EXAMPLE, fields)).id);
    }
    for (const types of [['order.paid'], ['orders.*'], ['order.paid.lat.*']])
      await endpointAt(own, one, EXAMPLE, { event_types: types });
    const routed = expectStatus(
      await own.api('POST', path('', two), {
        destination: queue,
        channels: ['a'],
        filter: { path: '$.a', op: 'exists' },
      }),
      201,
    ).json.id as string;

    const { data, next_cursor: end } = expectStatus(await list(), 200).json;

    expect(data.map(({ endpoint }: { endpoint: string }) => endpoint)).toEqual([routed, ...ids]);
    expect(end).toBeNull();
    expect([data[0], data.at(-1)]).toEqual([
      {
        endpoint: routed,
        application: two,
        application_uid: null,
        application_name: 'A customer',
        url: null,
        destination: queue,
        event_types: [],
        channels: ['a'],
        is_filtered: true,
        status: 'active',
      },
      {
        endpoint: ids.at(-1),
        application: one,
        application_uid: 'one',
        application_name: 'One',
        url: EXAMPLE,
        destination: null,
        event_types: ['order.*'],
        channels: [],
        is_filtered: false,
        status: 'active',
      },
    ]);
    const first = expectStatus(await list('?limit=2'), 200).json;
    const second = expectStatus(await list(`?limit=2&cursor=${first.next_cursor}`), 200).json;
    expect([...first.data, ...second.data]).toEqual(data.slice(0, 4));
    expectRefusal(await server.api('GET', '/v1/event-types/order.paid.late/subscribers'), 404);
  });

  it('200: PATCH with the settings as read changes nothing; 422 for read-only fields', async () => {
    const { id } = await endpointAt(server, application, EXAMPLE, {
      event_types: ['a.*'],
      legacy_signature: { header: 'X-Old', secret: 'hidden' },
    });
    const before = await read(id);

    const refused = expectInvalid(await patch(id, before), 'schema');
    const settings = Object.fromEntries(Object.entries(before).filter(([name]) => !refused.includes(name)));

    expect(refused.sort()).toEqual(READ_ONLY);
    expect((await patch(id, settings)).json).toEqual({ ...before, updated_at: expect.stringMatching(TIMESTAMP) });
  });

  it.each(['http://example.com:0/', 'http://10.0.0.1/', 'http://metadata.google.internal/'])(
    '422 from the connectivity check: %s is not an allowed address',
    async (url) => {
      expectInvalid(await create({ url }), 'connectivity', 'url');
    },
  );

  it('201: the caller can set a secret that the receiver already has', async () => {
    expect((await create({ url: EXAMPLE, secret: SECRET })).json).toMatchObject({ secret: SECRET, public_key: null });
  });

  it.each<[string[], object]>([
    [['url'], {}],
    [['url'], { url: 'nonsense' }],
    [['destination'], { url: EXAMPLE, destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' }],
    [['destination'], { destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' }],
    [['destination'], { destination: 'x' }],
    [['uid'], { url: EXAMPLE, uid: 'ep_mine' }],
    [['event_types.1'], { url: EXAMPLE, event_types: ['a', 'a.*.b'] }],
    [['event_types.0'], { url: EXAMPLE, event_types: ['*'] }],
    [['channels.0'], { url: EXAMPLE, channels: ['a b'] }],
    [['filter.op'], { url: EXAMPLE, filter: { path: '$.a', op: 'like', value: 'x' } }],
    [['filter.all.0.path'], { url: EXAMPLE, filter: { all: [{ path: '$..a', op: 'exists' }] } }],
    [['metadata.a'], { url: EXAMPLE, metadata: { a: 1 } }],
    [['headers.host'], { url: EXAMPLE, headers: { host: 'a' } }],
    [['secret'], { url: EXAMPLE, secret: 'whsec_short' }],
    [['timeout_ms'], { url: EXAMPLE, timeout_ms: 20_000 }],
    [['uid', 'event_types.0', 'channels.0'], { url: EXAMPLE, uid: ' ', event_types: ['!'], channels: ['!'] }],
  ])('422 at %s, and nothing is stored (%#)', async (paths, body) => {
    const app = await applicationOf(server);

    expectInvalid(await create(body, app), 'schema', ...paths);

    expect((await server.api('GET', path('', app))).json.data).toEqual([]);
    expect(await sql.rows('select from destinations where owner_id = $1', [uuidOf(app)])).toEqual([]);
  });

  it('422: an endpoint with a destination accepts no delivery settings, because the destination has them', async () => {
    const destination = await destinationAt(server, targets.open().url);

    expectInvalid(
      await create({ destination, headers: { 'x-a': 'b' }, retry: null, secret: SECRET }),
      'schema',
      'headers',
      'retry',
      'secret',
    );
    const { json } = await create({ destination });
    expect(json).toMatchObject({
      url: null,
      destination,
      destination_status: 'active',
      circuit: null,
      secret: null,
      public_key: null,
    });
    expect(json).not.toHaveProperty('headers');
    expectInvalid(await patch(json.id, { rate_limit: { per_second: 1 } }), 'schema', 'rate_limit');
    for (const call of [
      ['GET', 'secret'],
      ['POST', 'secret/rotate'],
    ] as const) {
      const refused = await server.api(call[0], path(`${json.id}/${call[1]}`), call[0] === 'POST' ? {} : undefined);
      expectRefusal(refused, 409);
      expect(refused.json.error.details).toEqual({ destination });
    }
    expect((await patch(json.id, { destination, description: 'Same' })).json).toMatchObject({
      description: 'Same',
      destination,
    });
  });

  it('422: a destination that another endpoint owns cannot be used', async () => {
    const owned = (await endpointAt(server, application, EXAMPLE)).id.replace('ep_', 'dst_');

    expectInvalid(await create({ destination: owned }), 'schema', 'destination');
  });

  it('200: PATCH replaces a URL by a URL and a destination by a destination; 422 for a switch between them', async () => {
    const [one, two] = [targets.open(), targets.open()];
    const [first, second] = [await destinationAt(server, one.url), await destinationAt(server, two.url)];
    const app = await applicationOf(server);
    const [own, registered] = [
      await endpointAt(server, app, one.url),
      (await create({ destination: first }, app)).json,
    ];

    expectInvalid(await patch(own.id, { destination: first }, app), 'schema', 'destination');
    expectInvalid(await patch(registered.id, { url: one.url }, app), 'schema', 'url');
    expectInvalid(
      await patch(registered.id, { destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' }, app),
      'schema',
      'destination',
    );
    expect((await patch(own.id, { url: two.url }, app)).json).toMatchObject({ url: two.url });
    expect((await patch(registered.id, { destination: second }, app)).json).toMatchObject({ destination: second });
    await emit(server, app);

    await two.arrived(2);
    expect(one.posts()).toEqual([]);
  });

  it('200: PATCH keeps omitted fields, and null restores the default', async () => {
    const { id } = await endpointAt(server, application, EXAMPLE, {
      uid: 'patched',
      event_types: ['a'],
      channels: ['c'],
      filter: { path: '$.a', op: 'exists' },
      timeout_ms: 1_000,
    });

    expect((await patch('patched', { description: 'More' })).json).toMatchObject({
      id,
      description: 'More',
      event_types: ['a'],
      timeout_ms: 1_000,
    });
    const cleared = (
      await patch(id, {
        uid: null,
        description: null,
        event_types: null,
        channels: null,
        filter: null,
        metadata: null,
        timeout_ms: null,
      })
    ).json;
    expect(cleared).toMatchObject({
      uid: null,
      description: '',
      event_types: [],
      channels: [],
      filter: null,
      metadata: {},
      timeout_ms: 15_000,
    });
    expectRefusal(await server.api('GET', path('patched')), 404);
  });

  it('422: PATCH with one invalid field changes nothing', async () => {
    const { id } = await endpointAt(server, application, EXAMPLE, { uid: 'whole' });
    const before = await read(id);
    await endpointAt(server, application, EXAMPLE, { uid: 'there-already' });

    expectInvalid(await patch(id, { description: 'No', url: 'nonsense' }), 'schema', 'url');
    expectInvalid(await patch(id, { timeout_ms: 1_000, filter: { op: 'eq' } }), 'schema', 'filter.path');
    expectInvalid(await patch(id, { disabled_reason: 'Why?' }), 'schema', 'disabled_reason');
    expectRefusal(await patch(id, { timeout_ms: 1_000, status: 'disabled', uid: 'there-already' }), 409);
    expectRefusal(await create({ url: EXAMPLE, uid: 'whole' }), 409);

    expect(await read(id)).toEqual(before);
    const other = await applicationOf(server);
    expect((await create({ url: EXAMPLE, uid: 'whole' }, other)).status).toBe(201);
  });

  it.each<[string, (app: string, url: string) => Promise<CreatedEndpoint>]>([
    ['a URL', (app, url) => endpointAt(server, app, url)],
    ['a destination', async (app, url) => (await create({ destination: await destinationAt(server, url) }, app)).json],
  ])(
    'an endpoint with %s: while it is disabled, its events fail, it shows the reason, and its events can be replayed later',
    async (_what, make) => {
      const target = targets.open();
      const app = await applicationOf(server);
      const { id } = await make(app, target.url);

      const disabled = (await patch(id, { status: 'disabled', disabled_reason: 'Asked for' }, app)).json;
      const again = (await patch(id, { status: 'disabled', disabled_reason: 'Another' }, app)).json;
      const { message_id: message, fanout } = await emit(server, app);
      const [event] = await eventsIn(server, message, 1, 'failed');
      const { deliveries } = (await server.api('GET', `/v1/events/${event.id}`)).json;
      const enabled = (await patch(id, { status: 'active' }, app)).json;
      await server.api('POST', `/v1/events/${event.id}/replay`);

      expect([disabled, again, enabled].map(({ status, disabled_reason: why }) => [status, why])).toEqual([
        ['disabled', 'Asked for'],
        ['disabled', 'Asked for'],
        ['active', null],
      ]);
      expect(fanout).toBe(1);
      expect(deliveries).toEqual([expect.objectContaining({ status: 'failed', reason: 'target_disabled' })]);
      const [post] = await target.arrived(1);
      expect(post?.headers).toMatchObject({ 'webhook-id': message, 'webhook-replayed': 'true' });
    },
  );

  it('shows that its destination is disabled or gone, and accepts another one; a destination in use cannot be deleted', async () => {
    const app = await applicationOf(server);
    const [first, second] = [
      await destinationAt(server, targets.open().url),
      await destinationAt(server, targets.open().url),
    ];
    const { id } = (await create({ destination: first }, app)).json;

    await server.api('PATCH', `/v1/destinations/${first}`, { status: 'disabled' });
    expect(await read(id, app)).toMatchObject({ status: 'active', destination_status: 'disabled' });
    const used = await server.api('DELETE', `/v1/destinations/${first}`);
    expectRefusal(used, 409);
    expect(used.json.error.details).toEqual({ used_by: [{ kind: 'application_endpoint', id, application: app }] });
    await removeRow(sql, first);
    expect(await read(id, app)).toMatchObject({ status: 'active', destination: first, destination_status: 'gone' });
    await eventsIn(server, (await emit(server, app)).message_id, 1, 'failed');
    expect((await patch(id, { destination: second }, app)).json).toMatchObject({
      destination: second,
      destination_status: 'active',
    });
    await eventsIn(server, (await emit(server, app)).message_id, 1, 'delivered');
  });

  it('an answer of 410 disables the endpoint, and PATCH enables it again', async () => {
    const target = targets.open((_post, index) => ({ status: index === 0 ? 410 : 200 }));
    const app = await applicationOf(server);
    const { id } = await endpointAt(server, app, target.url);

    await eventsIn(server, (await emit(server, app)).message_id, 1, 'failed');
    const gone = await read(id, app);
    await patch(id, { status: 'active' }, app);
    await eventsIn(server, (await emit(server, app)).message_id, 1, 'delivered');

    expect(gone).toMatchObject({ status: 'disabled', disabled_reason: expect.stringMatching(/410|gone/i) });
    expect(gone.updated_at > gone.created_at).toBe(true);
  });

  it('the list is newest first, filtered by status and by subscription, in pages', async () => {
    const app = await applicationOf(server);
    const made = [];
    for (const event_types of [[], ['invoice.*'], ['invoice.paid'], ['user.*'], ['invoice.paid', 'x']])
      made.unshift((await endpointAt(server, app, EXAMPLE, { event_types })).id);
    await patch(made[0] as string, { status: 'disabled' }, app);

    const listed = async (query: string): Promise<string[]> => {
      const ids: string[] = [];
      for (let cursor = ''; ;) {
        const { json } = expectStatus(await server.api('GET', `${path('', app)}?limit=2${query}${cursor}`), 200);
        ids.push(...json.data.map(({ id }: { id: string }) => id));
        if (json.next_cursor === null) return ids;
        cursor = `&cursor=${json.next_cursor}`;
      }
    };

    expect(await listed('')).toEqual(made);
    expect(await listed('&event_type=invoice.paid')).toEqual([made[0], made[2], made[3], made[4]]);
    expect(await listed('&status=disabled')).toEqual([made[0]]);
    expect(await listed('&status=active&event_type=invoice.paid')).toEqual([made[2], made[3], made[4]]);
    const { next_cursor: cursor } = (await server.api('GET', `${path('', app)}?limit=2`)).json;
    expectRefusal(await server.api('GET', `${path()}?limit=2&cursor=${cursor}`), 400);
  });

  it('409: the 1,001st endpoint is rejected, also when two concurrent requests compete for the last slot', async () => {
    const app = await applicationOf(server);
    await sql.rows(
      `
      insert into application_endpoints (environment_id, id, application_id, destination_id, description, event_types, channels, metadata, status, created_at, updated_at)
      select environment_id, md5(i::text)::uuid, id, gen_random_uuid(), '', '{}', '{}', '{}', 'active', now(), now() from applications, generate_series(1, 999) i where id = $1`,
      [uuidOf(app)],
    );

    const answers = await Promise.all([create({ url: EXAMPLE }, app), create({ url: EXAMPLE }, app)]);

    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(answers.find(({ status }) => status === 409)?.json.error.details).toEqual({ limit: 1_000 });
    expect((await server.api('GET', `/v1/app/${app}`)).json.endpoint_count).toBe(1_000);
  });

  it('404: an endpoint of another application or environment is not found by any operation', async () => {
    const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
    const { id } = await endpointAt(server, application, EXAMPLE, { uid: 'kept' });
    const other = await applicationOf(server);
    const calls = [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', '/secret'],
      ['POST', '/secret/rotate'],
      ['GET', '/attempts'],
      ['GET', '/stats'],
      ['POST', '/test'],
    ] as const;

    for (const name of [id, 'kept', 'ep_nonsense']) {
      for (const [method, rest] of calls) {
        const body = method === 'GET' || method === 'DELETE' ? undefined : {};
        expectRefusal(await server.api(method, path(name, other) + rest, body), 404);
        expectRefusal(await server.api(method, path(name) + rest, body, as(key)), 404);
      }
    }
    expect(await read(id)).toMatchObject({ status: 'active' });
  });

  it('204: a deleted endpoint gets no more deliveries, its pending ones end as failed, and its secrets are released; 404 the second time', async () => {
    const target = targets.open(() => ({ status: 500 }));
    const app = await applicationOf(server);
    const { id } = await endpointAt(server, app, target.url);
    const { message_id: message } = await emit(server, app);
    await target.arrived(1);

    expect((await server.api('DELETE', path(id, app))).status).toBe(204);

    expectRefusal(await server.api('DELETE', path(id, app)), 404);
    await eventsIn(server, message, 1, 'failed');
    expect((await emit(server, app)).fanout).toBe(0);
    expect(await sql.rows('select from destinations where id = $1', [uuidOf(id)])).toEqual([]);
    expect(await eventsOf(server, message)).toEqual([expect.objectContaining({ endpoint: id })]);
  });

  it('concurrent changes of an endpoint and the deletion of its application do not deadlock', async () => {
    const app = await applicationOf(server);
    const made = await Promise.all(Array.from({ length: 8 }, () => endpointAt(server, app, EXAMPLE)));

    const answers = await Promise.all([
      ...made.map(({ id }, i) => patch(id, { timeout_ms: 1_000 + i, status: 'disabled' }, app)),
      server.api('DELETE', `/v1/app/${app}`),
      ...made.map(({ id }) => server.api('DELETE', path(id, app))),
      create({ url: EXAMPLE }, app),
    ]);

    expect(answers.filter(({ status }) => ![200, 201, 204, 404].includes(status))).toEqual([]);
    expect(await sql.rows('select from destinations where owner_id = $1', [uuidOf(app)])).toEqual([]);
  });
});
