import { randomUUID } from 'node:crypto';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectRefusal } from './answers.js';
import { until } from './polling.js';
import { page, pullDestination } from './pulling.js';
import type { Inbound } from './receiving.js';
import { accepted, change, inbound, json, requestsOf } from './receiving.js';
import { askReplay, dryRun, jobIn, replayed } from './replaying.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import { destinationAt, eventIn, eventOf, expectStatus, openSql, startTargets, uuidOf, WITHIN_MS } from './scene.js';

const LONG_AGO = '2026-01-01T00:00:00Z';
const DROPS_TESTS = '(event) => event.body.livemode === false ? null : {...event, body: {id: event.body.id}}';
const TEST_EVENT = { id: 2, livemode: false, ssn: 'SECRET' };

/** A transform dropped these events, so they have no body to send. A replay must not send the received body instead. */
describe('events dropped by a transform', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer(), startTargets()]);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await Promise.all([server.stop(), targets.close()]);
  });

  const managed = (code = DROPS_TESTS, more: object = {}): object => ({
    engine: 'managed',
    code: `export default ${code}`,
    timeoutMs: 2_000,
    ...more,
  });
  const bodiesAt = (target: TargetPath): string[] => target.posts().map(({ rawBody }) => rawBody.toString());

  /** Creates an endpoint that routes to an https, a mirror and a pull destination. */
  async function scene(
    transform: object | null,
    settings: object = {},
  ): Promise<{ endpoint: Inbound; https: TargetPath; mirror: TargetPath; pull: string; destinations: string[] }> {
    const [https, mirror, pull] = [targets.open(), targets.open(), await pullDestination(server)];
    const destinations = [
      await destinationAt(server, https.url),
      await destinationAt(server, mirror.url, { type: 'mirror' }),
      pull,
    ];
    return {
      endpoint: await inbound(server, { transform, destinations, ...settings }),
      https,
      mirror,
      pull,
      destinations,
    };
  }

  const pulled = async (pull: string): Promise<unknown[]> =>
    (await page(server, pull, { limit: 100 })).data.map(({ payload }) => payload as unknown);

  it('202: a range replay excludes a dropped event for https, mirror and pull, and its dry run does not count it', async () => {
    const { endpoint, https, mirror, pull } = await scene(managed());
    const kept = await accepted(server, endpoint, json({ id: 1, livemode: true, ssn: 'KEPT' }));
    const dropped = await accepted(server, endpoint, json(TEST_EVENT));
    await eventIn(server, kept, 'delivered');
    expect((await eventOf(server, dropped)).status).toBe('ignored');

    const counted = await dryRun(server, endpoint, { since: LONG_AGO });
    const job = await replayed(server, endpoint, { since: LONG_AGO });

    expect(counted).toMatchObject({ scanned: 2, replayed: 1, enqueued: 3, skipped: 0, excluded: 1 });
    expect(job).toMatchObject({ scanned: 2, replayed: 1, enqueued: 3, skipped: 0, excluded: 1 });
    await Promise.all([https.arrived(2), mirror.arrived(2)]);
    await until(
      () => pulled(pull),
      ({ length }) => length === 2,
      WITHIN_MS,
    );
    expect(bodiesAt(https)).toEqual(['{"id":1}', '{"id":1}']);
    expect(await pulled(pull)).toEqual([{ id: 1 }, { id: 1 }]);
    // A mirror forwards an event's original request byte for byte, so it must never get a dropped event.
    expect(bodiesAt(mirror).join()).not.toContain('SECRET');
    expect(await eventOf(server, dropped)).toMatchObject({ status: 'ignored', deliveries: [] });
  });

  it('202: a dropped event stays excluded with filters on routes and with status "ignored"', async () => {
    const { endpoint, https, destinations } = await scene(managed('() => null'));
    await accepted(server, endpoint, json(TEST_EVENT));
    await change(server, endpoint, {
      routes: [{ destination: destinations[0], filter: { path: '$.id', op: 'eq', value: '2' } }],
    });

    const counted = [await dryRun(server, endpoint), await dryRun(server, endpoint, { status: 'ignored' })];
    const jobs = [await replayed(server, endpoint), await replayed(server, endpoint, { status: 'ignored' })];

    for (const found of [...counted, ...jobs])
      expect(found).toMatchObject({ scanned: 1, replayed: 0, enqueued: 0, skipped: 0, excluded: 1 });
    expect(https.posts()).toEqual([]);
  });

  it('202: a URL transform drops an event by answering 204', async () => {
    const transformer = targets.open(() => ({ status: 204 }));
    const { endpoint, https } = await scene({ engine: 'url', url: transformer.url });
    await accepted(server, endpoint, json(TEST_EVENT));

    expect(await dryRun(server, endpoint)).toMatchObject({ scanned: 1, replayed: 0, excluded: 1 });
    expect(await replayed(server, endpoint, { since: LONG_AGO })).toMatchObject({
      scanned: 1,
      replayed: 0,
      enqueued: 0,
      excluded: 1,
    });
    expect(https.posts()).toEqual([]);
  });

  it('202: a destination added later gets the event that no route matched, but not the dropped one', async () => {
    const { endpoint, https, destinations } = await scene(managed(), { destinations: [] });
    await accepted(server, endpoint, json(TEST_EVENT));
    const unrouted = await accepted(server, endpoint, json({ id: 3, livemode: true, ssn: 'SECRET' }));
    await change(server, endpoint, { destinations: destinations.slice(0, 1) });

    const job = await replayed(server, endpoint, { since: LONG_AGO });

    expect(job).toMatchObject({ scanned: 2, replayed: 1, enqueued: 1, excluded: 1 });
    await eventIn(server, unrouted, 'delivered');
    expect(bodiesAt(https)).toEqual(['{"id":3}']);
  });

  it('202: an event parked by a failed transform is excluded, and its release runs the transform again', async () => {
    const { endpoint, https } = await scene(managed('() => { throw new Error("no"); }'));
    await accepted(server, endpoint, json({ id: 4, livemode: true, ssn: 'SECRET' }));
    await accepted(server, endpoint, json(TEST_EVENT));
    expect(await replayed(server, endpoint, { since: LONG_AGO })).toMatchObject({
      scanned: 2,
      replayed: 0,
      excluded: 2,
    });
    await change(server, endpoint, { transform: managed() });

    const { id } = expectStatus(
      await server.api('POST', `/v1/endpoints/${endpoint.id}/requests/replay`, { status: 'parked' }),
      202,
    ).json;
    await jobIn(server, id, 'completed');
    await https.arrived(1);
    const after = await replayed(server, endpoint, { since: LONG_AGO });

    // Three of the four events are excluded: two still have the status `parked`, and a transform dropped the third when
    // it was released.
    expect(after).toMatchObject({ scanned: 4, replayed: 1, excluded: 3 });
    await https.arrived(2);
    expect(bodiesAt(https)).toEqual(['{"id":4}', '{"id":4}']);
  });

  it('409 or skipped: a replay of the event, a replay by filter and a replay of its raw request send nothing', async () => {
    const { endpoint, https } = await scene(managed());
    const dropped = await accepted(server, endpoint, json(TEST_EVENT));

    const one = await server.api('POST', `/v1/events/${dropped}/replay`);
    const { id } = expectStatus(
      await server.api('POST', '/v1/replays', { action: 'replay', filter: { endpoint: endpoint.id } }),
      202,
    ).json;
    const job = await jobIn(server, id, 'completed');
    const again = expectStatus(
      await server.api('POST', `/v1/endpoints/${endpoint.id}/requests/${dropped.replace('evt', 'req')}/replay`),
      202,
    ).json.event_id;

    expectRefusal(one, 409);
    expect(job).toMatchObject({ scanned: 1, replayed: 0, enqueued: 0, skipped: 1 });
    // The replay of a raw request runs the current transform, which drops the event again.
    expect(await eventOf(server, again)).toMatchObject({ status: 'ignored', deliveries: [] });
    expect(https.posts()).toEqual([]);
  });

  it('202: an erased dropped event is excluded, and so is its duplicate', async () => {
    const { endpoint } = await scene(managed(), { deduplicate: { source: 'header', name: 'x-id' } });
    const dropped = await accepted(server, endpoint, json(TEST_EVENT, { 'x-id': '1' }));
    await accepted(server, endpoint, json(TEST_EVENT, { 'x-id': '1' }));
    expect((await requestsOf(server, endpoint)).map(({ status }) => status)).toEqual(['duplicate', 'ignored']);
    expectStatus(await server.api('DELETE', `/v1/events/${dropped}/payload`), 204);

    expect(await dryRun(server, endpoint)).toMatchObject({ scanned: 1, replayed: 0, excluded: 1 });
  });

  describe('that an earlier version stored', () => {
    /**
     * Creates a dropped event as an earlier version stored it, without the mark `dropped`. Only the field `note` of its
     * request says that the transform dropped it.
     */
    async function before(settings: object = {}): Promise<Awaited<ReturnType<typeof scene>> & { id: string }> {
      const found = await scene(managed(), settings);
      const id = await accepted(server, found.endpoint, json(TEST_EVENT));
      const [marked] = await sql.rows('update events set dropped = null where id = $1 returning disposition', [
        uuidOf(id),
      ]);
      expect(marked).toEqual({ disposition: 'ignored' });
      return { ...found, id };
    }

    it('202: are excluded too, but an event that no route matched is not', async () => {
      const { endpoint, https, destinations } = await before({ destinations: [] });
      const unrouted = await accepted(server, endpoint, json({ id: 5, livemode: true, ssn: 'SECRET' }));
      await sql.rows('update events set dropped = null where id = $1', [uuidOf(unrouted)]);
      await change(server, endpoint, { destinations: destinations.slice(0, 1) });

      expect(await dryRun(server, endpoint)).toMatchObject({ scanned: 2, replayed: 1, excluded: 1 });
      expect(await replayed(server, endpoint)).toMatchObject({ scanned: 2, replayed: 1, excluded: 1 });
      await https.arrived(1);
      expect(bodiesAt(https)).toEqual(['{"id":5}']);
    });

    it('are not sent again by event, redrive, recover or filter, even if that version had replayed them', async () => {
      const {
        endpoint,
        https,
        destinations: [destination = ''],
        id,
      } = await before();
      await sql.rows(
        `
        insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, status, reason, attempts, replayed, superseded, settled_at)
        select environment_id, id, 0, expires_on, $2, target_id, 'dlq', null, 8, true, false, now() from events where id = $1`,
        [uuidOf(id), uuidOf(destination)],
      );
      expect((await eventOf(server, id)).status).toBe('dlq');
      const over = async (answer: Promise<{ json: { id: string } }>): Promise<unknown> =>
        jobIn(server, (await answer).json.id, 'completed');

      const one = await server.api('POST', `/v1/events/${id}/replay`);
      const redrive = expectStatus(await server.api('POST', '/v1/dlq/redrive', { endpoint: destination }), 202).json;
      const recover = await over(server.api('POST', `/v1/destinations/${destination}/recover`, { since: LONG_AGO }));
      const filter = await over(
        server.api('POST', '/v1/replays', { action: 'recover', filter: { endpoint: endpoint.id } }),
      );

      expectRefusal(one, 409);
      expect(redrive).toEqual({ redriven: 0, skipped: 1 });
      for (const job of [recover, filter])
        expect(job).toMatchObject({ scanned: 1, replayed: 0, enqueued: 0, excluded: 1 });
      expect(https.posts()).toEqual([]);
    });
  });

  it('404: the replay of another tenant\'s endpoint, also with status "ignored"', async () => {
    const { endpoint } = await scene(managed());
    const other = expectStatus(
      await server.api('POST', '/v1/keys', { name: randomUUID(), scope: 'admin', environment: 'test' }),
      201,
    ).json.key as string;

    expectRefusal(
      await askReplay(server, endpoint, { status: 'ignored', dry_run: true }, { authorization: `Bearer ${other}` }),
      404,
    );
  });
});
