import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal } from './answers.js';
import { until } from './polling.js';
import { emit, endpointOf, failedCopies } from './recovering.js';
import { inletTo, jobIn, jobOf, receive, watchReplays } from './replaying.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import {
  destinationAt,
  eventAfter,
  eventIn,
  eventOf,
  expectStatus,
  openSql,
  RARE_RETRIES,
  send,
  startTargets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';

const NOBODY = 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

/** Jobs that replay, recover or cancel exactly the events that the list shows under the job's filters. */
describe('jobs on a filtered list of events', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;
  const workers: PosthornServer[] = [];

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer({ ROLE: 'api' });
    workers.push(await startServer({ ...server.env, ROLE: 'worker' }));
    sql = openSql(server);
    await watchReplays(sql);
  });

  afterAll(async () => {
    await sql.close();
    for (const worker of workers) await worker.stop();
    await server.stop();
    await targets.close();
  });

  const ask = (body: object, headers: Record<string, string> = {}): Promise<ApiAnswer> =>
    server.api('POST', '/v1/replays', body, headers);
  const count = async (body: object): Promise<ApiAnswer['json']> =>
    expectStatus(await ask({ ...body, dry_run: true }), 200).json;
  const done = async (body: object): Promise<ApiAnswer['json']> =>
    jobIn(server, expectStatus(await ask(body), 202).json.id, 'completed');
  const enqueuedOf = async (type: string): Promise<string[]> =>
    (
      await sql.rows<{ id: string }>(
        'select q.event_id as id from enqueued q join events e on e.id = q.event_id where e.event_type = $1 order by q.due_at, q.n',
        [type],
      )
    ).map(({ id }) => id);

  /** Creates a destination with one delivered event of a unique type. */
  const arrange = async (): Promise<{ target: TargetPath; destination: string; type: string; message: string }> => {
    const [target, type] = [targets.open(), randomUUID()];
    const destination = await destinationAt(server, target.url);
    const message = await send(server, destination, { event_type: type });
    await eventIn(server, message, 'delivered');
    return { target, destination, type, message };
  };

  /** Creates a received event that one destination accepted and another rejected. */
  const halfDelivered = async (): Promise<{
    good: TargetPath;
    bad: TargetPath;
    ids: { good: string; bad: string; endpoint: string; event: string };
  }> => {
    const [good, bad] = [targets.open(), targets.open(() => ({ status: 500 }))];
    const once = { retry: { max_attempts: 1, schedule: [0] }, config: RARE_RETRIES.config };
    const ids = { good: await destinationAt(server, good.url, once), bad: await destinationAt(server, bad.url, once) };
    const inlet = await inletTo(server, [ids.good, ids.bad]);
    const event = (await receive(inlet, { a: 1 })) ?? '';
    await eventIn(server, event, 'dlq');
    return { good, bad, ids: { ...ids, endpoint: inlet.id, event } };
  };

  it('202: replay sends the events of the list again, whatever their status, under the same ids; the job is in the list of jobs and in the audit log', async () => {
    const { target, destination, type, message } = await arrange();
    await failedCopies(sql, message, 2, { status: 'dlq' });
    await send(server, destination, { event_type: 'another' });
    await target.arrived(2);

    const job = await done({ action: 'replay', filter: { event_type: type } });

    expect(job).toMatchObject({
      kind: 'events',
      action: 'replay',
      filter: { event_type: type },
      limit: 1_000_000,
      endpoint: null,
      state: 'completed',
      total_estimate: 3,
      total_is_capped: false,
      scanned: 3,
      replayed: 3,
      enqueued: 3,
      skipped: 0,
      excluded: 0,
      cancelled: null,
    });
    const posts = await target.arrived(5);
    expect(posts.slice(2).map(({ headers }) => [headers['webhook-event-type'], headers['webhook-replayed']])).toEqual(
      Array.from({ length: 3 }, () => [type, 'true']),
    );
    expect(posts.slice(2).map(({ headers }) => headers['webhook-id'])).toContain(message);
    expect((await server.api('GET', '/v1/replays')).json.data[0].id).toBe(job.id);
    expect((await server.api('GET', '/v1/audit')).json.data).toContainEqual(
      expect.objectContaining({
        action: 'POST /v1/replays',
        resource_id: job.id,
        actor: expect.objectContaining({ kind: 'key' }),
      }),
    );
  });

  it('200: a dry run counts like the list, only in the statuses that the action applies to, and changes nothing', async () => {
    const { type, message } = await arrange();
    await failedCopies(sql, message, 2, { status: 'dlq' });
    await failedCopies(sql, message, 1, { status: 'failed', reason: 'gone' });
    const filter = { event_type: type };

    expect(await count({ action: 'replay', filter })).toEqual({
      dry_run: true,
      action: 'replay',
      count: 4,
      is_capped: false,
      limit: 1_000_000,
    });
    expect(await count({ action: 'recover', filter })).toMatchObject({ count: 3 });
    expect(await count({ action: 'recover', filter: { ...filter, status: ['dlq', 'delivered'] } })).toMatchObject({
      count: 2,
    });
    expect(await count({ action: 'recover', filter: { ...filter, status: ['delivered'] } })).toMatchObject({
      count: 0,
      is_capped: false,
    });
    expect(await count({ action: 'cancel', filter })).toMatchObject({ count: 0 });
    expect(await count({ action: 'replay', filter, limit: 2 })).toMatchObject({ count: 2, is_capped: false, limit: 2 });
    expect(await enqueuedOf(type)).toEqual([]);
  });

  it('a count over the limit is marked as capped, and the job processes all events in pages, including pages without matches', async () => {
    const { type, message } = await arrange();
    const dead = await failedCopies(sql, message, 6_200, { status: 'dlq' });
    const rare = randomUUID();
    await sql.rows('update events set event_type = $1 where id = any ($2::uuid[])', [rare, dead.slice(0, 2)]);

    expect(await count({ action: 'recover', filter: { event_type: rare } })).toEqual({
      dry_run: true,
      action: 'recover',
      count: 0,
      is_capped: true,
      searched_to: expect.any(String),
      limit: 1_000_000,
    });
    expect(await done({ action: 'recover', filter: { event_type: rare } })).toMatchObject({
      total_estimate: 0,
      total_is_capped: true,
      scanned: 2,
      enqueued: 2,
    });
    const job = await done({ action: 'recover', filter: { event_type: type } });

    expect(job).toMatchObject({ total_is_capped: true, scanned: 6_198, enqueued: 6_198 });
    expect((await enqueuedOf(rare)).sort()).toEqual(dead.slice(0, 2));
    const made = await enqueuedOf(type);
    expect([...made].sort()).toEqual(dead.slice(2));
    // The job processes the newest page first. Within a page, it processes the oldest event first.
    expect(made.slice(0, 1_000)).toEqual(dead.slice(-1_000));
  });

  it('recover sends only undelivered events again; cancelled ones are skipped unless requested, those without a payload always', async () => {
    const {
      good,
      bad,
      ids: { endpoint },
    } = await halfDelivered();
    bad.answerBy(() => ({}));

    expect(await done({ action: 'recover', filter: { endpoint } })).toMatchObject({
      scanned: 1,
      replayed: 1,
      enqueued: 1,
    });
    await bad.arrived(2);
    expect(good.posts()).toHaveLength(1);

    const { type, message } = await arrange();
    await failedCopies(sql, message, 2, { status: 'failed', reason: 'cancelled' });
    const [erased] = await failedCopies(sql, message, 1, { status: 'dlq' });
    await sql.rows('update events set erased_at = now(), payload = null where id = $1', [erased]);
    expect(await done({ action: 'recover', filter: { event_type: type } })).toMatchObject({
      scanned: 3,
      skipped: 2,
      excluded: 1,
      enqueued: 0,
    });
    expect(await done({ action: 'recover', filter: { event_type: type }, include_cancelled: true })).toMatchObject({
      scanned: 3,
      skipped: 0,
      excluded: 1,
      enqueued: 2,
    });
  });

  it('a filter by destination selects the deliveries to it, and no other deliveries of the same events', async () => {
    const { good, bad, ids } = await halfDelivered();

    expect(await done({ action: 'replay', filter: { destination: ids.good } })).toMatchObject({
      scanned: 1,
      enqueued: 1,
    });
    await good.arrived(2);
    expect(bad.posts()).toHaveLength(1);
    expect(await done({ action: 'replay', filter: { endpoint: ids.endpoint } })).toMatchObject({
      scanned: 1,
      enqueued: 2,
    });
  });

  it('cancel ends the pending deliveries of the matching events at this destination, and no others', async () => {
    const type = randomUUID();
    const [one, two] = [targets.open(() => ({ status: 500 })), targets.open(() => ({ status: 500 }))];
    const [first, second] = [
      await destinationAt(server, one.url, RARE_RETRIES),
      await destinationAt(server, two.url, RARE_RETRIES),
    ];
    const inlet = await inletTo(server, [first, second]);
    const event = (await receive(inlet, {})) ?? '';
    const sent = await send(server, first, { event_type: type });
    await eventAfter(server, event, 2);
    await eventAfter(server, sent, 1);
    await sql.rows(`update due_deliveries set due_at = now() + interval '1 hour' where claimed_by is null`);
    const states = async (): Promise<unknown[]> =>
      (await eventOf(server, event)).deliveries.map((each: Record<string, unknown>) => [
        each.destination,
        each.status,
        each.reason,
      ]);

    const job = await done({ action: 'cancel', filter: { endpoint: inlet.id, destination: first } });

    expect(job).toMatchObject({
      kind: 'events',
      action: 'cancel',
      scanned: 1,
      cancelled: 1,
      replayed: 0,
      enqueued: 0,
      total_estimate: 1,
    });
    expect(await states()).toEqual(
      expect.arrayContaining([
        [first, 'failed', 'cancelled'],
        [second, 'retrying', null],
      ]),
    );
    expect((await eventOf(server, sent)).status).toBe('retrying');
    expect(await done({ action: 'cancel', filter: { event_type: type, status: ['retrying', 'dlq'] } })).toMatchObject({
      cancelled: 1,
    });
    expect((await eventOf(server, sent)).status).toBe('failed');
    expect(await done({ action: 'cancel', filter: { event_type: type } })).toMatchObject({ scanned: 0, cancelled: 0 });
  });

  it('the filters application, ad-hoc URL, error and time mean the same as in the list', async () => {
    const [app, type] = [randomUUID(), randomUUID()];
    const target = targets.open((_, index) => ({ status: index === 0 ? 503 : 200 }));
    await endpointOf(server, app, { url: target.url, retry: { max_attempts: 1, schedule: [0] } });
    const message = await emit(server, app, { event_type: type });
    const [event] = await until(
      async () => (await server.api('GET', `/v1/events?message_id=${message}`)).json.data,
      ([each]) => each?.status === 'dlq',
      WITHIN_MS,
    );
    const adHoc = targets.open();
    await send(server, adHoc.url, { event_type: type });
    await adHoc.arrived(1);
    const before = new Date(Date.parse(event.received_at) - 1).toISOString();

    expect(await count({ action: 'recover', filter: { application: app, error: '4xx' } })).toMatchObject({ count: 0 });
    expect(await count({ action: 'recover', filter: { application: app, until: before } })).toMatchObject({ count: 0 });
    expect(
      await done({ action: 'recover', filter: { application: app, error: '5xx', since: event.received_at } }),
    ).toMatchObject({ scanned: 1, enqueued: 1 });
    expect((await target.arrived(2)).map(({ headers }) => headers['webhook-id'])).toEqual([message, message]);
    expect(await done({ action: 'replay', filter: { destination: adHoc.url } })).toMatchObject({
      scanned: 1,
      enqueued: 1,
    });
    await adHoc.arrived(2);
    expect(await done({ action: 'replay', filter: { q: event.id } })).toMatchObject({ scanned: 1, enqueued: 1 });
  });

  it('limit: at most that many events, the newest ones; the job reports how far it got', async () => {
    const { type, message } = await arrange();
    const dead = await failedCopies(sql, message, 1_500, { status: 'dlq' });

    const job = await done({ action: 'recover', filter: { event_type: type }, limit: 1_200 });

    expect(job).toMatchObject({
      limit: 1_200,
      total_estimate: 1_200,
      total_is_capped: false,
      scanned: 1_200,
      enqueued: 1_200,
    });
    expect((await enqueuedOf(type)).sort()).toEqual(dead.slice(-1_200));
    expect(Date.parse(job.searched_to)).toBe(Number.parseInt((dead[300] ?? '').replaceAll('-', '').slice(0, 12), 16));
  });

  it('409: a filter that names a disabled destination or endpoint; a wider filter skips and counts its events', async () => {
    const { destination, type, message } = await arrange();
    await failedCopies(sql, message, 1, { status: 'dlq' });
    const app = randomUUID();
    const endpoint = await endpointOf(server, app, { url: targets.open().url });
    expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'disabled' }), 200);
    expectStatus(await server.api('PATCH', `/v1/app/${app}/endpoints/${endpoint}`, { status: 'disabled' }), 200);

    for (const filter of [{ destination }, { endpoint: destination }, { endpoint }]) {
      const refused = await ask({ action: 'recover', filter });
      expectRefusal(refused, 409);
      expect(refused.json.error).toMatchObject({
        message: expect.stringContaining('is disabled'),
        details: { reason: 'disabled' },
      });
    }
    expect(await done({ action: 'recover', filter: { event_type: type } })).toMatchObject({
      scanned: 1,
      skipped: 1,
      enqueued: 0,
    });
    expect((await server.api('GET', `/v1/events?event_type=${type}&status=dlq`)).json.data).toHaveLength(1);
    expect(await done({ action: 'cancel', filter: { destination } })).toMatchObject({ cancelled: 0 });
  });

  it('the same Idempotency-Key starts one job and repeats the response', async () => {
    const { type } = await arrange();
    const key = { 'idempotency-key': randomUUID() };
    const first = expectStatus(await ask({ action: 'replay', filter: { event_type: type } }, key), 202);
    await jobIn(server, first.json.id, 'completed');

    const again = await ask({ action: 'replay', filter: { event_type: type } }, key);

    expect([again.status, again.text]).toEqual([202, first.text]);
    expect(await enqueuedOf(type)).toHaveLength(1);
    expectRefusal(await ask({ action: 'cancel', filter: { event_type: type } }, key), 409);
  });

  it('jobs of another environment change nothing in this one, and are not visible here', async () => {
    const { destination, type, message } = await arrange();
    await failedCopies(sql, message, 1, { status: 'dlq' });
    const { key } = await createKey(server, { name: 'elsewhere', scope: 'write', environment: 'live' });
    const isLive = (await server.api('GET', '/v1/org')).json.environment === 'live';
    const other = as(
      isLive ? (await createKey(server, { name: 'elsewhere', scope: 'write', environment: 'test' })).key : key,
    );

    const { id } = expectStatus(await ask({ action: 'replay', filter: {} }, other), 202).json;
    const own = async (): Promise<ApiAnswer['json']> =>
      expectStatus(await server.api('GET', `/v1/replays/${id}`, undefined, other), 200).json;
    const job = await until(own, ({ state }) => state === 'completed', WITHIN_MS);

    expect(job).toMatchObject({ scanned: 0, enqueued: 0 });
    expect(await enqueuedOf(type)).toEqual([]);
    expectRefusal(await server.api('GET', `/v1/replays/${id}`), 404);
    expect(
      expectStatus(await ask({ action: 'recover', filter: { event_type: type }, dry_run: true }, other), 200).json
        .count,
    ).toBe(0);
    expect((await ask({ action: 'cancel', filter: { destination } }, other)).json).toMatchObject({ total_estimate: 0 });
  });

  it('422: no action, a filter that the list does not have, and contradictory filters', async () => {
    expectInvalid(await ask({ filter: {} }), 'schema', 'action');
    expectInvalid(await ask({ action: 'replay' }), 'schema', 'filter');
    expectInvalid(await ask({ action: 'replay', filter: { destinations: [] } }), 'schema', 'filter.destinations');
    expectInvalid(await ask({ action: 'replay', filter: { status: ['gone'] } }), 'schema', 'filter.status.0');
    expectInvalid(await ask({ action: 'replay', filter: { since: 'yesterday' } }), 'schema', 'filter.since');
    expectInvalid(await ask({ action: 'replay', filter: {}, limit: 0 }), 'schema', 'limit');
    expectInvalid(await ask({ action: 'replay', filter: {}, limit: 1_000_001 }), 'schema', 'limit');
    for (const more of [{}, { dry_run: true }]) {
      expectInvalid(
        await ask({
          action: 'replay',
          filter: { since: '2026-02-01T00:00:00Z', until: '2026-01-01T00:00:00Z' },
          ...more,
        }),
        'schema',
        'filter.since',
      );
      expectInvalid(
        await ask({ action: 'replay', filter: { until: '2016-12-31T23:59:60Z' }, ...more }),
        'schema',
        'filter.until',
      );
      expectInvalid(
        await ask({
          action: 'replay',
          filter: { endpoint: NOBODY, destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B2' },
          ...more,
        }),
        'schema',
        'filter',
      );
    }
  });

  describe('while a page is being processed', () => {
    let other: pg.Client;

    beforeEach(async () => {
      other = new pg.Client({ connectionString: server.databaseUrl });
      await other.connect();
    });

    afterEach(() => other.end());

    /** Blocks all redeliveries of the environment. Returns a function that ends the block. */
    const hold = async (destination: string): Promise<() => Promise<unknown>> => {
      const [row] = await sql.rows<{ environment: number }>(
        'select environment_id as environment from destinations where id = $1',
        [uuidOf(destination)],
      );
      await other.query('begin');
      await other.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`redeliver ${row?.environment}`]);
      return () => other.query('commit');
    };
    const waits = (what: string): Promise<unknown> =>
      until(
        () =>
          sql.rows(
            `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
            [`%${what}%`],
          ),
        ({ length }) => length > 0,
        WITHIN_MS,
      );

    it('an event accepted during the job is not part of it', async () => {
      const { destination, type, message } = await arrange();
      await failedCopies(sql, message, 1_100, { status: 'dlq' });
      const letGo = await hold(destination);
      const { id } = expectStatus(await ask({ action: 'replay', filter: { event_type: type } }), 202).json;
      await waits('pg_advisory_xact_lock');
      const later = await send(server, destination, { event_type: type });

      await letGo();

      expect(await jobIn(server, id, 'completed')).toMatchObject({ scanned: 1_101, enqueued: 1_101 });
      expect(await enqueuedOf(type)).not.toContain(uuidOf(later));
    });

    it('409: a second job on the same destination names the running one; other filters and a cancel are not blocked. A stop takes effect after the current page', async () => {
      const { destination, type, message } = await arrange();
      await failedCopies(sql, message, 1_100, { status: 'dlq' });
      const letGo = await hold(destination);
      const { id } = expectStatus(
        await ask({ action: 'recover', filter: { destination, event_type: type } }),
        202,
      ).json;
      await waits('pg_advisory_xact_lock');

      const second = await ask({ action: 'replay', filter: { destination } });
      const elsewhere = await ask({
        action: 'recover',
        filter: { destination: NOBODY.replace('B1', 'B2'), event_type: type },
      });
      const cancelled = await done({ action: 'cancel', filter: { destination, event_type: type } });
      const stopping = server.api('POST', `/v1/replays/${id}/stop`);
      await waits('replay_jobs');
      await letGo();

      expectRefusal(second, 409);
      expect(second.json.error.details).toEqual({ reason: 'replay_live', replay: id });
      expectRefusal(elsewhere, 409);
      expect(elsewhere.json.error.message).toContain('was deleted');
      expect(cancelled).toMatchObject({ state: 'completed' });
      expectStatus(await stopping, 200);
      expect(await jobIn(server, id, 'stopped')).toMatchObject({ scanned: 1_000, enqueued: 1_000 });
    });
  });

  it('after a worker is killed between two pages, another one continues: nothing twice and nothing left out', async () => {
    const { destination, type, message } = await arrange();
    const dead = await failedCopies(sql, message, 2_500, { status: 'dlq' });
    const line = [
      new pg.Client({ connectionString: server.databaseUrl }),
      new pg.Client({ connectionString: server.databaseUrl }),
    ] as const;
    try {
      for (const client of line) {
        await client.connect();
        await client.query('begin');
      }
      const lock = (at: 0 | 1): Promise<unknown> =>
        line[at].query(
          `select pg_advisory_xact_lock(hashtextextended('redeliver ' || environment_id, 0)) from destinations where id = $1`,
          [uuidOf(destination)],
        );
      const waiting = (count: number): Promise<unknown> =>
        until(
          () =>
            sql.rows(`select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`),
          ({ length }) => length === count,
          WITHIN_MS,
        );
      // Blocks the job twice: the first lock at the first page of events, and the second lock at the second page.
      await lock(0);
      const { id } = expectStatus(
        await ask({ action: 'recover', filter: { destination, event_type: type } }),
        202,
      ).json;
      await waiting(1);
      const second = lock(1);
      await waiting(2);
      await line[0].query('commit');
      await second;
      await waiting(1);
      await workers[0]?.kill('SIGKILL');
      await line[1].query('commit');
      const cut = await jobOf(server, id);
      await sql.rows(`update replay_jobs set page_at = now() - interval '1 minute' where state = 'running'`);

      workers.push(await startServer({ ...server.env, ROLE: 'worker' }));
      const job = await jobIn(server, id, 'completed', 2 * WITHIN_MS);

      expect(cut).toMatchObject({ state: 'running', scanned: 1_000, enqueued: 1_000, resumed_from: null });
      expect(job).toMatchObject({ scanned: 2_500, enqueued: 2_500, resumed_from: 1_000 });
      expect((await enqueuedOf(type)).sort()).toEqual(dead);
    } finally {
      await Promise.all(line.map((client) => client.end()));
    }
  });
});
