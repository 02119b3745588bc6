import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { accepted, inbound, type Json, json } from './receiving.js';
import { destinationAt, eventIn, expectStatus, send, startTargets, type Targets } from './scene.js';

describe('events that consumers pull', () => {
  let server: PosthornServer;
  let targets: Targets;
  let pulled: string;

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
    pulled = expectStatus(await server.api('POST', '/v1/destinations', { name: 'Consumer', type: 'pull' }), 201).json
      .id as string;
  });

  afterAll(async () => {
    await server.stop();
    await targets.close();
  });

  const listed = async (id: string): Promise<Json> =>
    expectStatus(await server.api('GET', `/v1/events?q=${id}`), 200).json.data[0];
  const deliveriesOf = async (id: string): Promise<Json[]> =>
    expectStatus(await server.api('GET', `/v1/events/${id}`), 200).json.deliveries as Json[];

  /** Pulls one event from a pull destination and acknowledges it. */
  async function collect(feed: string): Promise<string> {
    const { data, next_cursor: cursor } = expectStatus(await server.api('GET', `/v1/pull/${feed}?limit=1`), 200).json;
    expectStatus(await server.api('POST', `/v1/pull/${feed}/ack`, { cursor }), 200);
    return data[0].id as string;
  }

  it('200: an event waits until a consumer acknowledges it, and a replay waits again', async () => {
    const pending = { acknowledged: false, feed: null, committed_at: null };
    const [first, second] = [await send(server, pulled), await send(server, pulled)];
    const [{ id }, { id: next }] = [
      await eventIn(server, first, 'delivered'),
      await eventIn(server, second, 'delivered'),
    ];

    expect([await listed(id), await listed(next)]).toMatchObject([{ acknowledged: false }, { acknowledged: false }]);
    expect(await deliveriesOf(id)).toMatchObject([{ status: 'delivered', pull: pending }]);

    expect(await collect(pulled)).toBe(id);

    expect([await listed(id), await listed(next)]).toMatchObject([{ acknowledged: true }, { acknowledged: false }]);
    expect(await deliveriesOf(id)).toMatchObject([
      { status: 'delivered', pull: { acknowledged: true, feed: pulled, committed_at: expect.stringMatching(/Z$/) } },
    ]);
    expect(await deliveriesOf(next)).toMatchObject([{ pull: pending }]);

    expectStatus(await server.api('POST', `/v1/events/${id}/replay`), 202);
    await eventIn(server, first, 'delivered');
    expect((await deliveriesOf(id)).at(-1)).toMatchObject({ replayed: true, pull: pending });
    expect(await listed(id)).toMatchObject({ acknowledged: false });
    expect([await collect(pulled), await collect(pulled)]).toEqual([next, id]);
    expect(await listed(id)).toMatchObject({ acknowledged: true });
  });

  it("200: names the endpoint's feed in which the event was acknowledged, and leaves other events out", async () => {
    const endpoint = await inbound(server, { destinations: [pulled] });
    const received = await accepted(server, endpoint, json({}));
    await collect(endpoint.id);
    const sent = await send(server, await destinationAt(server, targets.open().url));
    const { id } = await eventIn(server, sent, 'delivered');

    expect(await deliveriesOf(received)).toMatchObject([{ pull: { acknowledged: true, feed: endpoint.id } }]);
    expect(await listed(id)).not.toHaveProperty('acknowledged');
    expect((await deliveriesOf(id))[0]).not.toHaveProperty('pull');
  });
});
