import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectRefusal } from './answers.js';
import { until } from './polling.js';
import { ack, arrived, endpointTo, messagesOf, offer, page, pull, pullDestination, untilWaiting } from './pulling.js';
import type { Sql } from './scene.js';
import { beginElsewhere, eventOf, expectStatus, openSql, send, uuidOf, WITHIN_MS } from './scene.js';

const DOCUMENT = path.resolve(import.meta.dirname, '..', '..', 'docs', 'pull.md');

describe('guarantees of pull', () => {
  let server: PosthornServer;
  let sql: Sql;

  beforeAll(async () => {
    server = await startServer();
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
  });

  describe('wait', () => {
    it('200: returns items that arrive during the wait', async () => {
      const feed = await pullDestination(server);
      const waiting = page(server, feed, { wait: 20 });
      await untilWaiting(server, 1);

      const messageId = await send(server, feed);

      expect(messagesOf(await waiting)).toEqual([messageId]);
      await untilWaiting(server, 0);
    });

    it('200: consumers that wait at different cursors each get their own items', async () => {
      const [feed, other] = [await pullDestination(server), await pullDestination(server)];
      await offer(server, feed, 1);
      const { next_cursor: cursor } = await page(server, feed);
      const [waiting, theirs] = [page(server, feed, { cursor, wait: 20 }), page(server, other, { wait: 20 })];
      await untilWaiting(server, 2);

      const messageId = await send(server, feed);
      const read = await waiting;
      await untilWaiting(server, 1);
      const next = await send(server, other);

      expect([messagesOf(read), messagesOf(await theirs)]).toEqual([[messageId], [next]]);
    });

    it('200: empty after the wait, with the same position', async () => {
      const feed = await pullDestination(server);
      await offer(server, feed, 1);
      const { next_cursor: cursor } = await page(server, feed);

      const empty = await page(server, feed, { cursor, wait: 1 });

      expect(empty).toEqual({ data: [], next_cursor: expect.any(String) });
      const later = await offer(server, feed, 1);
      expect(messagesOf(await page(server, feed, { cursor: empty.next_cursor }))).toEqual(later);
    });

    it('200: for an endpoint, items of other endpoints do not end the wait', async () => {
      const feed = await pullDestination(server);
      const endpoint = await endpointTo(server, feed);
      const waiting = page(server, endpoint, { wait: 20 });
      await untilWaiting(server, 1);

      await offer(server, feed, 2);
      const [own] = await sql.rows<{ id: string }>(
        `
        insert into pull_items (environment_id, target_id, epoch, xid, event_id, ordinal, expires_on, endpoint_id, replayed)
        select environment_id, target_id, epoch, pg_current_xact_id()::text::bigint, event_id, 1, expires_on, $2, true
        from pull_items where target_id = $1 order by epoch, xid limit 1 returning event_id as id`,
        [uuidOf(feed), uuidOf(endpoint)],
      );

      const { data } = await waiting;
      expect(data.map(({ id }: { id: string }) => uuidOf(id))).toEqual([own?.id]);
    });

    it('a client that disconnects no longer counts as waiting', async () => {
      const [feed, client] = [await pullDestination(server), new AbortController()];
      const waiting = fetch(`${server.url}/v1/pull/${feed}?wait=20`, {
        headers: { authorization: `Bearer ${server.apiKey}` },
        signal: client.signal,
      }).catch((error: Error) => error.name);
      await untilWaiting(server, 1);

      client.abort();

      expect(await waiting).toBe('AbortError');
      await untilWaiting(server, 0);
    });

    it('200: empty and at once, when the process drains', async () => {
      const draining = await startServer();
      const waiting = page(draining, await pullDestination(draining), { wait: 20 });
      await untilWaiting(draining, 1);

      await draining.stop();

      expect(await waiting).toEqual({ data: [], next_cursor: null });
    });
  });

  describe('an open transaction', () => {
    let other: pg.Client;

    beforeEach(async () => {
      other = new pg.Client({ connectionString: server.databaseUrl });
      await other.connect();
    });

    afterEach(() => other.end());

    /** Adds an earlier event to the feed again, in a transaction that stays open. */
    const begin = async (messageId: string): Promise<void> => {
      await other.query('begin');
      await other.query(
        `
        insert into pull_items (environment_id, target_id, epoch, xid, event_id, ordinal, expires_on, replayed)
        select environment_id, target_id, epoch, pg_current_xact_id()::text::bigint, event_id, 1, expires_on, true
        from pull_items where event_id = $1`,
        [uuidOf(messageId)],
      );
    };

    it('is not skipped: later commits wait for it, and follow it', async () => {
      const feed = await pullDestination(server);
      const [first] = (await offer(server, feed, 1)) as [string];
      const { next_cursor: cursor } = await page(server, feed);
      await begin(first);

      const second = await send(server, feed);
      const meanwhile = await page(server, feed, { cursor, wait: 1 });
      expect((await eventOf(server, second)).status).toBe('delivered');
      const waiting = page(server, feed, { cursor: meanwhile.next_cursor, wait: 20 });
      await untilWaiting(server, 1);
      await other.query('commit');

      expect(meanwhile.data).toEqual([]);
      await waiting;
      await until(
        () => page(server, feed),
        ({ data }) => data.length === 2,
        WITHIN_MS,
      );
      expect(messagesOf(await page(server, feed))).toEqual([first, second]);
    });

    it('leaves no gap if it is rolled back', async () => {
      const feed = await pullDestination(server);
      const [first] = (await offer(server, feed, 1)) as [string];
      const { next_cursor: cursor } = await page(server, feed);
      await begin(first);
      const second = await send(server, feed);
      expect((await page(server, feed, { cursor })).data).toEqual([]);

      await other.query('rollback');

      await until(
        () => page(server, feed),
        ({ data }) => data.length === 1,
        WITHIN_MS,
      );
      expect(messagesOf(await page(server, feed))).toEqual([second]);
    });

    it('delays nothing if it writes nothing', async () => {
      const feed = await pullDestination(server);
      await other.query('begin isolation level repeatable read');
      await other.query('select count(*) from events');

      const messageId = await send(server, feed);

      expect(messagesOf(await page(server, feed, { wait: 20 }))).toEqual([messageId]);
    });

    it('delays nothing in another database of the PostgreSQL server, and its end moves nothing back', async () => {
      const feed = await pullDestination(server);
      const neighbour = await beginElsewhere();
      try {
        const messageId = await send(server, feed);
        const { data, next_cursor: cursor } = await page(server, feed, { wait: 20 });
        await ack(server, feed, cursor);

        expect(messagesOf({ data, next_cursor: cursor })).toEqual([messageId]);
        expect(await page(server, feed, { cursor })).toEqual({ data: [], next_cursor: expect.any(String) });
      } finally {
        await neighbour.end();
      }
      const later = await offer(server, feed, 1);
      expect(messagesOf(await page(server, feed))).toEqual(later);
    });
  });

  it('a consumer that pulls during a thousand concurrent sends gets each exactly once', async () => {
    const feed = await pullDestination(server);
    const sent: string[] = [];
    const senders = Array.from({ length: 20 }, async () => {
      for (let i = 0; i < 50; i += 1) sent.push(await send(server, feed));
    });

    const seen: string[] = [];
    for (let cursor: string | null = null; seen.length < 1_000;) {
      const read = await page(server, feed, { cursor, limit: 100, wait: 20 });
      seen.push(...messagesOf(read));
      cursor = read.next_cursor;
    }
    await Promise.all(senders);

    expect([...seen].sort()).toEqual([...sent].sort());
  });

  it('a replayed event is appended to the feed again, marked as a replay, with the same webhook-id', async () => {
    const feed = await pullDestination(server);
    const [first, second] = (await offer(server, feed, 2)) as [string, string];

    expectStatus(await server.api('POST', `/v1/events/${first}/replay`), 202);

    const { data } = await arrived(server, feed, 3);
    expect(data.map(({ webhook_id: id, replayed }) => [id, replayed])).toEqual([
      [first, false],
      [second, false],
      [first, true],
    ]);
    expect(data[2].payload).toEqual(data[0].payload);
    expect(data[2].timings).toMatchObject({ edge_at: data[0].timings.edge_at });
    expect(data[2].timings.processed_at).toBeGreaterThanOrEqual(data[0].timings.processed_at);
  });

  it('a batch ends before 4 MB of payload, and the next one continues after it', async () => {
    const feed = await pullDestination(server);
    const payload = { text: 'x'.repeat(1_000_000) };
    const sent: string[] = [];
    for (let i = 0; i < 6; i += 1) sent.push(await send(server, feed, { payload }));
    await until(
      async () => messagesOf(await page(server, feed)),
      (ids) => ids.length >= 4,
      WITHIN_MS,
    );
    const first = await page(server, feed);

    const second = await until(
      () => page(server, feed, { cursor: first.next_cursor }),
      ({ data }) => data.length >= 2,
      WITHIN_MS,
    );

    expect([messagesOf(first), messagesOf(second)]).toEqual([sent.slice(0, 4), sent.slice(4)]);
  });

  it('an event past its retention is gone, and does not block later ones', async () => {
    const feed = await pullDestination(server);
    const sent = await offer(server, feed, 3);
    await sql.rows('delete from events where id = any ($1)', [sent.slice(0, 2).map(uuidOf)]);

    const read = await page(server, feed, { limit: 1 });
    await ack(server, feed, read.next_cursor);

    expect(messagesOf(read)).toEqual(sent.slice(2));
    expect((await page(server, feed)).data).toEqual([]);
  });

  it('after a restore into another cluster with lower transaction ids, new items follow the existing ones', async () => {
    const feed = await pullDestination(server);
    const before = await offer(server, feed, 3);
    await ack(server, feed, (await page(server, feed, { limit: 1 })).next_cursor);
    const { next_cursor: cursor } = await page(server, feed, { limit: 1 });
    // Simulates that the existing items came from a cluster with higher transaction ids.
    await sql.rows('update pull_items set xid = xid + 1000000000000');
    await sql.rows('update pull_positions set xid = xid + 1000000000000');
    await sql.rows('insert into cluster_epochs (epoch, system_identifier, timeline_id) values (2, 1, 1)');

    const after = await send(server, feed);

    const { data, next_cursor: later } = await arrived(server, feed, 3);
    expect(messagesOf({ data, next_cursor: later })).toEqual([...before.slice(1), after]);
    expectRefusal(await pull(server, feed, { cursor }), 400);
    await ack(server, feed, later);
    expect((await page(server, feed)).data).toEqual([]);
  });

  it('400: a cursor that is ahead of a database restored to an earlier time', async () => {
    const feed = await pullDestination(server);
    await offer(server, feed, 2);
    const { next_cursor: cursor } = await page(server, feed);
    const [current] = await sql.rows<{ epoch: number }>('select max(epoch) as epoch from cluster_epochs');
    await sql.rows('update cluster_epochs set epoch = -1 where epoch = $1', [current?.epoch]);

    const answers = [await pull(server, feed, { cursor }), await ack(server, feed, cursor)];
    // Repairs the database for later tests: gives the current state of the database an epoch above that of the cursor.
    await sql.rows('delete from cluster_epochs where epoch = -1');
    await sql.rows('update cluster_epochs set epoch = $1 where epoch = (select max(epoch) from cluster_epochs)', [
      (current?.epoch ?? 0) + 1,
    ]);

    for (const answer of answers) expectRefusal(answer, 400);
    expect(await page(server, feed)).toMatchObject({ data: [{}, {}] });
  });

  it('the consumer in docs/pull.md handles every message, and resumes after a restart', async () => {
    const feed = await pullDestination(server);
    const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-pull-'));
    const program = path.join(folder, 'consumer.mjs');
    writeFileSync(program, /```js\n(.*?)```/s.exec(readFileSync(DOCUMENT, 'utf8'))?.[1] ?? '');
    const env = {
      PATH: process.env['PATH'],
      POSTHORN_URL: server.url,
      POSTHORN_KEY: server.apiKey,
      POSTHORN_FEED: feed,
    };
    /** Runs the consumer until it has written `count` lines, and returns them. */
    const consume = async (count: number): Promise<string[]> => {
      const consumer = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
      let text = '';
      consumer.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      try {
        await until(
          async () => text.split('\n').length - 1,
          (lines) => lines >= count,
          WITHIN_MS,
        );
        // Waits for the consumer's next call, which commits the messages that it handled and then waits for more.
        await untilWaiting(server, 1);
      } finally {
        consumer.kill('SIGKILL');
      }
      await untilWaiting(server, 0);
      return text.split('\n').slice(0, -1);
    };

    try {
      const sent = await offer(server, feed, 3);
      expect(await consume(3)).toEqual(sent.map((id, i) => `${id} test.sent { i: ${i} }`));
      const more = await offer(server, feed, 2);
      expect(await consume(2)).toEqual(more.map((id, i) => `${id} test.sent { i: ${i} }`));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('metrics count the items read', async () => {
    const count = async (): Promise<number> =>
      Number(/^posthorn_pull_items_read_total (\d+)$/m.exec(await (await fetch(`${server.url}/metrics`)).text())?.[1]);
    const feed = await pullDestination(server);
    await offer(server, feed, 2);
    const before = await count();

    await page(server, feed);

    expect(await count()).toBe(before + 2);
  });
});
