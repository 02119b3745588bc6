import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { until } from './polling.js';
import type { Inlet } from './replaying.js';
import { askReplay, backlog, enqueued, jobIn, jobOf, replayed, startReplay, watchReplays } from './replaying.js';
import type { Sql, Targets } from './scene.js';
import { destinationAt, expectStatus, openSql, startTargets, uuidOf, WITHIN_MS } from './scene.js';

/** Time limit that is shorter than the 15 seconds after which the reconciler continues a job. */
const BEFORE_RECONCILER_MS = 10_000;

/** A job processes pages of a thousand events. After an interruption, `resumed_from` shows where the job continued. */
describe('pages of a replay job', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;
  let destination: string;

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer();
    sql = openSql(server);
    await watchReplays(sql);
    destination = await destinationAt(server, targets.open().url);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  it('events are enqueued oldest first within a page of a thousand, and later pages contain older ones', async () => {
    const { inlet, uuids } = await backlog(server, sql, [destination], 2_500);

    const job = await replayed(server, inlet);

    expect(job).toMatchObject({ scanned: 2_500, replayed: 2_500, enqueued: 2_500, total_estimate: 2_500 });
    const made = await enqueued(sql, inlet);
    expect(made.map(({ event }) => event)).toEqual([
      ...uuids.slice(1_500),
      ...uuids.slice(500, 1_500),
      ...uuids.slice(0, 500),
    ]);
    expect(new Set(made.map(({ due }) => due)).size).toBe(2_500);
    const commits = [...new Set(made.map(({ xid }) => xid))];
    expect(commits.map((commit) => made.filter(({ xid }) => xid === commit).length)).toEqual([1_000, 1_000, 500]);
  });

  it('the destinations of each event are enqueued in the order of the routes, before the next event', async () => {
    const others = [await destinationAt(server, targets.open().url), await destinationAt(server, targets.open().url)];
    const aims = [others[1] as string, destination, others[0] as string];
    const { inlet, uuids } = await backlog(server, sql, aims, 20);

    await replayed(server, inlet);

    const made = await enqueued(sql, inlet);
    expect(made.map(({ event, target }) => [event, target])).toEqual(
      uuids.flatMap((uuid) => aims.map((aim) => [uuid, uuidOf(aim)])),
    );
  });

  it('a replay of exactly one page ends', async () => {
    const { inlet } = await backlog(server, sql, [destination], 1_000);

    expect(await replayed(server, inlet)).toMatchObject({ scanned: 1_000, enqueued: 1_000 });
    expect(await enqueued(sql, inlet)).toHaveLength(1_000);
  });

  it('with an Idempotency-Key the worker is notified only after the job is committed', async () => {
    const { inlet } = await backlog(server, sql, [destination], 3);
    await sql.rows(
      `create function commit_slowly() returns trigger language plpgsql as $$ begin perform pg_sleep(1); return null; end $$`,
    );
    await sql.rows(`
      create constraint trigger commit_slowly after insert on replay_jobs deferrable initially deferred
      for each row when (new.endpoint_id = '${uuidOf(inlet.id)}') execute function commit_slowly()`);

    const { id } = expectStatus(await askReplay(server, inlet, {}, { 'idempotency-key': randomUUID() }), 202).json;

    expect(await jobIn(server, id, 'completed', BEFORE_RECONCILER_MS)).toMatchObject({ enqueued: 3 });
  });

  describe('while a page is being processed', () => {
    let other: pg.Client;

    beforeEach(async () => {
      other = new pg.Client({ connectionString: server.databaseUrl });
      await other.connect();
    });

    afterEach(() => other.end());

    const waiting = (like: string, withinMs = WITHIN_MS): Promise<unknown> =>
      until(
        () =>
          sql.rows(
            `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
            [like],
          ),
        ({ length }) => length > 0,
        withinMs,
      );

    /** Starts a job of 2,500 events. Its first page of events is blocked until the returned function is called. */
    const held = async (): Promise<{ inlet: Inlet; uuids: string[]; id: string; letGo: () => Promise<unknown> }> => {
      const { inlet, uuids } = await backlog(server, sql, [destination], 2_500);
      const [row] = await sql.rows<{ environment: number }>(
        'select environment_id as environment from endpoints where id = $1',
        [uuidOf(inlet.id)],
      );
      await other.query('begin');
      await other.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`redeliver ${row?.environment}`]);
      const { id } = await startReplay(server, inlet);
      await waiting('%pg_advisory_xact_lock%');
      return { inlet, uuids, id, letGo: () => other.query('commit') };
    };

    it('a stop takes effect after the page: enqueued deliveries stay, and the remaining events are not read', async () => {
      const { inlet, uuids, id, letGo } = await held();
      const stopping = server.api('POST', `/v1/replays/${id}/stop`);
      await waiting('%from replay_jobs where environment_id = $1 and id = $2 for update');

      await letGo();

      expect(expectStatus(await stopping, 200).json).toMatchObject({
        state: 'running',
        stop_requested: true,
        scanned: 1_000,
        finished_at: null,
      });
      const job = await jobIn(server, id, 'stopped', BEFORE_RECONCILER_MS);
      expect(job).toMatchObject({
        stop_requested: true,
        scanned: 1_000,
        replayed: 1_000,
        enqueued: 1_000,
        total_estimate: 2_500,
        error: null,
      });
      expect(job.finished_at).not.toBeNull();
      expect((await enqueued(sql, inlet)).map(({ event }) => event)).toEqual(uuids.slice(1_500));
      // Waits for the end, because a job that is still running would wait for the lock of the next test.
      expect(await replayed(server, inlet)).toMatchObject({ scanned: 2_500 });
    });

    it('a short lock on the row of the job does not end the job', async () => {
      const { id, letGo } = await held();
      const second = new pg.Client({ connectionString: server.databaseUrl });
      await second.connect();
      try {
        await second.query('begin');
        const locked = second.query('select id from replay_jobs where id = $1 for update', [uuidOf(id)]);
        await waiting('select id from replay_jobs%');

        await letGo();
        await locked;
        await waiting('%from replay_jobs where environment_id = $1 and id = $2 for update', 3 * WITHIN_MS);
      } finally {
        await second.end();
      }

      expect(await jobIn(server, id, 'completed', BEFORE_RECONCILER_MS)).toMatchObject({
        scanned: 2_500,
        enqueued: 2_500,
        resumed_from: null,
      });
    });

    it('the job of a deleted endpoint fails after the page, with an explanation', async () => {
      const { inlet, id, letGo } = await held();
      expectStatus(await server.api('DELETE', `/v1/endpoints/${inlet.id}`), 204);

      await letGo();

      const job = await jobIn(server, id, 'failed');
      expect(job).toMatchObject({
        error: 'The endpoint was deleted.',
        scanned: 1_000,
        enqueued: 1_000,
        stop_requested: false,
      });
      expect(job.finished_at).not.toBeNull();
    });

    it('the job of a paused endpoint fails after the page, with an explanation', async () => {
      const { inlet, id, letGo } = await held();
      expectStatus(await server.api('PATCH', `/v1/endpoints/${inlet.id}`, { status: 'paused' }), 200);

      await letGo();

      expect(await jobIn(server, id, 'failed')).toMatchObject({
        error: 'The endpoint is paused.',
        scanned: 1_000,
        enqueued: 1_000,
      });
    });

    it('changed routes apply from the next page on', async () => {
      const { inlet, uuids, id, letGo } = await held();
      const added = await destinationAt(server, targets.open().url);
      expectStatus(await server.api('PATCH', `/v1/endpoints/${inlet.id}`, { destinations: [added] }), 200);

      await letGo();

      const job = await jobIn(server, id, 'completed');
      expect(job.destinations_used).toEqual([destination, added]);
      const made = await enqueued(sql, inlet);
      expect(made.map(({ target }) => target)).toEqual([
        ...Array<string>(1_000).fill(uuidOf(destination)),
        ...Array<string>(1_500).fill(uuidOf(added)),
      ]);
      expect(new Set(made.map(({ event }) => event))).toEqual(new Set(uuids));
    });

    it('an event received meanwhile is delivered once and not replayed', async () => {
      const { inlet, uuids, id, letGo } = await held();
      const answer = await fetch(inlet.url, {
        method: 'POST',
        body: '{"n":-1}',
        headers: { 'content-type': 'application/json' },
      });

      await letGo();

      expect(answer.status).toBe(200);
      expect(await jobIn(server, id, 'completed')).toMatchObject({ scanned: 2_500, enqueued: 2_500 });
      expect(new Set((await enqueued(sql, inlet)).map(({ event }) => event))).toEqual(new Set(uuids));
    });
  });

  it('a page that the database keeps rejecting fails the job with an explanation, and none of the page is enqueued', async () => {
    const { inlet } = await backlog(server, sql, [destination], 1_200);
    await sql.rows(
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'refused' using errcode = '23514'; end $$`,
    );
    await sql.rows(
      `create trigger refuse before insert on due_deliveries for each row when (new.endpoint_id = '${uuidOf(inlet.id)}') execute function refuse()`,
    );

    const { id } = await startReplay(server, inlet);
    const job = await jobIn(server, id, 'failed');
    await sql.rows('drop trigger refuse on due_deliveries');

    expect(job).toMatchObject({
      error: 'Storage refused a page of it 5 times. The log of the worker says why.',
      scanned: 0,
      enqueued: 0,
    });
    expect(await enqueued(sql, inlet)).toEqual([]);
    expect(await replayed(server, inlet)).toMatchObject({ enqueued: 1_200 });
  });

  describe('when several processes have the same job', () => {
    it('a process that gets a job from the queue leaves it to the process that makes progress, and continues it once that process has stopped', async () => {
      const api = await startServer({ ROLE: 'api' });
      const own = openSql(api);
      const target = await destinationAt(api, targets.open().url);
      const [{ inlet }, behind] = [await backlog(api, own, [target], 1_200), await backlog(api, own, [target], 1)];
      const { id } = await startReplay(api, inlet);
      await own.rows(
        `update replay_jobs set state = 'running', runner = gen_random_uuid(), started_at = now(), page_at = now() + interval '1 hour', scanned = 7, replayed = 7, enqueued = 7`,
      );
      const next = await startReplay(api, behind.inlet);
      const worker = await startServer({ ...api.env, ROLE: 'worker' });
      try {
        await jobIn(api, next.id, 'completed', BEFORE_RECONCILER_MS);
        expect(await jobOf(api, id)).toMatchObject({ state: 'running', scanned: 7, resumed_from: null });

        await own.rows(`update replay_jobs set page_at = now() - interval '1 minute' where state = 'running'`);

        expect(await jobIn(api, id, 'completed')).toMatchObject({ resumed_from: 7, scanned: 1_207, enqueued: 1_207 });
      } finally {
        await worker.stop();
        await own.close();
        await api.stop();
      }
    });

    it('a stop of a job whose process died takes effect when another process resumes the job', async () => {
      const { inlet } = await backlog(server, sql, [destination], 3);
      await sql.rows(`update endpoints set status = 'paused' where id = $1`, [uuidOf(inlet.id)]);
      await sql.rows(
        `
        insert into replay_jobs (environment_id, id, replay_id, endpoint_id, state, destinations_used, stop_requested, before_id, from_id, total_estimate,
          scanned, replayed, enqueued, skipped, excluded, failures, runner, created_at, started_at, page_at)
        select environment_id, id, id, id, 'running', '{}', false, id, id, 3, 0, 0, 0, 0, 0, 0, gen_random_uuid(), now(), now(), now() - interval '14 seconds'
        from endpoints where id = $1`,
        [uuidOf(inlet.id)],
      );
      const id = inlet.id.replace('ep', 'rpj');

      expectStatus(await server.api('POST', `/v1/replays/${id}/stop`), 200);

      expect(await jobIn(server, id, 'stopped')).toMatchObject({ scanned: 0, enqueued: 0, resumed_from: 0 });
    });
  });
});
