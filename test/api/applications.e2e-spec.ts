import { randomUUID } from 'node:crypto';
import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { applicationOf, emit, endpointAt, eventsIn } from './applications.js';
import type { Sql, Targets } from './scene.js';
import { expectStatus, openSql, startTargets, uuidOf } from './scene.js';

const UNKNOWN = 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

describe('applications', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await targets?.close();
  });

  it('201: the response shows the given fields; the application is found by id and by uid', async () => {
    const { json } = expectStatus(
      await server.api('POST', '/v1/app', { uid: 'shown', name: 'Acme', metadata: { plan: 'pro' } }),
      201,
    );

    expect(json).toEqual({
      id: expect.stringMatching(/^app_/),
      uid: 'shown',
      name: 'Acme',
      metadata: { plan: 'pro' },
      endpoint_count: 0,
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: json.created_at,
    });
    for (const name of [json.id, 'shown']) expect((await server.api('GET', `/v1/app/${name}`)).json).toEqual(json);
  });

  it('201: the name defaults to the uid; one of them is required', async () => {
    expect((await server.api('POST', '/v1/app', { uid: 'only-a-uid' })).json).toMatchObject({
      uid: 'only-a-uid',
      name: 'only-a-uid',
    });
    expect((await server.api('POST', '/v1/app', { name: 'Only a name' })).json).toMatchObject({
      uid: null,
      name: 'Only a name',
    });
    expectInvalid(await server.api('POST', '/v1/app', {}), 'schema', 'name');
  });

  it.each([
    ['uid', { uid: 'app_mine' }],
    ['uid', { uid: 'a b' }],
    ['uid', { uid: '' }],
    ['uid', { uid: 'x'.repeat(257) }],
    ['uid', { uid: 1 }],
    ['name', { uid: 'a', name: '' }],
    ['metadata', { uid: 'a', metadata: { ['k'.repeat(41)]: 'v' } }],
    ['metadata', { uid: 'a', metadata: { '': 'v' } }],
    ['metadata.a', { uid: 'a', metadata: { a: 1 } }],
    ['metadata.k', { uid: 'a', metadata: { k: 'v'.repeat(501) } }],
    ['metadata', { uid: 'a', metadata: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, 'v'])) }],
  ])('422 at %s, and nothing is stored (%#)', async (path, body) => {
    expectInvalid(await server.api('POST', '/v1/app', body), 'schema', path);
    const { id } = (await server.api('POST', '/v1/app', { name: 'Before' })).json;
    expectInvalid(await server.api('PATCH', `/v1/app/${id}`, body), 'schema', path);
    expect((await server.api('GET', `/v1/app/${id}`)).json).toMatchObject({ name: 'Before', uid: null, metadata: {} });
  });

  it('409 if the uid is in use; 200 with the existing application if the request has get_if_exists', async () => {
    const known = (await server.api('POST', '/v1/app', { uid: 'taken' })).json;

    expectRefusal(await server.api('POST', '/v1/app', { uid: 'taken', name: 'Other' }), 409);
    expect(await server.api('POST', '/v1/app?get_if_exists=true', { uid: 'taken', name: 'Other' })).toMatchObject({
      status: 200,
      json: known,
    });
    expect((await server.api('POST', '/v1/app?get_if_exists=true', { uid: 'not-taken' })).status).toBe(201);
  });

  it('concurrent creations with one uid create a single application', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => server.api('POST', '/v1/app?get_if_exists=true', { uid: 'at-once' })),
    );

    expect(answers.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 11 }, () => 200), 201]);
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1);
  });

  it('200: PATCH changes only the given fields; 409 for a uid that is taken', async () => {
    const before = (await server.api('POST', '/v1/app', { uid: 'before', name: 'Before', metadata: { a: '1' } })).json;

    const renamed = (await server.api('PATCH', '/v1/app/before', { name: 'After' })).json;
    const cleared = (await server.api('PATCH', '/v1/app/before', { uid: null, metadata: null })).json;

    expect(renamed).toEqual({ ...before, name: 'After', updated_at: expect.stringMatching(TIMESTAMP) });
    expect(cleared).toMatchObject({ id: before.id, uid: null, metadata: {}, name: 'After' });
    await applicationOf(server, { uid: 'in-the-way' });
    expectRefusal(await server.api('PATCH', `/v1/app/${before.id}`, { uid: 'in-the-way', name: 'No' }), 409);
    expect((await server.api('GET', `/v1/app/${before.id}`)).json).toEqual(cleared);
  });

  it('after a uid moves to another application, that application gets the next event', async () => {
    const [old, next] = [await applicationOf(server, { uid: 'moves' }), await applicationOf(server, { name: 'Next' })];
    await endpointAt(server, next, targets.open().url);
    expect((await emit(server, 'moves')).fanout).toBe(0);

    await server.api('PATCH', `/v1/app/${old}`, { uid: null });
    await server.api('PATCH', `/v1/app/${next}`, { uid: 'moves' });

    expect((await emit(server, 'moves')).fanout).toBe(1);
  });

  it('the list is newest first, in pages without gaps or repetitions', async () => {
    const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
    const made: string[] = [];
    for (let i = 0; i < 5; i += 1)
      made.unshift(expectStatus(await server.api('POST', '/v1/app', { name: `No ${i}` }, as(key)), 201).json.id);

    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const { json } = await server.api('GET', `/v1/app?limit=2${cursor}`, undefined, as(key));
      seen.push(...json.data.map(({ id }: { id: string }) => id));
      if (json.next_cursor === null) break;
      cursor = `&cursor=${json.next_cursor}`;
    }

    expect(seen).toEqual(made);
  });

  it('404: an application that does not exist or belongs to another environment, and malformed ids', async () => {
    const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
    const foreign = await applicationOf(server, { uid: 'only-live' });

    for (const [name, headers] of [
      [UNKNOWN, {}],
      ['app_nonsense', {}],
      ['no-such', {}],
      ['%20', {}],
      [foreign, as(key)],
      ['only-live', as(key)],
    ] as const) {
      for (const [method, rest] of [
        ['GET', ''],
        ['PATCH', ''],
        ['DELETE', ''],
        ['GET', '/endpoints'],
        ['POST', '/endpoints'],
        ['GET', '/messages'],
      ] as const) {
        const body = { POST: { url: 'https://example.com' }, PATCH: { name: 'Other' } }[method as string];
        expectRefusal(await server.api(method, `/v1/app/${name}${rest}`, body, headers), 404);
      }
    }
  });

  it('204: deletes the endpoints and everything they own; pending deliveries end as failed; 404 the second time', async () => {
    const target = targets.open(() => ({ status: 500 }));
    const application = await applicationOf(server, { uid: 'goes' });
    const [first] = [
      await endpointAt(server, application, target.url),
      await endpointAt(server, application, target.url),
    ];
    await server.api('POST', '/v1/secrets', { name: 'GOES', value: 'x' });
    await server.api('PATCH', `/v1/app/goes/endpoints/${first.id}`, { headers: { 'x-a': '{{secrets.GOES}}' } });
    const { message_id: message } = await emit(server, 'goes');
    await target.arrived(2);

    expect((await server.api('DELETE', '/v1/app/goes')).status).toBe(204);

    expectRefusal(await server.api('DELETE', '/v1/app/goes'), 404);
    expectRefusal(await server.api('GET', `/v1/app/${application}`), 404);
    expectRefusal(await server.api('POST', `/v1/app/${application}/event`, { event_type: 'a', payload: {} }), 404);
    await eventsIn(server, message, 2, 'failed');
    expect(
      await sql.rows('select from application_endpoints where application_id = $1', [uuidOf(application)]),
    ).toEqual([]);
    expect(await sql.rows('select from destinations where owner_id = $1', [uuidOf(application)])).toEqual([]);
    const secrets = (await server.api('GET', '/v1/secrets')).json.data as { id: string; name: string }[];
    expect((await server.api('DELETE', `/v1/secrets/${secrets.find(({ name }) => name === 'GOES')?.id}`)).status).toBe(
      204,
    );
    expect((await emit(server, 'goes')).fanout).toBe(0);
    expect((await server.api('GET', '/v1/app/goes')).json.id).not.toBe(application);
  });

  it('201: the same Idempotency-Key creates once and repeats the response, including the secret of an endpoint', async () => {
    const [one, other] = [{ 'idempotency-key': randomUUID() }, { 'idempotency-key': randomUUID() }];
    const created = [
      await server.api('POST', '/v1/app', { name: 'Once' }, one),
      await server.api('POST', '/v1/app', { name: 'Once' }, one),
    ];
    const path = `/v1/app/${created[0]?.json.id}/endpoints`;

    const endpoints = [
      await server.api('POST', path, { url: 'https://example.com/' }, other),
      await server.api('POST', path, { url: 'https://example.com/' }, other),
    ];

    for (const [first, again] of [created, endpoints]) {
      expect(again?.text).toBe(first?.text);
      expect(again?.headers.get('idempotent-replayed')).toBe('true');
    }
    expect((await server.api('GET', path)).json.data).toHaveLength(1);
    expect((await server.api('GET', `/v1/app/${created[0]?.json.id}`)).json.endpoint_count).toBe(1);
  });

  it('lists the messages to the application, newest first, with or without subscribers', async () => {
    const application = await applicationOf(server, { uid: 'sent-to' });
    const first = await emit(server, 'sent-to', { event_type: 'a.b', channels: ['one'] });
    await endpointAt(server, application, targets.open().url);
    const second = await emit(server, 'sent-to', { event_type: 'c.d', payload: { a: 'ä' } });

    const page = (await server.api('GET', '/v1/app/sent-to/messages?limit=1')).json;
    const rest = (await server.api('GET', `/v1/app/${application}/messages?limit=1&cursor=${page.next_cursor}`)).json;

    expect([...page.data, ...rest.data]).toEqual([
      {
        id: second.message_id,
        event_type: 'c.d',
        channels: [],
        fanout: 1,
        payload_bytes: 10,
        created_at: expect.stringMatching(TIMESTAMP),
      },
      {
        id: first.message_id,
        event_type: 'a.b',
        channels: ['one'],
        fanout: 0,
        payload_bytes: 17,
        created_at: expect.stringMatching(TIMESTAMP),
      },
    ]);
    expect(rest.next_cursor).toBeNull();
    expectRefusal(await server.api('GET', '/v1/app/sent-to/messages?cursor=x.y'), 400);
  });
});
