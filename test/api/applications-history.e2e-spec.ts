import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { applicationOf, emit, endpointAt, eventsIn, eventsOf } from './applications.js';
import { until } from './polling.js';
import type { Sql, Targets } from './scene.js';
import {
  destinationAt,
  eventAfter,
  expectStatus,
  makeDue,
  openSql,
  RARE_RETRIES,
  startTargets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';

/** Retry policy under which no retry happens during a test. */
const { retry } = RARE_RETRIES;

describe('history of an application endpoint', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    [server, targets] = await Promise.all([
      startServer({ RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' }),
      startTargets(),
    ]);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await targets?.close();
  });

  const at = (application: string, endpoint: string, what: string): string =>
    `/v1/app/${application}/endpoints/${endpoint}/${what}`;
  const get = async (path: string): Promise<ApiAnswer['json']> => expectStatus(await server.api('GET', path), 200).json;

  /** Creates an endpoint with a URL or a registered destination. Its target fails the first attempt of each event. */
  async function failing(
    kind: 'url' | 'destination',
    posts = 1,
  ): Promise<{ application: string; id: string; target: ReturnType<Targets['open']> }> {
    const seen = new Map<unknown, number>();
    const target = targets.open(({ headers }) => {
      const tries = (seen.get(headers['webhook-id']) ?? 0) + 1;
      seen.set(headers['webhook-id'], tries);
      return tries <= posts ? { status: 503, body: 'Not now' } : {};
    });
    const application = await applicationOf(server);
    if (kind === 'url')
      return { application, target, id: (await endpointAt(server, application, target.url, { retry })).id };
    const destination = await destinationAt(server, target.url, { retry });
    const { json } = await server.api('POST', `/v1/app/${application}/endpoints`, { destination });
    return { application, target, id: json.id as string };
  }

  /** Waits until the message has one event, and the event has the given number of attempts. Returns the event's id. */
  async function attempted(message: string, attempts: number): Promise<string> {
    const [event] = await until(
      () => eventsOf(server, message),
      (events) => events.length === 1,
      WITHIN_MS,
    );
    await eventAfter(server, event.id, attempts);
    return event.id as string;
  }

  it.each(['url', 'destination'] as const)(
    'attempts at a %s: newest first, with the time of the pending retry, and none of other endpoints',
    async (kind) => {
      const { application, id, target } = await failing(kind);
      await endpointAt(server, application, targets.open().url);
      if (kind === 'destination')
        await server.api('POST', '/v1/send', {
          destination: (await get(`/v1/app/${application}/endpoints/${id}`)).destination,
          event_type: 'x',
          payload: {},
        });
      const { message_id: message } = await emit(server, application, { event_type: 'first.one' });
      const event = (
        await until(
          () => eventsOf(server, message),
          (events) => events.length === 2,
          WITHIN_MS,
        )
      ).find(({ endpoint }) => endpoint === id)?.id as string;
      await eventAfter(server, event, 1);

      const where = kind === 'url' ? id : (await get(`/v1/app/${application}/endpoints/${id}`)).destination;
      const waiting = await get(at(application, id, 'attempts'));
      await makeDue(sql, event);
      await target.arrived(2);
      await eventAfter(server, event, 2);
      await server.api('POST', `/v1/events/${event}/replay`);
      await eventAfter(server, event, 3);
      const done = await get(at(application, id, 'attempts'));

      expect(waiting).toEqual({
        data: [
          {
            event_id: event,
            message_id: message,
            event_type: 'first.one',
            delivery: `${event}.0`,
            destination: where,
            number: 1,
            status: 503,
            error: null,
            duration_ms: expect.any(Number),
            at: expect.stringMatching(TIMESTAMP),
            response_excerpt: 'Not now',
            replayed: false,
            next_attempt_at: expect.stringMatching(TIMESTAMP),
          },
        ],
        next_cursor: null,
      });
      expect(waiting.data[0].next_attempt_at > waiting.data[0].at).toBe(true);
      expect(
        done.data.map(({ number, status, replayed, next_attempt_at: next }: Record<string, unknown>) => [
          number,
          status,
          replayed,
          next,
        ]),
      ).toEqual([
        [1, 200, true, null],
        [2, 200, false, null],
        [1, 503, false, null],
      ]);
    },
  );

  it('pages of attempts contain each attempt exactly once, with any filter', async () => {
    const { application, id } = await failing('url');
    const events: string[] = [];
    for (const event_type of ['a', 'b', 'a', 'b', 'a'])
      events.unshift(await attempted((await emit(server, application, { event_type })).message_id, 1));
    for (const event of events) await makeDue(sql, event);
    for (const event of events) await eventAfter(server, event, 2);

    const paged = async (query: string): Promise<string[]> => {
      const seen: string[] = [];
      for (let cursor = ''; ;) {
        const { data, next_cursor: next } = await get(`${at(application, id, 'attempts')}?limit=3${query}${cursor}`);
        seen.push(
          ...data.map(
            ({ event_id: event, number }: { event_id: string; number: number }) => `${events.indexOf(event)}:${number}`,
          ),
        );
        if (next === null) return seen;
        cursor = `&cursor=${next}`;
      }
    };

    expect(await paged('')).toEqual(['0:2', '0:1', '1:2', '1:1', '2:2', '2:1', '3:2', '3:1', '4:2', '4:1']);
    expect(await paged('&status=failed')).toEqual(['0:1', '1:1', '2:1', '3:1', '4:1']);
    expect(await paged('&status=delivered&event_type=b')).toEqual(['1:2', '3:2']);
    expect(await paged(`&until=${new Date(Date.now() - 3_600_000).toISOString()}`)).toEqual([]);
    expect(await paged(`&since=${new Date(Date.now() - 3_600_000).toISOString()}`)).toHaveLength(10);
    expectRefusal(await server.api('GET', `${at(application, id, 'attempts')}?since=yesterday`), 400);
    expectRefusal(await server.api('GET', `${at(application, id, 'attempts')}?cursor=x.y`), 400);
  });

  it('a filtered page scans 500 events and returns a cursor, even if nothing matches', async () => {
    const { application, id } = await failing('url', 0);
    const event = await attempted((await emit(server, application, { event_type: 'rare' })).message_id, 1);
    // Adds 1,100 newer events without attempts. Their ids directly follow the id of the first event.
    const hex = uuidOf(event).replaceAll('-', '');
    const ids = Array.from({ length: 1_100 }, (_, i) =>
      (BigInt(`0x${hex}`) + BigInt(i + 1)).toString(16).padStart(32, '0'),
    );
    await sql.rows(
      `
      insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes)
      select environment_id, newer.id, expires_on, target_id, 'outbound', 'common', 2 from events e, unnest($2::uuid[]) newer(id) where e.id = $1`,
      [uuidOf(event), ids],
    );

    const lengths: number[] = [];
    let found: unknown[] = [];
    for (let cursor = ''; ;) {
      const { data, next_cursor: next } = await get(`${at(application, id, 'attempts')}?event_type=rare${cursor}`);
      lengths.push(data.length);
      found = [...found, ...data];
      if (next === null) break;
      cursor = `&cursor=${next}`;
    }

    expect(lengths).toEqual([0, 0, 1]);
    expect(found).toEqual([expect.objectContaining({ event_id: event })]);
  });

  it.each(['url', 'destination'] as const)(
    'statistics of a %s: counts, waiting deliveries, and the time of the next attempt',
    async (kind) => {
      const { application, id } = await failing(kind);
      const idle = await get(at(application, id, 'stats'));
      const messages = [await emit(server, application), await emit(server, application)];
      const [first] = [
        await attempted(messages[0]?.message_id ?? '', 1),
        await attempted(messages[1]?.message_id ?? '', 1),
      ];

      const waiting = await until(
        () => get(at(application, id, 'stats')),
        ({ attempts }) => attempts === 2,
        WITHIN_MS,
      );
      const { next_attempt_at: next } = (await get(`/v1/events/${first}`)).deliveries[0];
      await sql.rows(
        'update due_deliveries set due_at = now() where claimed_by is null and event_id in (select id from events where target_id = $1)',
        [uuidOf(id)],
      );
      for (const { message_id: message } of messages) await eventsIn(server, message, 1, 'delivered');
      const done = await until(
        () => get(at(application, id, 'stats')),
        ({ delivered }) => delivered === 2,
        WITHIN_MS,
      );
      const metrics = (await get(`/v1/metrics?key=${id}&window=1d`)).data.at(-1);

      expect(idle).toMatchObject({
        received: 0,
        attempts: 0,
        success_rate: null,
        waiting: { count: 0, is_capped: false },
        next_attempt_at: null,
        status: 'active',
      });
      expect(waiting).toMatchObject({
        received: 2,
        delivered: 0,
        failed: 0,
        dlq: 0,
        retried: 2,
        attempts: 2,
        waiting: { count: 2, is_capped: false },
      });
      expect(Date.parse(waiting.next_attempt_at)).toBeLessThanOrEqual(Date.parse(next));
      expect(Date.parse(waiting.next_attempt_at)).toBeGreaterThan(Date.now() - 60_000);
      expect(done).toMatchObject({
        received: 2,
        delivered: 2,
        retried: 2,
        attempts: 4,
        success_rate: 1,
        waiting: { count: 0 },
        next_attempt_at: null,
      });
      expect(done.circuit === null).toBe(kind === 'destination');
      expect(metrics).toMatchObject({ received: 2, delivered: 2, retried: 2, attempts: 4 });
    },
  );

  it('statistics of a time range: rounded out to whole windows; 400 for an invalid range', async () => {
    const { application, id } = await failing('url', 0);
    await emit(server, application);
    const path = at(application, id, 'stats');
    await until(
      () => get(path),
      ({ delivered }) => delivered === 1,
      WITHIN_MS,
    );

    expect(await get(`${path}?since=2026-01-01T00:00:30Z&until=2026-01-02T00:00:00Z`)).toMatchObject({
      since: '2026-01-01T00:00:00.000Z',
      until: '2026-01-02T00:00:00.000Z',
      received: 0,
    });
    for (const days of [1, 30, 300])
      expect(await get(`${path}?since=${new Date(Date.now() - days * 86_400_000).toISOString()}`)).toMatchObject({
        received: 1,
        delivered: 1,
      });
    for (const query of [
      'since=2100-01-01T00:00:00Z',
      'since=2001-01-01T00:00:00Z',
      'since=now',
      'since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z',
    ]) {
      expectRefusal(await server.api('GET', `${path}?${query}`), 400);
    }
  });

  it('statistics count the deliveries that wait behind an open circuit', async () => {
    const target = targets.open(() => ({ status: 500 }));
    const application = await applicationOf(server);
    const { id } = await endpointAt(server, application, target.url, {
      retry: { schedule: [0, ...Array.from({ length: 19 }, () => 0)] },
    });
    const messages = [await emit(server, application), await emit(server, application)];

    const open = await until(
      () => get(at(application, id, 'stats')),
      ({ circuit, waiting }) => circuit.state === 'open' && waiting.count === 2,
      WITHIN_MS,
    );
    expect(open).toMatchObject({
      status: 'active',
      waiting: { count: 2, is_capped: false },
      next_attempt_at: expect.stringMatching(TIMESTAMP),
    });
    expect(messages).toHaveLength(2);
  });

  it.each(['url', 'destination'] as const)(
    'test of a %s: reaches only this endpoint, regardless of its subscriptions, and returns the attempt',
    async (kind) => {
      const { application, id, target } = await failing(kind, 0);
      const other = targets.open();
      await endpointAt(server, application, other.url);
      await server.api('PATCH', `/v1/app/${application}/endpoints/${id}`, {
        event_types: ['nothing.else'],
        channels: ['none'],
      });

      const plain = (await server.api('POST', at(application, id, 'test'))).json;
      const named = expectStatus(
        await server.api('POST', at(application, id, 'test'), { event_type: 'invoice.paid' }),
        200,
      ).json;

      expect(plain.attempt).toEqual({
        number: 1,
        status: 200,
        duration_ms: expect.any(Number),
        at: expect.stringMatching(TIMESTAMP),
        response_excerpt: '',
        error: null,
      });
      const posts = await target.arrived(2);
      expect(posts.map(({ headers }) => headers['webhook-id'])).toEqual([plain.message_id, named.message_id]);
      expect(posts.map(({ rawBody }) => JSON.parse(rawBody.toString()).type)).toEqual([
        'posthorn.test',
        'invoice.paid',
      ]);
      expect(other.posts()).toEqual([]);
      expect(await eventsOf(server, named.message_id)).toEqual([
        expect.objectContaining({ endpoint: id, event_type: 'invoice.paid', status: 'delivered' }),
      ]);
    },
  );

  it('409: a test of an endpoint that takes no deliveries; 422 for an invalid event type', async () => {
    const { application, id } = await failing('url');
    await server.api('PATCH', `/v1/app/${application}/endpoints/${id}`, { status: 'disabled' });
    const registered = await failing('destination');
    const { destination } = await get(`/v1/app/${registered.application}/endpoints/${registered.id}`);
    await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'disabled' });

    expectRefusal(await server.api('POST', at(application, id, 'test')), 409);
    expectRefusal(await server.api('POST', at(registered.application, registered.id, 'test')), 409);
    expectInvalid(await server.api('POST', at(application, id, 'test'), { event_type: 'a b' }), 'schema', 'event_type');
  });
});
