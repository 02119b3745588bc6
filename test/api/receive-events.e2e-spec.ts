import { createHmac } from 'node:crypto';
import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { until } from './polling.js';
import type { Inbound, Json } from './receiving.js';
import { accepted, change, inbound, json, provide, requestsOf, setSecret } from './receiving.js';
import type { Targets } from './scene.js';
import {
  destinationAt,
  eventAfter,
  eventIn,
  eventOf,
  expectStatus,
  RARE_RETRIES,
  send,
  startTargets,
  WITHIN_MS,
} from './scene.js';

describe('received events', () => {
  let server: PosthornServer;
  let targets: Targets;

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
  });

  afterAll(async () => {
    await server.stop();
    await targets.close();
  });

  const listed = async (query: string, headers: Record<string, string> = {}): Promise<string[]> =>
    expectStatus(await server.api('GET', `/v1/events?${query}`, undefined, headers), 200).json.data.map(
      ({ id }: Json) => id,
    );

  const quarantined = async (endpoint: Inbound): Promise<string> => {
    expectRefusal(await provide(server, endpoint.at, json({ forged: true })), 401);
    return (await requestsOf(server, endpoint))[0].event_id as string;
  };

  describe('list', () => {
    let endpoint: Inbound;
    let [taken, failed] = ['', ''];
    const ids: Record<string, string> = {};

    beforeAll(async () => {
      const failing = targets.open(() => ({ status: 500 }));
      const taking = targets.open();
      [taken, failed] = [
        await destinationAt(server, taking.url),
        await destinationAt(server, failing.url, { retry: { schedule: [0], max_attempts: 1 } }),
      ];
      endpoint = await inbound(server, {
        verification: 'hmac-sha256',
        routes: [
          { destination: taken, filter: { path: '$.to', op: 'eq', value: 'taking' } },
          { destination: failed, filter: { path: '$.to', op: 'eq', value: 'failing' } },
        ],
      });
      await setSecret(server, endpoint, 's3cret');
      const signed = (value: object): ReturnType<typeof json> => {
        const body = JSON.stringify(value);
        return json(value, { 'x-signature': createHmac('sha256', 's3cret').update(body).digest('hex') });
      };
      ids.quarantined = await quarantined(endpoint);
      ids.ignored = await accepted(server, endpoint, signed({ type: 'a.b' }));
      ids.delivered = await accepted(server, endpoint, signed({ type: 'a.b', to: 'taking' }));
      ids.dlq = await accepted(server, endpoint, signed({ type: 'a.c', to: 'failing' }));
      await change(server, endpoint, { status: 'paused' });
      ids.parked = await accepted(server, endpoint, signed({ type: 'a.b', to: 'taking' }));
      await eventIn(server, ids.delivered, 'delivered');
      await eventIn(server, ids.dlq, 'dlq');
    });

    it("200: the endpoint's id and its path select the same events, newest first", async () => {
      const all = Object.values(ids).sort().reverse();

      expect(await listed(`endpoint=${endpoint.id}`)).toEqual(all);
      expect(await listed(`endpoint=${encodeURIComponent(endpoint.path)}`)).toEqual(all);
      expect(await listed('endpoint=nobody/nothing')).toEqual([]);
    });

    it.each(['quarantined', 'parked', 'ignored', 'delivered', 'dlq'])(
      '200: by status %s, alone and with the endpoint',
      async (status) => {
        expect(await listed(`status=${status}&endpoint=${endpoint.id}`)).toEqual([ids[status]]);
        expect(await listed(`status=${status}`)).toContain(ids[status]);
      },
    );

    it('200: by destination, as destination or endpoint, including sent events; with status, type and endpoint', async () => {
      const sent = (await send(server, failed)).replace('msg_', 'evt_');
      await eventIn(server, sent, 'dlq');

      for (const name of ['destination', 'endpoint']) {
        expect(await listed(`${name}=${taken}`)).toEqual([ids.delivered]);
        expect(await listed(`${name}=${failed}`)).toEqual([sent, ids.dlq]);
        expect(await listed(`${name}=${failed}&status=dlq`)).toEqual([sent, ids.dlq]);
        expect(await listed(`${name}=${failed}&event_type=a.c`)).toEqual([ids.dlq]);
        for (const status of ['delivered', 'retrying', 'failed', 'ignored', 'parked', 'quarantined'])
          expect(await listed(`${name}=${failed}&status=${status}`)).toEqual([]);
      }
      expect(await listed(`destination=${taken}&status=delivered`)).toEqual([ids.delivered]);
      expect(await listed(`destination=${failed}&endpoint=${endpoint.id}`)).toEqual([ids.dlq]);
      expect(await listed(`destination=${failed}&limit=1`)).toEqual([sent]);
      expect(await listed(`destination=${failed}&application=nobody`)).toEqual([]);
      expect(await listed('destination=dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1')).toEqual([]);
      expectRefusal(await server.api('GET', `/v1/events?destination=${failed}&endpoint=${taken}`), 400);
    });

    it('200: events with open deliveries to a destination are listed among those with settled ones', async () => {
      const target = targets.open((_post, index) => ({ status: index === 1 ? 503 : 200 }));
      const destination = await destinationAt(server, target.url, RARE_RETRIES);
      const inlet = await inbound(server, { destinations: [destination] });
      const received: string[] = [];
      for (const status of ['delivered', 'retrying', 'delivered']) {
        received.unshift(await accepted(server, inlet, json({ n: 1 })));
        await eventAfter(server, received[0] as string, 1);
        await eventIn(server, received[0] as string, status);
      }

      expect(await listed(`destination=${destination}`)).toEqual(received);
      expect(await listed(`destination=${destination}&status=retrying`)).toEqual([received[1]]);
      expect(await listed(`destination=${destination}&status=delivered`)).toEqual([received[0], received[2]]);
      const { data, next_cursor: cursor } = (await server.api('GET', `/v1/events?destination=${destination}&limit=1`))
        .json;
      expect(data.map(({ id }: { id: string }) => id)).toEqual([received[0]]);
      expect(await listed(`destination=${destination}&limit=1&cursor=${cursor}`)).toEqual([received[1]]);
    });

    it('200: by type, and an item has the fields of the specification', async () => {
      expect(await listed(`event_type=a.c&endpoint=${endpoint.id}`)).toEqual([ids.dlq]);
      const [item] = (await server.api('GET', `/v1/events?status=dlq&endpoint=${endpoint.id}`)).json.data;
      expect(item).toEqual({
        id: ids.dlq,
        event_type: 'a.c',
        endpoint: endpoint.path,
        status: 'dlq',
        destination: null,
        message_id: null,
        received_at: expect.stringMatching(TIMESTAMP),
        attempt_count: 1,
        last_attempt: { at: expect.stringMatching(TIMESTAMP), status: 500, error: null },
        next_attempt_at: null,
      });
    });

    it('404 or empty: another environment sees none of the events', async () => {
      const other = as((await createKey(server, { scope: 'admin', environment: 'test' })).key);

      expect(await listed(`endpoint=${endpoint.id}`, other)).toEqual([]);
      expect(await listed(`endpoint=${encodeURIComponent(endpoint.path)}`, other)).toEqual([]);
      for (const id of Object.values(ids))
        expectRefusal(await server.api('GET', `/v1/events/${id}`, undefined, other), 404);
      expectRefusal(await server.api('POST', `/v1/events/${ids.delivered}/replay`, undefined, other), 404);
    });
  });

  it('200: the detail shows the origin of the event and its deliveries', async () => {
    const target = targets.open(() => ({ status: 201, body: 'made' }));
    const destination = await destinationAt(server, target.url);
    const endpoint = await inbound(server, { destinations: [destination] });
    const id = await accepted(server, endpoint, json({ type: 'order.paid' }, { 'x-own': 'o' }));

    const event = await eventIn(server, id, 'delivered');

    expect(event).toEqual({
      id,
      event_type: 'order.paid',
      endpoint: endpoint.path,
      status: 'delivered',
      destination: null,
      message_id: null,
      received_at: expect.stringMatching(TIMESTAMP),
      webhook_id: id,
      method: 'POST',
      path: '',
      query: '',
      direction: 'inbound',
      headers: { 'content-type': 'application/json', 'x-own': 'o', 'posthorn-hops': '1' },
      request_id: id.replace('evt_', 'req_'),
      note: null,
      logs: null,
      payload_encoding: 'json',
      payload: { type: 'order.paid' },
      deliveries: [
        {
          id: `${id}.0`,
          destination,
          status: 'delivered',
          next_attempt_at: null,
          circuit: null,
          reason: null,
          replayed: false,
        },
      ],
      attempts: [
        {
          delivery: `${id}.0`,
          destination,
          number: 1,
          status: 201,
          duration_ms: expect.any(Number),
          at: expect.stringMatching(TIMESTAMP),
          response_excerpt: 'made',
          error: null,
          replayed: false,
        },
      ],
    });
    expectRefusal(await server.api('GET', `/v1/events/${id.replace('evt_', 'msg_')}x`), 404);
  });

  it.each<[string, Record<string, string>, string]>([
    ['a type that a browser would execute', { 'content-type': 'text/html; charset=utf-8' }, 'text/html; charset=utf-8'],
    ['a type with parameters', { 'content-type': 'application/x-own;v=1' }, 'application/x-own;v=1'],
    ['an invalid type', { 'content-type': 'none at all' }, 'application/octet-stream'],
    [
      'what is encoded',
      { 'content-type': 'application/json', 'content-encoding': 'x-own' },
      'application/octet-stream',
    ],
  ])(
    '200: a received payload is returned byte for byte, and never executed by a browser: %s',
    async (_what, headers, type) => {
      const endpoint = await inbound(server);
      const body = Buffer.from([0x3c, 0, 0xff, 0x3e]);
      const id = await accepted(server, endpoint, { headers, body });

      const answer = await fetch(`${server.url}/v1/events/${id}/payload`, {
        headers: { authorization: `Bearer ${server.apiKey}` },
      });

      expect(Buffer.from(await answer.arrayBuffer())).toEqual(body);
      expect(
        Object.fromEntries(
          ['content-type', 'x-content-type-options', 'content-disposition', 'content-security-policy'].map((name) => [
            name,
            answer.headers.get(name),
          ]),
        ),
      ).toEqual({
        'content-type': type,
        'x-content-type-options': 'nosniff',
        'content-disposition': 'attachment; filename="payload"',
        'content-security-policy': "sandbox; default-src 'none'",
      });
    },
  );

  it('202: a replay sends the same webhook-id and the transformed body again, marked', async () => {
    const target = targets.open();
    const endpoint = await inbound(server, {
      destinations: [await destinationAt(server, target.url)],
      transform: {
        engine: 'managed',
        code: 'export default (event) => ({ body: { made: event.body.n } })',
        timeoutMs: 2000,
      },
    });
    const id = await accepted(server, endpoint, json({ n: 1 }));
    await eventIn(server, id, 'delivered');

    const answer = expectStatus(await server.api('POST', `/v1/events/${id}/replay`), 202);

    const posts = await target.arrived(2);
    expect(answer.json).toMatchObject({ replay_id: expect.stringMatching(/^rpl_/) });
    expect(
      posts.map(({ headers, rawBody }) => [headers['webhook-id'], headers['webhook-replayed'], String(rawBody)]),
    ).toEqual([
      [id, undefined, '{"made":1}'],
      [id, 'true', '{"made":1}'],
    ]);
    const event = await until(
      () => eventOf(server, id),
      ({ attempts }) => attempts.length === 2,
      WITHIN_MS,
    );
    expect(event.attempts.map(({ replayed }: Json) => replayed)).toEqual([false, true]);
  });

  it('409: a quarantined, parked or ignored event was not delivered, and cannot be replayed as an event', async () => {
    const signed = await inbound(server, { verification: 'hmac-sha256' });
    const paused = await inbound(server);
    const ignored = await accepted(server, paused, json({}));
    await change(server, paused, { status: 'paused' });
    const parked = await accepted(server, paused, json({}));

    for (const id of [await quarantined(signed), parked, ignored])
      expectRefusal(await server.api('POST', `/v1/events/${id}/replay`), 409);
  });

  it('202: redrive by endpoint, by its id or its path, sends only its own dead letters again', async () => {
    const target = targets.open((_post, index) => ({ status: index < 4 ? 500 : 200 }));
    const destination = await destinationAt(server, target.url, { retry: { schedule: [0], max_attempts: 1 } });
    const [one, two, three] = [
      await inbound(server, { destinations: [destination] }),
      await inbound(server, { destinations: [destination] }),
      await inbound(server, { destinations: [destination] }),
    ];
    const ids = [
      await accepted(server, one, json({})),
      await accepted(server, one, json({})),
      await accepted(server, two, json({})),
      await accepted(server, three, json({})),
    ];
    for (const id of ids) await eventIn(server, id, 'dlq');

    const first = await server.api('POST', '/v1/dlq/redrive', { endpoint: one.id });
    const second = await server.api('POST', '/v1/dlq/redrive', { endpoint: two.path });

    expect([first.status, first.json, second.status, second.json]).toEqual([
      202,
      { redriven: 2, skipped: 0 },
      202,
      { redriven: 1, skipped: 0 },
    ]);
    for (const id of ids.slice(0, 3)) await eventIn(server, id, 'delivered');
    expect((await eventOf(server, ids[3] ?? '')).status).toBe('dlq');
    expect(
      target
        .posts()
        .slice(4)
        .every(({ headers }) => headers['webhook-replayed'] === 'true'),
    ).toBe(true);
    expectInvalid(await server.api('POST', '/v1/dlq/redrive', { endpoint: 'nobody/nothing' }), 'schema', 'endpoint');
  });
});
