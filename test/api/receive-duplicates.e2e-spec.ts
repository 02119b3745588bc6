import { createHmac, randomUUID } from 'node:crypto';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal } from './answers.js';
import type { Inbound, Json, Sent } from './receiving.js';
import { accepted, change, inbound, json, provide, requestOf, requestsOf, setSecret } from './receiving.js';
import type { Sql, Targets } from './scene.js';
import { destinationAt, eventIn, expectStatus, openSql, startTargets, uuidOf } from './scene.js';

const SECRET = 's3cret';
const BY_HEADER = { source: 'header', name: 'X-Event-Id' };

const withId = (id: string, more: object = {}): Sent => json({ n: 1, ...more }, { 'x-event-id': id });

describe('deduplicate', () => {
  let server: PosthornServer;
  let second: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer(), startTargets()]);
    second = await startServer(server.env);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await second.stop();
    await server.stop();
    await targets.close();
  });

  const eventsOf = async ({ id }: Inbound): Promise<string[]> =>
    (await sql.rows<{ id: string }>('select id from events where target_id = $1 order by id', [uuidOf(id)])).map(
      (row) => row.id,
    );
  const counted = async (of = server): Promise<number> => {
    const text = await (await fetch(`${of.url}/metrics`)).text();
    return Number(/^posthorn_ingest_requests_total\{outcome="duplicate"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  };
  const signed = (body: string, id: string, secret = SECRET): Sent => ({
    body,
    headers: { 'x-event-id': id, 'x-signature': createHmac('sha256', secret).update(body).digest('hex') },
  });

  it('200: a duplicate gets the response of the first request, creates no event and no delivery, and is stored as its duplicate', async () => {
    const target = targets.open();
    const endpoint = await inbound(server, {
      deduplicate: BY_HEADER,
      destinations: [await destinationAt(server, target.url)],
    });
    const before = await counted();

    const first = await provide(server, endpoint.at, withId('a'));
    const again = await provide(server, endpoint.at, withId('a', { again: true }));
    const other = await accepted(server, endpoint, withId('b'));

    expect([again.status, again.text, again.headers.get('content-type')]).toEqual([
      200,
      first.text,
      first.headers.get('content-type'),
    ]);
    const event = first.json.id as string;
    expect(await eventsOf(endpoint)).toEqual([uuidOf(event), uuidOf(other)]);
    for (const id of [event, other]) await eventIn(server, id, 'delivered');
    expect(target.posts()).toHaveLength(2);
    const [, duplicate, original] = await requestsOf(server, endpoint);
    expect(original).toMatchObject({ event_id: event, status: 'routed', dedupe_id: 'a' });
    expect(duplicate).toMatchObject({
      event_id: event,
      status: 'duplicate',
      dedupe_id: 'a',
      replay_of: null,
      note: `It repeats ${event}: it was answered as that was, and made no event.`,
    });
    expect(duplicate.id).not.toBe(original.id);
    expect(await requestOf(server, endpoint, duplicate.id as string)).toMatchObject({
      body: '{"n":1,"again":true}',
      answer: { status: 200, body: first.text, truncated: false },
      headers: expect.arrayContaining([['x-event-id', 'a']]),
    });
    expect(await counted()).toBe(before + 1);
  });

  it('requests by status: the status duplicate selects only duplicates, and other statuses contain none', async () => {
    const endpoint = await inbound(server, {
      deduplicate: BY_HEADER,
      destinations: [await destinationAt(server, targets.open().url)],
    });
    for (const id of ['a', 'a', 'b', 'a']) await provide(server, endpoint.at, withId(id));
    const list = async (status: string): Promise<Json[]> =>
      expectStatus(await server.api('GET', `/v1/endpoints/${endpoint.id}/requests?status=${status}`), 200).json.data;

    const [duplicates, routed, ignored] = [await list('duplicate'), await list('routed'), await list('ignored')];

    expect(duplicates.map(({ status, dedupe_id: id }) => [status, id])).toEqual([
      ['duplicate', 'a'],
      ['duplicate', 'a'],
    ]);
    expect(routed.map(({ dedupe_id: id }) => id as string)).toEqual(['b', 'a']);
    expect(ignored).toEqual([]);
  });

  it('two processes that repeatedly get the same id concurrently create exactly one event per id; every other request is its duplicate', async () => {
    const target = targets.open();
    const endpoint = await inbound(server, {
      deduplicate: BY_HEADER,
      destinations: [await destinationAt(server, target.url)],
    });
    const ids = Array.from({ length: 20 }, () => randomUUID());

    // Requests without an id are stored in the same group commits as requests with an id.
    const answers = await Promise.all(
      ids.flatMap((id) =>
        Array.from({ length: 6 }, async (_, n) => {
          const [answer, neighbour] = await Promise.all([
            provide(n % 2 === 0 ? server : second, endpoint.at, withId(id)),
            provide(n % 2 === 0 ? server : second, endpoint.at, json({ n })),
          ]);
          expectStatus(neighbour, 200);
          return { id, answer };
        }),
      ),
    );

    for (const id of ids) {
      const texts = answers.filter((each) => each.id === id).map(({ answer }) => `${answer.status} ${answer.text}`);
      expect(new Set(texts).size).toBe(1);
      expect(texts[0]).toMatch(/^200 \{"received":true,"id":"evt_/);
    }
    const [made] = await sql.rows(
      `select count(*) filter (where duplicate_of is null)::int as firsts, count(distinct dedupe_id) filter (where duplicate_of is null)::int as ids,
              count(*) filter (where duplicate_of is not null)::int as duplicates
       from requests where endpoint_id = $1 and dedupe_id is not null`,
      [uuidOf(endpoint.id)],
    );
    expect(made).toEqual({ firsts: 20, ids: 20, duplicates: 100 });
    expect(await eventsOf(endpoint)).toHaveLength(20 + 120);
    expect(await target.arrived(140)).toHaveLength(140);
  });

  it('the ids of another endpoint or tenant are independent', async () => {
    const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
    const [one, two] = [
      await inbound(server, { deduplicate: BY_HEADER }),
      await inbound(server, { deduplicate: BY_HEADER }),
    ];
    const foreign = expectStatus(
      await server.api('POST', '/v1/endpoints', { slug: randomUUID(), deduplicate: BY_HEADER }, as(key)),
      201,
    ).json;

    const made = [
      await accepted(server, one, withId('x')),
      await accepted(server, two, withId('x')),
      await accepted(server, { ...foreign, at: `/in/${foreign.path}` }, withId('x')),
    ];

    expect(new Set(made).size).toBe(3);
  });

  it("a request with an invalid signature claims no id: the provider's own request is the first, and a forged duplicate is quarantined and does not get the first response", async () => {
    const endpoint = await inbound(server, { verification: 'hmac-sha256', deduplicate: BY_HEADER });
    await setSecret(server, endpoint, SECRET);

    expectRefusal(await provide(server, endpoint.at, signed('{}', 'a', 'wrong')), 401);
    const first = await accepted(server, endpoint, signed('{}', 'a'));
    expectRefusal(await provide(server, endpoint.at, signed('{}', 'a', 'wrong')), 401);
    const again = await accepted(server, endpoint, signed('{"again":true}', 'a'));

    expect(again).toBe(first);
    expect((await requestsOf(server, endpoint)).map(({ status }) => status as string)).toEqual([
      'duplicate',
      'quarantined',
      'ignored',
      'quarantined',
    ]);
  });

  it('a replay, of a first request or of a duplicate, is not a duplicate: each creates an event', async () => {
    const endpoint = await inbound(server, { deduplicate: BY_HEADER });
    const first = await accepted(server, endpoint, withId('a'));
    await accepted(server, endpoint, withId('a', { again: true }));
    const [duplicate] = await requestsOf(server, endpoint);
    const replay = async (id: string): Promise<string> =>
      expectStatus(await server.api('POST', `/v1/endpoints/${endpoint.id}/requests/${id}/replay`), 202).json.event_id;

    const made = [await replay(first), await replay(duplicate.id as string)];

    expect(await eventsOf(endpoint)).toEqual([first, ...made].map(uuidOf));
    expect(await requestOf(server, endpoint, made[1] as string)).toMatchObject({
      status: 'ignored',
      replay_of: duplicate.id,
      body: '{"n":1,"again":true}',
      answer: null,
    });
    expect(await accepted(server, endpoint, withId('a'))).toBe(first);
  });

  it('test events are not duplicates either, and claim no id', async () => {
    const endpoint = await inbound(server, { deduplicate: { source: 'body_path', path: '$.id' } });
    const first = await accepted(server, endpoint, json({ id: 'a' }));

    const tested = [1, 2].map(() => server.api('POST', `/v1/endpoints/${endpoint.id}/test`, { body: '{"id":"a"}' }));

    const made = (await Promise.all(tested)).map((answer) => expectStatus(answer, 200).json.event_id as string);
    expect(new Set([first, ...made]).size).toBe(3);
    expect(await accepted(server, endpoint, json({ id: 'a' }))).toBe(first);
  });

  it('an id is new again after its window, which is a day by default', async () => {
    const endpoint = await inbound(server, { deduplicate: BY_HEADER });
    const first = await accepted(server, endpoint, withId('a'));
    const hours = (): Promise<unknown[]> =>
      sql.rows(
        `select round(extract(epoch from expires_at - now()) / 3600)::int as hours from idempotency_keys where route = $1 order by 1`,
        [`repeats ${endpoint.id}`],
      );
    expect(await hours()).toEqual([{ hours: 24 }]);

    await sql.rows('update idempotency_keys set expires_at = now() where route = $1', [`repeats ${endpoint.id}`]);
    const later = await accepted(server, endpoint, withId('a'));

    expect(later).not.toBe(first);
    expect(await accepted(server, endpoint, withId('a'))).toBe(later);
    await change(server, endpoint, { deduplicate: { ...BY_HEADER, window_hours: 2 } });
    await accepted(server, endpoint, withId('c'));
    expect(await hours()).toEqual([{ hours: 2 }, { hours: 24 }]);
  });

  describe('sources of an id', () => {
    it('provider_id: the id that the preset defines', async () => {
      const endpoint = await inbound(server, {
        preset: 'github',
        verification: 'none',
        deduplicate: { source: 'provider_id' },
      });
      const sent = (id: string): Sent => json({ zen: 1 }, { 'x-github-event': 'ping', 'x-github-delivery': id });

      const [one, again, two] = [
        await accepted(server, endpoint, sent('1')),
        await accepted(server, endpoint, sent('1')),
        await accepted(server, endpoint, sent('2')),
      ];

      expect([again, two === one]).toEqual([one, false]);
    });

    it('body_path: a string or a number, compared to the last digit; a request without it is never a duplicate', async () => {
      const endpoint = await inbound(server, { deduplicate: { source: 'body_path', path: '$.event.id' } });
      const of = (id: string): Promise<string> => accepted(server, endpoint, { body: `{"event":{"id":${id}}}` });

      const [one, again, next] = [
        await of('9007199254740993'),
        await of('9007199254740993'),
        await of('9007199254740992'),
      ];
      const without = [
        await of('null'),
        await of('null'),
        await of('{"a":1}'),
        await of('{"a":1}'),
        await of('""'),
        await of('""'),
      ];

      expect([again, next === one]).toEqual([one, false]);
      expect(new Set(without).size).toBe(without.length);
      expect((await requestsOf(server, endpoint)).filter(({ dedupe_id: id }) => id === null)).toHaveLength(
        without.length,
      );
    });

    it('ids of different sources are independent', async () => {
      const endpoint = await inbound(server, { deduplicate: BY_HEADER });
      const sent = json({ id: 'a' }, { 'x-event-id': 'a' });
      const first = await accepted(server, endpoint, sent);

      await change(server, endpoint, { deduplicate: { source: 'body_path', path: '$.id' } });
      const other = await accepted(server, endpoint, sent);
      await change(server, endpoint, { deduplicate: null });
      const unlooked = await accepted(server, endpoint, sent);

      expect(new Set([first, other, unlooked]).size).toBe(3);
    });
  });

  describe('the response to a duplicate', () => {
    it("is the endpoint's configured response, identical to the first one", async () => {
      const endpoint = await inbound(server, {
        deduplicate: BY_HEADER,
        responseRules: {
          default: { status: 202, headers: { 'content-type': 'text/plain', 'x-a': 'b' }, body: 'took {{body.n}}' },
        },
      });

      const first = await provide(server, endpoint.at, withId('a'));
      const again = await provide(server, endpoint.at, withId('a', { n: 2 }));

      const seen = ({ status, text, headers }: ApiAnswer): unknown[] => [
        status,
        text,
        headers.get('content-type'),
        headers.get('x-a'),
      ];
      expect(seen(again)).toEqual([202, 'took 1', 'text/plain; charset=utf-8', 'b']);
      expect(seen(first)).toEqual(seen(again));
      const kept = await requestsOf(server, endpoint);
      expect(kept.map(({ status }) => status as string)).toEqual(['duplicate', 'ignored']);
    });

    it('is 200 if the first response was not 2xx, because the event is stored', async () => {
      const endpoint = await inbound(server, {
        deduplicate: BY_HEADER,
        response: { type: 'static', status: 503, body: 'later' },
      });

      const first = await provide(server, endpoint.at, withId('a'));
      const again = await provide(server, endpoint.at, withId('a'));

      const [event] = await requestsOf(server, endpoint).then((rows) => rows.slice(-1));
      expect([first.status, first.text]).toEqual([503, 'later']);
      expect([again.status, again.json]).toEqual([200, { received: true, id: event.event_id }]);
    });

    it('502 of an unavailable proxy claims no id: the next request is the first, and a duplicate does not call the proxy', async () => {
      const proxy = targets.open(() => ({ status: 500 }));
      const endpoint = await inbound(server, {
        deduplicate: BY_HEADER,
        responseProxy: { target: 'url', url: proxy.url, onUnavailable: 'error' },
      });
      expectRefusal(
        await provide(server, endpoint.at, withId('a')).then((answer) => ({
          ...answer,
          status: answer.status === 502 ? 500 : answer.status,
        })),
        500,
      );
      proxy.answerBy(() => ({ status: 200, body: 'done' }));

      const answers = [
        await provide(server, endpoint.at, withId('a')),
        await provide(server, endpoint.at, withId('a')),
      ];

      expect(answers.map(({ status, text }) => [status, text])).toEqual([
        [200, 'done'],
        [200, 'done'],
      ]);
      expect(proxy.posts()).toHaveLength(2);
      expect((await requestsOf(server, endpoint)).map(({ status }) => status as string)).toEqual([
        'duplicate',
        'ignored',
      ]);
    });
  });

  it('erasing an event erases its duplicates', async () => {
    const endpoint = await inbound(server, { deduplicate: BY_HEADER });
    const event = await accepted(server, endpoint, withId('a', { name: 'Zoë' }));
    await accepted(server, endpoint, withId('a', { name: 'Zoë' }));
    const [duplicate] = await requestsOf(server, endpoint);

    expectStatus(await server.api('DELETE', `/v1/events/${event}/payload`), 204);

    const erased = await requestOf(server, endpoint, duplicate.id as string);
    expect(erased).toMatchObject({
      status: 'duplicate',
      body: '',
      erased_at: (await requestOf(server, endpoint, event)).erased_at,
      note: null,
    });
    expect(erased.headers.find(([name]: [string, string]) => name === 'x-event-id')).toEqual(['x-event-id', '']);
    expectRefusal(await server.api('POST', `/v1/endpoints/${endpoint.id}/requests/${duplicate.id}/replay`), 409);
  });

  it('the setting is returned with its effective window; null clears it', async () => {
    const endpoint = await inbound(server, { deduplicate: BY_HEADER });
    const shown = async (): Promise<ApiAnswer['json']> =>
      (await server.api('GET', `/v1/endpoints/${endpoint.id}`)).json.deduplicate;

    expect(await shown()).toEqual({ ...BY_HEADER, window_hours: 24 });
    await change(server, endpoint, { deduplicate: await shown() });
    expect(await shown()).toEqual({ ...BY_HEADER, window_hours: 24 });
    await change(server, endpoint, { deduplicate: null });
    expect(await shown()).toBeNull();
  });

  it.each<[object, string]>([
    [{ deduplicate: { source: 'provider_id' } }, 'deduplicate.source'],
    [{ preset: 'lemonsqueezy', deduplicate: { source: 'provider_id' } }, 'deduplicate.source'],
    [{ deduplicate: { source: 'body' } }, 'deduplicate.source'],
    [{ deduplicate: {} }, 'deduplicate.source'],
    [{ deduplicate: { source: 'header' } }, 'deduplicate.name'],
    [{ deduplicate: { source: 'header', name: 'x id' } }, 'deduplicate.name'],
    [{ deduplicate: { source: 'header', name: 'Authorization' } }, 'deduplicate.name'],
    [{ verification: 'api-key', deduplicate: { source: 'header', name: 'X-Api-Key' } }, 'deduplicate.name'],
    [{ deduplicate: { source: 'header', name: 'x-id', path: '$.id' } }, 'deduplicate.path'],
    [{ deduplicate: { source: 'body_path' } }, 'deduplicate.path'],
    [{ deduplicate: { source: 'body_path', path: '$..id' } }, 'deduplicate.path'],
    [{ preset: 'github', deduplicate: { source: 'provider_id', name: 'x-id' } }, 'deduplicate.name'],
    [{ deduplicate: { ...BY_HEADER, window_hours: 0 } }, 'deduplicate.window_hours'],
    [{ deduplicate: { ...BY_HEADER, window_hours: 30 * 24 + 1 } }, 'deduplicate.window_hours'],
    [{ deduplicate: { ...BY_HEADER, windowHours: 1 } }, 'deduplicate.windowHours'],
  ])('422: %j', async (settings, path) => {
    expectInvalid(await server.api('POST', '/v1/endpoints', { slug: 'faulty', ...settings }), 'schema', path);
  });

  it('422: a preset that provides the id cannot be removed without the setting', async () => {
    const endpoint = await inbound(server, { preset: 'github', deduplicate: { source: 'provider_id' } });

    expectInvalid(
      await server.api('PATCH', `/v1/endpoints/${endpoint.id}`, { preset: null }),
      'schema',
      'deduplicate.source',
    );
    await change(server, endpoint, { preset: null, deduplicate: null });
  });
});
