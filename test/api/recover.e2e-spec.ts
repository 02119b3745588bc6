import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectInvalid, expectRefusal } from './answers.js';
import { until } from './polling.js';
import { askRecover, emit, endpointOf, eventsOf, failedCopies, LONG_AGO } from './recovering.js';
import { inletTo, jobIn, jobOf, watchReplays } from './replaying.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import {
  destinationAt,
  eventIn,
  expectStatus,
  openSql,
  RARE_RETRIES,
  send,
  startTargets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';

const NOBODY = 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

/** A recovery is a job that sends failed deliveries to their target again. */
describe('recover', () => {
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

  /** Creates a destination with one delivered event. Returns the target, the destination's id and the message's id. */
  const arrange = async (): Promise<{ target: TargetPath; destination: string; message: string }> => {
    const target = targets.open();
    const destination = await destinationAt(server, target.url);
    const message = await send(server, destination);
    await eventIn(server, message, 'delivered');
    return { target, destination, message };
  };

  const recovered = async (
    destination: string,
    body: object = { since: LONG_AGO },
  ): Promise<Record<string, unknown>> => {
    const { id } = expectStatus(await askRecover(server, destination, body), 202).json;
    return jobIn(server, id, 'completed');
  };

  const enqueuedAt = (destination: string): Promise<{ event: string; xid: string }[]> =>
    sql.rows('select event_id as event, xid::text from enqueued where target_id = $1 order by due_at, n', [
      uuidOf(destination),
    ]);

  it('202: failed events and dead letters are sent again, marked as a replay; delivered ones are not', async () => {
    const { target, destination, message } = await arrange();
    const dead = await failedCopies(sql, message, 2, { status: 'dlq' });
    const failed = await failedCopies(sql, message, 1, { status: 'failed', reason: 'gone' });
    await failedCopies(sql, message, 3, { status: 'delivered' });

    const job = await recovered(destination);

    expect(job).toMatchObject({
      kind: 'recover',
      endpoint: destination,
      state: 'completed',
      since: '2026-01-01T00:00:00.000Z',
      until: null,
      status: null,
      total_estimate: 3,
      scanned: 3,
      replayed: 3,
      enqueued: 3,
      skipped: 0,
      excluded: 0,
      destinations: [],
      destinations_used: [destination],
    });
    const posts = await target.arrived(4);
    expect(posts.slice(1).map(({ headers }) => headers['webhook-replayed'])).toEqual(['true', 'true', 'true']);
    expect(new Set((await enqueuedAt(destination)).map(({ event }) => event))).toEqual(new Set([...dead, ...failed]));
    expect(await recovered(destination)).toMatchObject({ scanned: 0, enqueued: 0 });
  });

  it('only one status, and only events accepted in the time range', async () => {
    const { destination, message } = await arrange();
    const dead = await failedCopies(sql, message, 3, { status: 'dlq' });
    await failedCopies(sql, message, 2, { status: 'failed', reason: 'gone' });
    const at = (uuid = ''): string =>
      new Date(Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16)).toISOString();

    const job = await recovered(destination, { since: at(dead[1]), until: at(dead[1]), status: 'dlq' });

    expect(job).toMatchObject({ status: 'dlq', scanned: 1, enqueued: 1, total_estimate: 1 });
    expect((await enqueuedAt(destination)).map(({ event }) => event)).toEqual([dead[1]]);
    expect(await recovered(destination, { since: LONG_AGO, status: 'failed' })).toMatchObject({ enqueued: 2 });
  });

  it('cancelled events are skipped unless requested, those without a payload always', async () => {
    const { destination, message } = await arrange();
    await failedCopies(sql, message, 2, { status: 'failed', reason: 'cancelled' });
    const [erased] = await failedCopies(sql, message, 1, { status: 'dlq' });
    await sql.rows('update events set erased_at = now(), payload = null where id = $1', [erased]);

    expect(await recovered(destination)).toMatchObject({ scanned: 3, skipped: 2, excluded: 1, enqueued: 0 });
    expect(await recovered(destination, { since: LONG_AGO, include_cancelled: true })).toMatchObject({
      scanned: 3,
      skipped: 0,
      excluded: 1,
      enqueued: 2,
    });
  });

  it('pages of a thousand: oldest first within a page, later pages with older events, each committed with its progress', async () => {
    const { destination, message } = await arrange();
    const dead = await failedCopies(sql, message, 2_500, { status: 'dlq' });

    expect(await recovered(destination)).toMatchObject({ scanned: 2_500, enqueued: 2_500 });

    const made = await enqueuedAt(destination);
    expect(made.map(({ event }) => event)).toEqual([
      ...dead.slice(1_500),
      ...dead.slice(500, 1_500),
      ...dead.slice(0, 500),
    ]);
    const commits = [...new Set(made.map(({ xid }) => xid))];
    expect(commits.map((commit) => made.filter(({ xid }) => xid === commit).length)).toEqual([1_000, 1_000, 500]);
  });

  it('a job whose process was killed between two pages continues at its position, and neither repeats nor skips an event', async () => {
    const api = await startServer({ ROLE: 'api' });
    const own = openSql(api);
    const line = [
      new pg.Client({ connectionString: api.databaseUrl }),
      new pg.Client({ connectionString: api.databaseUrl }),
    ] as const;
    const workers = [await startServer({ ...api.env, ROLE: 'worker' })];
    try {
      await watchReplays(own);
      const target = targets.open();
      const destination = await destinationAt(api, target.url);
      const dead = await failedCopies(own, await send(api, destination), 2_500, { status: 'dlq' });
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
            own.rows(`select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`),
          ({ length }) => length === count,
          WITHIN_MS,
        );
      // Blocks the job twice: the first lock at the first page of events, and the second lock at the second page.
      await lock(0);
      const { id } = expectStatus(await askRecover(api, destination), 202).json;
      await waiting(1);
      const second = lock(1);
      await waiting(2);
      await line[0].query('commit');
      await second;
      await waiting(1);
      await workers[0]?.kill('SIGKILL');
      await line[1].query('commit');
      const cut = await jobOf(api, id);
      await own.rows(`update replay_jobs set page_at = now() - interval '1 minute'`);

      workers.push(await startServer({ ...api.env, ROLE: 'worker' }));
      const job = await jobIn(api, id, 'completed', 2 * WITHIN_MS);

      expect(cut).toMatchObject({ state: 'running', scanned: 1_000, enqueued: 1_000, resumed_from: null });
      expect(job).toMatchObject({ scanned: 2_500, enqueued: 2_500, resumed_from: 1_000 });
      expect(
        (await own.rows<{ event: string }>('select event_id as event from enqueued order by 1')).map(
          ({ event }) => event,
        ),
      ).toEqual(dead);
    } finally {
      await Promise.all(line.map((client) => client.end()));
      await own.close();
      for (const worker of workers) await worker.stop();
      await api.stop();
    }
  });

  describe('while a page is being processed', () => {
    let other: pg.Client;

    beforeEach(async () => {
      other = new pg.Client({ connectionString: server.databaseUrl });
      await other.connect();
    });

    afterEach(() => other.end());

    const held = async (): Promise<{ destination: string; id: string; letGo: () => Promise<unknown> }> => {
      const { destination, message } = await arrange();
      await failedCopies(sql, message, 2_200, { status: 'dlq' });
      const [row] = await sql.rows<{ environment: number }>(
        'select environment_id as environment from destinations where id = $1',
        [uuidOf(destination)],
      );
      await other.query('begin');
      await other.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`redeliver ${row?.environment}`]);
      const { id } = expectStatus(await askRecover(server, destination), 202).json;
      await until(
        () =>
          sql.rows(
            `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%pg_advisory_xact_lock%'`,
          ),
        ({ length }) => length > 0,
        WITHIN_MS,
      );
      return { destination, id, letGo: () => other.query('commit') };
    };

    it('409: a second job of the destination; a stop takes effect after the page', async () => {
      const { destination, id, letGo } = await held();

      const second = await askRecover(server, destination);
      const stopping = server.api('POST', `/v1/replays/${id}/stop`);
      await until(
        () =>
          sql.rows(
            `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%replay_jobs%'`,
          ),
        ({ length }) => length > 0,
        WITHIN_MS,
      );
      await letGo();

      expectRefusal(second, 409);
      expect(second.json.error).toMatchObject({
        message: expect.stringContaining('this destination'),
        details: { reason: 'replay_live' },
      });
      expectStatus(await stopping, 200);
      expect(await jobIn(server, id, 'stopped')).toMatchObject({ scanned: 1_000, enqueued: 1_000 });
    });

    it.each([
      [
        'disabled',
        (destination: string) => server.api('PATCH', `/v1/destinations/${destination}`, { status: 'disabled' }),
        'The destination is disabled.',
      ],
      [
        'deleted',
        (destination: string) => server.api('DELETE', `/v1/destinations/${destination}`),
        'The destination was deleted.',
      ],
    ])(
      'the job of a destination that is %s fails after the page, with an explanation',
      async (_what, change, error) => {
        const { destination, id, letGo } = await held();
        await change(destination);

        await letGo();

        expect(await jobIn(server, id, 'failed')).toMatchObject({ error, scanned: 1_000, enqueued: 1_000 });
      },
    );
  });

  it('409: a disabled destination, until it is enabled', async () => {
    const { destination, message } = await arrange();
    await failedCopies(sql, message, 1, { status: 'dlq' });
    expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'disabled' }), 200);

    const refused = await askRecover(server, destination);
    expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'active' }), 200);

    expectRefusal(refused, 409);
    expect(refused.json.error.details).toEqual({ reason: 'disabled' });
    expect(await recovered(destination)).toMatchObject({ enqueued: 1 });
  });

  it('the same Idempotency-Key starts one job and repeats the response, also the 409 of a second job', async () => {
    const api = await startServer({ ...server.env, ROLE: 'api' });
    try {
      const { destination } = await arrange();
      await sql.rows(`update replay_jobs set state = 'stopped' where state in ('pending', 'running')`);
      const [one, two] = [{ 'idempotency-key': randomUUID() }, { 'idempotency-key': randomUUID() }];
      const first = expectStatus(await askRecover(api, destination, { since: LONG_AGO }, one), 202);
      const again = await askRecover(api, destination, { since: LONG_AGO }, one);

      expect([again.status, again.text]).toEqual([202, first.text]);
      await jobIn(server, first.json.id, 'completed');
      expectStatus(await askRecover(api, destination, { since: LONG_AGO }, two), 202);
      expect((await server.api('GET', `/v1/replays?endpoint=${destination}`)).json.data).toHaveLength(2);
    } finally {
      await api.stop();
    }
  });

  it('404 and 422: a destination that does not exist, and an invalid time range', async () => {
    const { destination } = await arrange();

    for (const id of [NOBODY, 'nothing', destination.replace('dst', 'ep')])
      expectRefusal(await askRecover(server, id), 404);
    for (const path of ['nobody/endpoints/nothing', 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/endpoints/x']) {
      expectRefusal(await server.api('POST', `/v1/app/${path}/recover`, { since: LONG_AGO }), 404);
    }
    expectInvalid(await askRecover(server, destination, {}), 'schema', 'since');
    expectInvalid(await askRecover(server, destination, { since: 'yesterday' }), 'schema', 'since');
    const leap = '2016-12-31T23:59:60Z';
    expectInvalid(await askRecover(server, destination, { since: leap }), 'schema', 'since');
    expectInvalid(await askRecover(server, destination, { since: LONG_AGO, until: leap }), 'schema', 'until');
    expectInvalid(await server.api('POST', '/v1/dlq/redrive', { since: leap }), 'schema', 'since');
    const inlet = await inletTo(server, [destination]);
    for (const path of ['since', 'until']) {
      expectInvalid(await server.api('POST', `/v1/endpoints/${inlet.id}/replay`, { [path]: leap }), 'schema', path);
    }
    expectInvalid(await askRecover(server, destination, { since: LONG_AGO, status: 'delivered' }), 'schema', 'status');
    expectInvalid(
      await askRecover(server, destination, { since: '2026-02-01T00:00:00Z', until: LONG_AGO }),
      'schema',
      'since',
    );
  });

  describe("of an application's endpoint", () => {
    const recoverEndpoint = async (app: string, endpoint: string): Promise<Record<string, unknown>> => {
      const { id } = expectStatus(
        await server.api('POST', `/v1/app/${app}/endpoints/${endpoint}/recover`, { since: LONG_AGO }),
        202,
      ).json;
      return jobIn(server, id, 'completed');
    };

    it('with its own URL: sends its events again, under the id of their message', async () => {
      const app = randomUUID();
      const target = targets.open((_, index) => ({ status: index === 0 ? 500 : 200 }));
      const endpoint = await endpointOf(server, app, { url: target.url, retry: { max_attempts: 1, schedule: [0] } });
      const message = await emit(server, app);
      await until(
        () => eventsOf(server, message),
        ([event]) => event?.status === 'dlq',
        WITHIN_MS,
      );

      const job = await recoverEndpoint(app, endpoint);

      expect(job).toMatchObject({ kind: 'recover', endpoint, enqueued: 1, destinations_used: [] });
      const posts = await target.arrived(2);
      expect(posts.map(({ headers }) => headers['webhook-id'])).toEqual([message, message]);
      expect(posts[1]?.rawBody).toEqual(posts[0]?.rawBody);
      expect((await server.api('GET', `/v1/replays?endpoint=${endpoint}`)).json.data).toHaveLength(1);
    });

    it('that shares a destination with others: only its own events', async () => {
      const app = randomUUID();
      const target = targets.open((_, index) => ({ status: index < 2 ? 500 : 200 }));
      const destination = await destinationAt(server, target.url, {
        retry: { max_attempts: 1, schedule: [0] },
        config: RARE_RETRIES.config,
      });
      const [mine, other] = [
        await endpointOf(server, app, { destination }),
        await endpointOf(server, app, { destination }),
      ];
      const message = await emit(server, app);
      await until(
        () => eventsOf(server, message),
        (events) => events.length === 2 && events.every(({ status }) => status === 'dlq'),
        WITHIN_MS,
      );

      const job = await recoverEndpoint(app, mine);

      expect(job).toMatchObject({
        endpoint: mine,
        scanned: 1,
        enqueued: 1,
        total_estimate: 1,
        destinations_used: [destination],
      });
      await target.arrived(3);
      const states = (): Promise<string[]> =>
        eventsOf(server, message).then((events) =>
          events.map(({ endpoint, status }) => `${endpoint} ${status}`).sort(),
        );
      await until(states, (seen) => seen.includes(`${mine} delivered`), WITHIN_MS);
      expect(await states()).toEqual([`${mine} delivered`, `${other} dlq`].sort());
      expect(await recovered(destination)).toMatchObject({ endpoint: destination, scanned: 1, enqueued: 1 });
    });
  });

  it('jobs of both kinds are in one list', async () => {
    const { destination } = await arrange();
    const { id } = expectStatus(await askRecover(server, destination), 202).json;

    const job = await jobOf(server, id);

    expect(
      (await server.api('GET', '/v1/replays?limit=100')).json.data.map((each: { id: string }) => each.id),
    ).toContain(job.id);
  });
});
