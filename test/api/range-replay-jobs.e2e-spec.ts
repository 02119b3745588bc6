import { randomUUID } from 'node:crypto';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectRefusal } from './answers.js';
import type { Inlet } from './replaying.js';
import { askReplay, backlog, inletTo, jobIn, jobOf, startReplay } from './replaying.js';
import type { Sql } from './scene.js';
import { expectStatus, openSql } from './scene.js';

const NOBODY = 'rpj_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

/** Jobs stay pending, because no worker runs unless a test starts one. */
describe('replay jobs', () => {
  let server: PosthornServer;
  let sql: Sql;

  beforeAll(async () => {
    server = await startServer({ ROLE: 'api' });
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
  });

  const inlet = (): Promise<Inlet> => inletTo(server, []);
  const stop = (id: string, headers = {}): Promise<ApiAnswer> =>
    server.api('POST', `/v1/replays/${id}/stop`, undefined, headers);
  const list = async (query: string): Promise<ApiAnswer['json']> =>
    expectStatus(await server.api('GET', `/v1/replays?${query}`), 200).json;
  const idsOf = ({ data }: { data: { id: string }[] }): string[] => data.map(({ id }) => id);

  /** Starts a job, stops it and returns its id. */
  const stopped = async (at: Inlet): Promise<string> => {
    const { id } = await startReplay(server, at);
    expectStatus(await stop(id), 200);
    return id;
  };

  describe('GET /v1/replays/{id}', () => {
    it('200: returns the job as its start did', async () => {
      const job = await startReplay(server, await inlet(), { since: '2026-01-01T00:00:00Z' });

      expect(await jobOf(server, job.id)).toEqual(job);
      expect(job).toMatchObject({ state: 'pending', since: '2026-01-01T00:00:00.000Z' });
    });

    it('404: an unknown job, and an invalid id', async () => {
      for (const id of [NOBODY, 'nothing', NOBODY.replace('rpj', 'rpl')])
        expectRefusal(await server.api('GET', `/v1/replays/${id}`), 404);
    });
  });

  describe('GET /v1/replays', () => {
    it('200: newest first, by endpoint, by state, in pages', async () => {
      const [mine, other] = [await inlet(), await inlet()];
      const ids = [await stopped(mine), await stopped(mine), (await startReplay(server, mine)).id as string].reverse();
      const theirs = await stopped(other);

      expect(idsOf(await list(`endpoint=${mine.id}`))).toEqual(ids);
      expect(idsOf(await list(`endpoint=${mine.id}&state=stopped`))).toEqual(ids.slice(1));
      expect(idsOf(await list(`endpoint=${mine.id}&state=running`))).toEqual([]);
      expect(idsOf(await list('limit=100'))).toEqual(expect.arrayContaining([...ids, theirs]));
      expect(idsOf(await list('endpoint=nothing'))).toEqual([]);
      const first = await list(`endpoint=${mine.id}&limit=2`);
      const second = await list(`endpoint=${mine.id}&limit=2&cursor=${first.next_cursor}`);
      expect([idsOf(first), idsOf(second), second.next_cursor]).toEqual([ids.slice(0, 2), ids.slice(2), null]);
      expect(first.data[0]).toEqual(await jobOf(server, ids[0] as string));
    });

    it('400: an unknown state, a limit out of range, and the cursor of another list', async () => {
      const at = await inlet();
      await stopped(at);
      await stopped(at);
      const { next_cursor: cursor } = await list(`endpoint=${at.id}&limit=1`);

      for (const query of [
        'state=done',
        'limit=0',
        'limit=101',
        'cursor=nonsense',
        `cursor=${cursor}`,
        `endpoint=${at.id}&state=stopped&cursor=${cursor}`,
      ]) {
        expectRefusal(await server.api('GET', `/v1/replays?${query}`), 400);
      }
    });
  });

  describe('one live replay per endpoint', () => {
    it('409: while another replay is pending or running; once it has ended, the next one starts', async () => {
      const at = await inlet();
      const { id } = await startReplay(server, at);

      const pending = await askReplay(server, at);
      await sql.rows(
        `update replay_jobs set state = 'running', started_at = now(), page_at = now(), runner = gen_random_uuid() where state = 'pending'`,
      );
      const running = await askReplay(server, at);
      await sql.rows(`update replay_jobs set state = 'completed' where state = 'running'`);
      const next = await askReplay(server, at);

      expectRefusal(pending, 409);
      expect(pending.json.error.details).toEqual({ reason: 'replay_live', replay: id });
      expectRefusal(running, 409);
      expect(expectStatus(next, 202).json.id).not.toBe(id);
    });

    it('409: of twenty concurrent requests one is accepted, with and without Idempotency-Keys', async () => {
      const at = await inlet();

      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          askReplay(server, at, {}, i % 2 === 0 ? { 'idempotency-key': randomUUID() } : {}),
        ),
      );

      expect(answers.map(({ status }) => status).sort()).toEqual([202, ...Array<number>(19).fill(409)]);
      expect((await list(`endpoint=${at.id}`)).data).toHaveLength(1);
    });

    it('202: a replay of another endpoint is not blocked', async () => {
      await startReplay(server, await inlet());

      expectStatus(await askReplay(server, await inlet()), 202);
    });
  });

  describe('Idempotency-Key', () => {
    it('202: the same key starts one replay and repeats the response; a 409 is not stored, and its key can be used again', async () => {
      const at = await inlet();
      const [first, second] = [{ 'idempotency-key': randomUUID() }, { 'idempotency-key': randomUUID() }];

      const started = [await askReplay(server, at, {}, first), await askReplay(server, at, {}, first)];
      const refused = await askReplay(server, at, {}, second);
      expectStatus(await stop(started[0]?.json.id), 200);
      const tried = await askReplay(server, at, {}, second);

      expect(started.map(({ status, text }) => [status, text])).toEqual(Array(2).fill([202, started[0]?.text]));
      expect([refused.status, refused.json.error.details.reason, tried.status]).toEqual([409, 'replay_live', 202]);
      expect((await list(`endpoint=${at.id}`)).data).toHaveLength(2);
    });

    it('200: the same key repeats the counts of a dry run', async () => {
      const { inlet: at } = await backlog(server, sql, [], 3);
      const key = { 'idempotency-key': randomUUID() };

      const first = await askReplay(server, at, { dry_run: true }, key);
      await sql.rows(
        'delete from events where target_id = (select id from endpoints order by created_at desc limit 1)',
      );
      const again = await askReplay(server, at, { dry_run: true }, key);

      expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
      expect(first.json).toMatchObject({ scanned: 3 });
    });
  });

  describe('POST /v1/replays/{id}/stop', () => {
    it('200: a pending job stops at once, and no worker starts it', async () => {
      const { inlet: at } = await backlog(server, sql, [], 3);
      const job = await startReplay(server, at);

      const answer = await stop(job.id);

      expect(expectStatus(answer, 200).json).toEqual({
        ...job,
        state: 'stopped',
        stop_requested: true,
        finished_at: expect.any(String),
      });
      const behind = await startReplay(server, (await backlog(server, sql, [], 1)).inlet);
      const worker = await startServer({ ...server.env, ROLE: 'worker' });
      try {
        await jobIn(server, behind.id, 'completed');
      } finally {
        await worker.stop();
      }
      expect(await jobOf(server, job.id)).toEqual(answer.json);
    });

    it.each(['completed', 'failed', 'stopped'])('200: a job that is %s stays in this state', async (state) => {
      const { id } = await startReplay(server, await inlet());
      await sql.rows(
        `update replay_jobs set state = $1, finished_at = '2026-01-01' where state = 'pending' and created_at = (select max(created_at) from replay_jobs)`,
        [state],
      );

      const answer = await stop(id);

      expect(expectStatus(answer, 200).json).toMatchObject({
        id,
        state,
        stop_requested: true,
        finished_at: '2026-01-01T00:00:00.000Z',
      });
    });

    it('200: a second stop changes nothing', async () => {
      const id = await stopped(await inlet());

      const { finished_at: finishedAt } = await jobOf(server, id);

      expect(expectStatus(await stop(id), 200).json).toMatchObject({ state: 'stopped', finished_at: finishedAt });
    });

    it('404: an unknown job, and an invalid id', async () => {
      for (const id of [NOBODY, 'nothing']) expectRefusal(await stop(id), 404);
    });
  });

  it('404: the jobs and the endpoints of another environment', async () => {
    const at = await inlet();
    const { id } = await startReplay(server, at);
    const { key } = await createKey(server, { scope: 'admin', environment: 'test' });

    expectRefusal(await server.api('GET', `/v1/replays/${id}`, undefined, as(key)), 404);
    expectRefusal(await stop(id, as(key)), 404);
    expectRefusal(await askReplay(server, at, {}, as(key)), 404);
    expectRefusal(await askReplay(server, at, { dry_run: true }, as(key)), 404);
    expect((await server.api('GET', '/v1/replays', undefined, as(key))).json.data).toEqual([]);
    expect((await server.api('GET', `/v1/replays?endpoint=${at.id}`, undefined, as(key))).json.data).toEqual([]);
    expect(await jobOf(server, id)).toMatchObject({ state: 'pending', stop_requested: false });
  });

  it('403: a read key can neither start nor stop a job; it can read jobs', async () => {
    const at = await inlet();
    const { id } = await startReplay(server, at);
    const { key } = await createKey(server, { scope: 'read' });

    expectRefusal(await askReplay(server, at, {}, as(key)), 403);
    expectRefusal(await askReplay(server, at, { dry_run: true }, as(key)), 403);
    expectRefusal(await stop(id, as(key)), 403);
    expectStatus(await server.api('GET', `/v1/replays/${id}`, undefined, as(key)), 200);
    expectStatus(await server.api('GET', '/v1/replays', undefined, as(key)), 200);
  });
});
