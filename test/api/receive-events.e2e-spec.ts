import { createHmac } from 'node:crypto';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { until } from './polling.js';
import { accepted, change, inbound, json, provide, requestsOf, setSecret } from './receiving.js';
import type { Inbound, Json } from './receiving.js';
import { destinationAt, eventIn, eventOf, expectStatus, startTargets, WITHIN_MS } from './scene.js';
import type { Targets } from './scene.js';

describe('events that were received', () => {
  let server: PosthornServer;
  let targets: Targets;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer(), startTargets()]);
  });

  afterAll(async () => {
    await server.stop();
    await targets.close();
  });

  const listed = async (query: string, headers: Record<string, string> = {}): Promise<string[]> =>
    expectStatus(await server.api('GET', `/v1/events?${query}`, undefined, headers), 200).json.data.map(({ id }: Json) => id);

  const quarantined = async (endpoint: Inbound): Promise<string> => {
    expectRefusal(await provide(server, endpoint.at, json({ forged: true })), 401);
    return (await requestsOf(server, endpoint))[0].event_id as string;
  };

  describe('list', () => {
    let endpoint: Inbound;
    const ids: Record<string, string> = {};

    beforeAll(async () => {
      const failing = targets.open(() => ({ status: 500 }));
      const taking = targets.open();
      endpoint = await inbound(server, {
        verification: 'hmac-sha256',
        routes: [
          { destination: await destinationAt(server, taking.url), filter: { path: '$.to', op: 'eq', value: 'taking' } },
          { destination: await destinationAt(server, failing.url, { retry: { schedule: [0], max_attempts: 1 } }), filter: { path: '$.to', op: 'eq', value: 'failing' } },
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

    it('200: by the endpoint\'s id and by its path it is the same, newest first', async () => {
      const all = Object.values(ids).sort().reverse();

      expect(await listed(`endpoint=${endpoint.id}`)).toEqual(all);
      expect(await listed(`endpoint=${encodeURIComponent(endpoint.path)}`)).toEqual(all);
      expect(await listed('endpoint=nobody/nothing')).toEqual([]);
    });

    it.each(['quarantined', 'parked', 'ignored', 'delivered', 'dlq'])('200: by status %s, alone and with the endpoint', async (status) => {
      expect(await listed(`status=${status}&endpoint=${endpoint.id}`)).toEqual([ids[status]]);
      expect(await listed(`status=${status}`)).toContain(ids[status]);
    });

    it('200: by type, and an item has the fields of the specification', async () => {
      expect(await listed(`event_type=a.c&endpoint=${endpoint.id}`)).toEqual([ids.dlq]);
      const [item] = (await server.api('GET', `/v1/events?status=dlq&endpoint=${endpoint.id}`)).json.data;
      expect(item).toEqual({
        id: ids.dlq, event_type: 'a.c', endpoint: endpoint.path, status: 'dlq', destination: null, message_id: null, received_at: expect.stringMatching(TIMESTAMP),
      });
    });

    it('404 and nothing: another environment sees none of it', async () => {
      const other = as((await createKey(server, { scope: 'admin', environment: 'test' })).key);

      expect(await listed(`endpoint=${endpoint.id}`, other)).toEqual([]);
      expect(await listed(`endpoint=${encodeURIComponent(endpoint.path)}`, other)).toEqual([]);
      for (const id of Object.values(ids)) expectRefusal(await server.api('GET', `/v1/events/${id}`, undefined, other), 404);
      expectRefusal(await server.api('POST', `/v1/events/${ids.delivered}/replay`, undefined, other), 404);
    });
  });

  it('200: the detail says where it came from and what became of it', async () => {
    const target = targets.open(() => ({ status: 201, body: 'made' }));
    const destination = await destinationAt(server, target.url);
    const endpoint = await inbound(server, { destinations: [destination] });
    const id = await accepted(server, endpoint, json({ type: 'order.paid' }, { 'x-own': 'o' }));

    const event = await eventIn(server, id, 'delivered');

    expect(event).toEqual({
      id, event_type: 'order.paid', endpoint: endpoint.path, status: 'delivered', destination: null, message_id: null, received_at: expect.stringMatching(TIMESTAMP),
      webhook_id: id, direction: 'inbound', headers: { 'content-type': 'application/json', 'x-own': 'o', 'posthorn-hops': '1' }, request_id: id.replace('evt_', 'req_'),
      payload_encoding: 'json', payload: { type: 'order.paid' },
      deliveries: [{ destination, status: 'delivered', next_attempt_at: null, reason: null, replayed: false }],
      attempts: [{ number: 1, status: 201, duration_ms: expect.any(Number), at: expect.stringMatching(TIMESTAMP), response_excerpt: 'made', error: null, replayed: false }],
    });
    expectRefusal(await server.api('GET', `/v1/events/${id.replace('evt_', 'msg_')}x`), 404);
  });

  it('202: a replay sends the same webhook-id and body once more, marked; what a transform made, not what came', async () => {
    const target = targets.open();
    const endpoint = await inbound(server, {
      destinations: [await destinationAt(server, target.url)],
      transform: { engine: 'managed', code: 'export default (event) => ({ body: { made: event.body.n } })', timeoutMs: 2000 },
    });
    const id = await accepted(server, endpoint, json({ n: 1 }));
    await eventIn(server, id, 'delivered');

    const answer = expectStatus(await server.api('POST', `/v1/events/${id}/replay`), 202);

    const posts = await target.arrived(2);
    expect(answer.json).toMatchObject({ replay_id: expect.stringMatching(/^rpl_/) });
    expect(posts.map(({ headers, rawBody }) => [headers['webhook-id'], headers['webhook-replayed'], String(rawBody)])).toEqual([
      [id, undefined, '{"made":1}'], [id, 'true', '{"made":1}'],
    ]);
    const event = await until(() => eventOf(server, id), ({ attempts }) => attempts.length === 2, WITHIN_MS);
    expect(event.attempts.map(({ replayed }: Json) => replayed)).toEqual([false, true]);
  });

  it('409: what is quarantined, parked or ignored went nowhere and is not replayed as an event', async () => {
    const signed = await inbound(server, { verification: 'hmac-sha256' });
    const paused = await inbound(server);
    const ignored = await accepted(server, paused, json({}));
    await change(server, paused, { status: 'paused' });
    const parked = await accepted(server, paused, json({}));

    for (const id of [await quarantined(signed), parked, ignored]) expectRefusal(await server.api('POST', `/v1/events/${id}/replay`), 409);
  });

  it('202: redrive by endpoint, by its id and its path, sends its dead letters again and nobody else\'s', async () => {
    const target = targets.open((_post, index) => ({ status: index < 4 ? 500 : 200 }));
    const destination = await destinationAt(server, target.url, { retry: { schedule: [0], max_attempts: 1 } });
    const [one, two, three] = [await inbound(server, { destinations: [destination] }), await inbound(server, { destinations: [destination] }), await inbound(server, { destinations: [destination] })];
    const ids = [await accepted(server, one, json({})), await accepted(server, one, json({})), await accepted(server, two, json({})), await accepted(server, three, json({}))];
    for (const id of ids) await eventIn(server, id, 'dlq');

    const first = await server.api('POST', '/v1/dlq/redrive', { endpoint: one.id });
    const second = await server.api('POST', '/v1/dlq/redrive', { endpoint: two.path });

    expect([first.status, first.json, second.status, second.json]).toEqual([202, { redriven: 2 }, 202, { redriven: 1 }]);
    for (const id of ids.slice(0, 3)) await eventIn(server, id, 'delivered');
    expect((await eventOf(server, ids[3] ?? '')).status).toBe('dlq');
    expect(target.posts().slice(4).every(({ headers }) => headers['webhook-replayed'] === 'true')).toBe(true);
    expectInvalid(await server.api('POST', '/v1/dlq/redrive', { endpoint: 'nobody/nothing' }), 'schema', 'endpoint');
  });
});
