import { Webhook } from 'standardwebhooks';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { until } from './polling.js';
import { page, pullDestination } from './pulling.js';
import type { Aim, Inlet } from './replaying.js';
import {
  askReplay,
  enqueued,
  inletTo,
  jobIn,
  older,
  receive,
  receiveMany,
  replayed,
  reroute,
  settled,
  startReplay,
  watchReplays,
} from './replaying.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import {
  destinationAt,
  eventAfter,
  eventIn,
  eventOf,
  expectStatus,
  openSql,
  RARE_RETRIES,
  startTargets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';

const ONLY_ODD = { path: '$.kind', op: 'eq', value: 'odd' };

/** A replay selects the events that an endpoint received in a time range, and sends them through the current routes. */
describe('POST /v1/endpoints/{id}/replay', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer();
    sql = openSql(server);
    await watchReplays(sql);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  /** Creates a target and a destination with the target's URL. Returns both. */
  const place = async (settings: object = {}): Promise<{ target: TargetPath; destination: string }> => {
    const target = targets.open();
    return { target, destination: await destinationAt(server, target.url, settings) };
  };

  /** Creates an endpoint with `count` received and delivered events. */
  const scene = async (
    aims: readonly Aim[],
    count: number,
    settings: object = {},
  ): Promise<{ inlet: Inlet; ids: string[] }> => {
    const inlet = await inletTo(server, aims, settings);
    const ids = await receiveMany(inlet, count);
    await settled(sql, inlet);
    return { inlet, ids };
  };

  const idsAt = (target: TargetPath): unknown[] => target.posts().map(({ headers }) => headers['webhook-id']);
  const replaysAt = (target: TargetPath): unknown[] =>
    target
      .posts()
      .filter(({ headers }) => headers['webhook-replayed'] === 'true')
      .map(({ headers }) => headers['webhook-id']);

  it('202: returns the job with all its fields, and its final counts when it has ended', async () => {
    const { destination } = await place();
    const { inlet } = await scene([destination], 3);
    const [since, until_] = ['2024-01-01T00:00:00.000Z', '2100-01-01T00:00:00.000Z'];

    const job = await startReplay(server, inlet, {
      since,
      until: until_,
      status: 'delivered',
      destinations: [destination],
    });

    expect(job).toEqual({
      id: expect.stringMatching(/^rpj_[0-9A-HJKMNP-TV-Z]{26}$/),
      replay_id: expect.stringMatching(/^rpl_[0-9A-HJKMNP-TV-Z]{26}$/),
      kind: 'range',
      endpoint: inlet.id,
      state: 'pending',
      since,
      until: until_,
      status: 'delivered',
      destinations: [destination],
      stop_requested: false,
      total_estimate: 3,
      scanned: 0,
      replayed: 0,
      enqueued: 0,
      skipped: 0,
      excluded: 0,
      resumed_from: null,
      action: null,
      filter: null,
      limit: null,
      total_is_capped: false,
      cancelled: null,
      searched_to: null,
      destinations_used: [destination],
      erased: null,
      error: null,
      created_at: expect.stringMatching(TIMESTAMP),
      started_at: null,
      finished_at: null,
    });
    const done = await jobIn(server, job.id, 'completed');
    expect(done).toEqual({
      ...job,
      state: 'completed',
      scanned: 3,
      replayed: 3,
      enqueued: 3,
      started_at: expect.stringMatching(TIMESTAMP),
      finished_at: expect.stringMatching(TIMESTAMP),
    });
    expect(done.started_at >= done.created_at && done.finished_at >= done.started_at).toBe(true);
  });

  it('202: without a body, all stored events are sent again, with their id and body, signed, marked as a replay', async () => {
    const { target, destination } = await place();
    const { inlet, ids } = await scene([destination], 4);

    const job = expectStatus(await askReplay(server, inlet), 202).json;

    await target.arrived(8);
    const done = await jobIn(server, job.id, 'completed');
    expect(done).toMatchObject({
      since: null,
      until: null,
      status: null,
      destinations: [],
      scanned: 4,
      replayed: 4,
      enqueued: 4,
    });
    expect(replaysAt(target).sort()).toEqual([...ids].sort());
    const { secret } = (await server.api('GET', `/v1/destinations/${destination}/secret`)).json;
    for (const id of ids) {
      const [first, again] = target.posts().filter(({ headers }) => headers['webhook-id'] === id);
      expect([first?.headers['webhook-replayed'], again?.headers['webhook-replayed']]).toEqual([undefined, 'true']);
      expect(again?.rawBody.toString()).toBe(first?.rawBody.toString());
      new Webhook(secret).verify(String(again?.rawBody), again?.headers as Record<string, string>);
      expect(await eventIn(server, id, 'delivered')).toMatchObject({
        deliveries: [
          { status: 'delivered', replayed: false },
          { status: 'delivered', replayed: true },
        ],
      });
    }
  });

  it('202: the current routes apply: a destination added later gets the backlog, a removed one gets nothing', async () => {
    const [before, stays, added] = [await place(), await place(), await place()];
    const { inlet, ids } = await scene([before.destination, stays.destination], 3);
    await reroute(server, inlet, [stays.destination, added.destination]);

    const job = await replayed(server, inlet);

    expect(job).toMatchObject({ scanned: 3, replayed: 3, enqueued: 6 });
    expect(job.destinations_used.sort()).toEqual([stays.destination, added.destination].sort());
    await Promise.all([stays.target.arrived(6), added.target.arrived(3)]);
    await settled(sql, inlet);
    expect(idsAt(added.target).sort()).toEqual([...ids].sort());
    expect(replaysAt(added.target)).toHaveLength(3);
    expect(replaysAt(stays.target)).toHaveLength(3);
    expect(before.target.posts()).toHaveLength(3);
  });

  it('202: the current filters apply; an event that no route matches is skipped', async () => {
    const [odd, none] = [await place(), await place()];
    const inlet = await inletTo(server, [odd.destination]);
    const [first, second, third] = [
      await receive(inlet, { kind: 'odd', n: 1 }),
      await receive(inlet, { kind: 'even' }),
      await receive(inlet, 'no JSON'),
    ];
    await settled(sql, inlet);
    await reroute(server, inlet, [
      { destination: odd.destination, filter: ONLY_ODD },
      { destination: none.destination, filter: { type: 'method', op: 'eq', value: 'PUT' } },
    ]);

    const job = await replayed(server, inlet);

    expect(job).toMatchObject({ scanned: 3, replayed: 1, enqueued: 1, skipped: 2, excluded: 0 });
    await odd.target.arrived(4);
    await settled(sql, inlet);
    expect(replaysAt(odd.target)).toEqual([first]);
    expect(idsAt(odd.target).sort()).toEqual([first, first, second, third].sort());
    expect(none.target.posts()).toEqual([]);
  });

  it('202: filters see the original request and verification result, and the transformed body', async () => {
    const { target, destination } = await place();
    const inlet = await inletTo(server, [destination], {
      transform: {
        engine: 'managed',
        code: 'export default (event) => ({ ...event, body: { made: event.body.kind } })',
      },
    });
    const id = await receive(inlet, { kind: 'odd' }, { 'x-shop': 'nine' });
    await settled(sql, inlet);
    await reroute(server, inlet, [
      {
        destination,
        filter: {
          all: [
            { type: 'json', path: '$.made', op: 'eq', value: 'odd' },
            { type: 'header', name: 'x-shop', op: 'eq', value: 'nine' },
            { type: 'verification', op: 'eq', value: 'none' },
            { type: 'method', op: 'eq', value: 'POST' },
          ],
        },
      },
    ]);

    const job = await replayed(server, inlet);

    expect(job).toMatchObject({ scanned: 1, replayed: 1, skipped: 0 });
    await target.arrived(2);
    expect(replaysAt(target)).toEqual([id]);
  });

  it('202: the stored event is sent, with the body of the original transform, although the transform has changed', async () => {
    const { target, destination } = await place();
    const inlet = await inletTo(server, [destination], {
      transform: { engine: 'managed', code: 'export default (event) => ({ ...event, body: { then: event.body.n } })' },
    });
    await receive(inlet, { n: 7 });
    await target.arrived(1);
    await settled(sql, inlet);
    const code = 'export default () => ({ body: { now: true } })';
    expectStatus(
      await server.api('PATCH', `/v1/endpoints/${inlet.id}`, { transform: { engine: 'managed', code } }),
      200,
    );

    await replayed(server, inlet);

    const [first, again] = await target.arrived(2);
    expect(JSON.parse(String(first?.rawBody))).toEqual({ then: 7 });
    expect(again?.rawBody.equals(first?.rawBody as Buffer)).toBe(true);
  });

  it('202: a body that is not text is sent again unchanged', async () => {
    const { target, destination } = await place();
    const inlet = await inletTo(server, [destination]);
    const bytes = Buffer.from([0, 255, 1, 128, 10, 0]);
    await fetch(inlet.url, { method: 'POST', body: bytes, headers: { 'content-type': 'application/octet-stream' } });
    await settled(sql, inlet);

    await replayed(server, inlet);

    const posts = await target.arrived(2);
    expect(posts.map(({ rawBody }) => rawBody.equals(bytes))).toEqual([true, true]);
  });

  it('202: quarantined and parked events are never sent, and are counted in excluded', async () => {
    const { target, destination } = await place();
    const secret = 'a shared secret of the provider';
    const inlet = await inletTo(server, [destination], { verification: 'hmac-sha256' });
    expectStatus(await server.api('PUT', `/v1/endpoints/${inlet.id}/secret`, { secret }), 204);
    await receive(inlet, { n: 0 }, { 'x-signature': '00' });
    expectStatus(await server.api('PATCH', `/v1/endpoints/${inlet.id}`, { verification: 'none' }), 200);
    await receive(inlet, { n: 1 });
    expectStatus(await server.api('PATCH', `/v1/endpoints/${inlet.id}`, { status: 'paused' }), 200);
    await receive(inlet, { n: 2 });
    await receive(inlet, { n: 3 });
    expectStatus(await server.api('PATCH', `/v1/endpoints/${inlet.id}`, { status: 'active' }), 200);
    await settled(sql, inlet);

    const job = await replayed(server, inlet);

    expect(job).toMatchObject({ total_estimate: 4, scanned: 4, replayed: 1, enqueued: 1, skipped: 0, excluded: 3 });
    const posts = await target.arrived(2);
    expect(posts.map(({ rawBody }) => String(rawBody))).toEqual(['{"n":1}', '{"n":1}']);
  });

  it('202: an event that no route matched on arrival is sent once there is a route', async () => {
    const { target, destination } = await place();
    const { inlet, ids } = await scene([], 2);
    expect((await eventOf(server, ids[0] as string)).status).toBe('ignored');
    await reroute(server, inlet, [destination]);

    const job = await replayed(server, inlet);

    expect(job).toMatchObject({ replayed: 2, excluded: 0 });
    await target.arrived(2);
    expect(replaysAt(target).sort()).toEqual([...ids].sort());
  });

  it('202: without a route nothing is sent, and every event is skipped', async () => {
    const { inlet } = await scene([], 2);

    const job = await replayed(server, inlet);

    expect(job).toMatchObject({ scanned: 2, replayed: 0, enqueued: 0, skipped: 2, destinations_used: [] });
  });

  it('202: status selects only events with this status', async () => {
    const { target, destination } = await place({ ...RARE_RETRIES, retry: { max_attempts: 1 } });
    const inlet = await inletTo(server, [destination]);
    const good = await receive(inlet, { n: 0 });
    await target.arrived(1);
    target.answerBy(() => ({ status: 500 }));
    const dead = await receive(inlet, { n: 1 });
    await eventIn(server, String(good), 'delivered');
    await eventIn(server, String(dead), 'dlq');
    target.answerBy(() => ({ status: 200 }));

    const job = await replayed(server, inlet, { status: 'dlq' });

    expect(job).toMatchObject({ status: 'dlq', total_estimate: 2, scanned: 1, replayed: 1, enqueued: 1 });
    await eventIn(server, String(dead), 'delivered');
    expect(replaysAt(target)).toEqual([dead]);
  });

  it('202: a retrying event is sent at once, and the replay supersedes its old delivery', async () => {
    const { target, destination } = await place(RARE_RETRIES);
    target.answerBy((_post, index) => ({ status: index === 0 ? 500 : 200 }));
    const inlet = await inletTo(server, [destination]);
    const id = String(await receive(inlet, { n: 0 }));
    await eventAfter(server, id, 1);

    await replayed(server, inlet, { status: 'retrying' });

    expect(await eventIn(server, id, 'delivered')).toMatchObject({
      deliveries: [
        { status: 'failed', reason: 'superseded' },
        { status: 'delivered', replayed: true },
      ],
    });
    expect(target.posts()).toHaveLength(2);
  });

  it('202: since and until are both inclusive', async () => {
    const { destination } = await place();
    const { inlet, ids } = await scene([destination], 1);
    const uuids = await older(sql, ids[0] as string, 10);
    const at = async (uuid: string | undefined): Promise<string> => {
      const [row] = await sql.rows<{ ms: string }>(
        `select ('x' || left(replace($1::text, '-', ''), 12))::bit(48)::bigint as ms`,
        [uuid],
      );
      return new Date(Number(row?.ms)).toISOString();
    };

    const job = await replayed(server, inlet, { since: await at(uuids[2]), until: await at(uuids[6]) });

    expect(job).toMatchObject({ total_estimate: 5, scanned: 5, replayed: 5 });
    expect((await enqueued(sql, inlet)).map(({ event }) => event)).toEqual(uuids.slice(2, 7));
  });

  it('202: destinations restricts the replay to some destinations of the routes', async () => {
    const [one, two] = [await place(), await place()];
    const { inlet } = await scene([one.destination, two.destination], 3);

    const job = await replayed(server, inlet, { destinations: [two.destination] });

    expect(job).toMatchObject({
      destinations: [two.destination],
      destinations_used: [two.destination],
      replayed: 3,
      enqueued: 3,
    });
    await two.target.arrived(6);
    await settled(sql, inlet);
    expect([replaysAt(one.target).length, replaysAt(two.target).length]).toEqual([0, 3]);
  });

  it('202: a pull destination gets the events again, marked', async () => {
    const feed = await pullDestination(server);
    const { inlet, ids } = await scene([feed], 3);

    const job = await replayed(server, inlet);

    expect(job).toMatchObject({ replayed: 3, enqueued: 3 });
    const { data } = await until(
      () => page(server, feed, { limit: 100 }),
      (read) => read.data.length >= 6,
      WITHIN_MS,
    );
    expect(data.slice(0, 3).map(({ id, replayed: again }) => [id, again])).toEqual(ids.map((id) => [id, false]));
    expect(
      data
        .slice(3)
        .map(({ id, replayed: again }) => [id, again])
        .sort(),
    ).toEqual(ids.map((id) => [id, true]).sort());
  });

  it('422: a destination without a route, and malformed fields', async () => {
    const [mine, theirs] = [await place(), await place()];
    const inlet = await inletTo(server, [mine.destination]);

    expectInvalid(
      await askReplay(server, inlet, { destinations: [mine.destination, theirs.destination] }),
      'schema',
      'destinations.1',
    );
    expectInvalid(await askReplay(server, inlet, { destinations: ['nothing'] }), 'schema', 'destinations.0');
    expectInvalid(await askReplay(server, inlet, { destinations: [] }), 'schema', 'destinations');
    expectInvalid(await askReplay(server, inlet, { since: 'yesterday' }), 'schema', 'since');
    expectInvalid(await askReplay(server, inlet, { status: 'parked' }), 'schema', 'status');
    expectInvalid(
      await askReplay(server, inlet, { since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' }),
      'schema',
      'since',
    );
    expect((await server.api('GET', `/v1/replays?endpoint=${inlet.id}`)).json.data).toEqual([]);
  });

  it('400: a cursor, which only dry runs accept', async () => {
    const inlet = await inletTo(server, []);

    expectRefusal(await askReplay(server, inlet, { cursor: 'WyJhIl0.bbbb' }), 400);
  });

  it('409: a paused or disabled endpoint', async () => {
    const inlet = await inletTo(server, []);
    expectStatus(await server.api('PATCH', `/v1/endpoints/${inlet.id}`, { status: 'paused' }), 200);
    const paused = await askReplay(server, inlet);
    await sql.rows(`update endpoints set status = 'disabled' where id = $1`, [uuidOf(inlet.id)]);
    await sql.rows(`select pg_notify('posthorn', 'endpoint:*')`);

    const disabled = await until(
      () => askReplay(server, inlet),
      ({ json }) => json.error.details.reason === 'disabled',
      WITHIN_MS,
    );

    expectRefusal(paused, 409);
    expect(paused.json.error.details).toEqual({ reason: 'paused' });
    expectRefusal(disabled, 409);
  });

  it('404: an endpoint that does not exist', async () => {
    for (const id of ['ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', 'nothing', 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1']) {
      expectRefusal(await askReplay(server, { id }), 404);
      expectRefusal(await askReplay(server, { id }, { dry_run: true }), 404);
    }
  });
});
