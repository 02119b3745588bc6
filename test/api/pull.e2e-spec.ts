import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { ack, arrived, endpointTo, messagesOf, offer, page, pull, pullDestination, receivedBy } from './pulling.js';
import type { Sql, Targets } from './scene.js';
import { destinationAt, eventOf, expectStatus, openSql, send, startTargets, uuidOf } from './scene.js';

const UNKNOWN = '01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

describe('pull', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer();
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  describe('GET /v1/pull', () => {
    it('200: every pull destination with its pending items, and the endpoints that were pulled by their own id; in pages', async () => {
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
      const own: PosthornServer = {
        ...server,
        api: (method, path, body, headers) => server.api(method, path, body, { ...as(key), ...headers }),
      };
      const list = async (query = ''): Promise<ApiAnswer['json']> =>
        expectStatus(await own.api('GET', `/v1/pull${query}`), 200).json;
      expect(await list()).toEqual({ data: [], next_cursor: null });
      await destinationAt(own, targets.open().url);
      const [first, second] = [await pullDestination(own), await pullDestination(own)];
      const sent = await offer(own, first, 4);
      const endpoint = await endpointTo(own, first);
      await receivedBy(sql, endpoint, sent.slice(2));
      await ack(own, first, (await page(own, first, { limit: 1 })).next_cursor);
      await ack(own, endpoint, (await page(own, endpoint, { limit: 1 })).next_cursor);

      const all = await list();

      const events = sent.map((id) => id.replace('msg', 'evt'));
      const [untouched, of, mine] = all.data;
      expect(untouched).toEqual({
        destination: second,
        name: 'Warehouse',
        status: 'active',
        endpoint: null,
        committed_through: null,
        committed_at: null,
        backlog: { count: 0, is_capped: false, oldest_event: null, oldest_at: null },
      });
      expect(of).toMatchObject({
        destination: first,
        endpoint: null,
        committed_through: events[0],
        committed_at: expect.stringMatching(TIMESTAMP),
      });
      expect(of.backlog).toEqual({
        count: 3,
        is_capped: false,
        oldest_event: events[1],
        oldest_at: expect.stringMatching(TIMESTAMP),
      });
      expect(mine).toMatchObject({
        destination: first,
        endpoint,
        committed_through: events[2],
        backlog: { count: 1, oldest_event: events[3] },
      });
      expect([all.data.length, all.next_cursor]).toEqual([3, null]);
      const paged: unknown[] = [];
      for (let cursor = ''; ;) {
        const { data, next_cursor: next } = await list(`?limit=1${cursor}`);
        paged.push(...data);
        if (next === null) break;
        cursor = `&cursor=${next}`;
      }
      expect(paged).toEqual(all.data);
    });

    it('200: more than a thousand pending items are not counted', async () => {
      const feed = await pullDestination(server);
      await offer(server, feed, 1);
      await sql.rows(
        `
        insert into pull_items select environment_id, target_id, epoch, xid, gen_random_uuid(), 0, expires_on, null, false from pull_items, generate_series(1, 1000)
        where target_id = $1`,
        [uuidOf(feed)],
      );

      const { data } = expectStatus(await server.api('GET', '/v1/pull'), 200).json;

      expect(data.find(({ destination }: { destination: string }) => destination === feed).backlog).toMatchObject({
        count: 1_000,
        is_capped: true,
      });
    });
  });

  describe('GET /v1/pull/{endpoint}', () => {
    it('200: an item contains the event with its timings, no attempts, and the payload byte for byte', async () => {
      const feed = await pullDestination(server);
      const payload = '{"n": 12345678901234567890, "one":1.0,"é":"\\u00e9"}';
      const body = `{"destination":"${feed}","event_type":"invoice.paid","headers":{"X-Tenant":"42"},"payload":${payload}}`;
      const sentMs = Date.now();
      const { message_id: messageId } = expectStatus(await server.api('POST', '/v1/send', body), 202).json;
      await arrived(server, feed, 1);

      const answer = await pull(server, feed);

      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(answer.text).toContain(`"payload":${payload}}`);
      expect(answer.json).toEqual({
        data: [
          {
            id: messageId.replace('msg', 'evt'),
            method: null,
            path: null,
            query: null,
            webhook_id: messageId,
            event_type: 'invoice.paid',
            endpoint: null,
            status: 'delivered',
            received_at: expect.stringMatching(TIMESTAMP),
            headers: { 'x-tenant': '42' },
            replayed: false,
            attempts: [],
            payload_encoding: 'json',
            payload: expect.objectContaining({ one: 1 }),
            timings: {
              edge_at: expect.any(Number),
              stored_at: expect.any(Number),
              processed_at: expect.any(Number),
              consumed_at: expect.any(Number),
            },
          },
        ],
        next_cursor: expect.any(String),
      });
      const { timings, received_at: receivedAt } = answer.json.data[0];
      const inOrder = [
        sentMs,
        timings.edge_at,
        timings.stored_at,
        timings.processed_at,
        timings.consumed_at,
        Date.now(),
      ];
      expect(inOrder).toEqual([...inOrder].sort((a, b) => a - b));
      expect(Date.parse(receivedAt)).toBe(timings.edge_at);
      expect((await eventOf(server, messageId)).status).toBe('delivered');
    });

    it('200: events are in the order of acceptance, over pages, each once', async () => {
      const feed = await pullDestination(server);
      const sent = await offer(server, feed, 7);

      const [first, second, third, rest] = [[] as string[], [] as string[], [] as string[], [] as string[]];
      let cursor: string | null = null;
      for (const into of [first, second, third, rest]) {
        const read = await page(server, feed, { cursor, limit: 3 });
        into.push(...messagesOf(read));
        cursor = read.next_cursor;
      }

      expect([first, second, third, rest]).toEqual([sent.slice(0, 3), sent.slice(3, 6), sent.slice(6), []]);
    });

    it('200: without a cursor, the same batch is returned until its next_cursor commits it, including the last batch', async () => {
      const feed = await pullDestination(server);
      const sent = await offer(server, feed, 3);
      const first = await page(server, feed, { limit: 2 });
      expect(messagesOf(await page(server, feed, { limit: 2 }))).toEqual(messagesOf(first));

      const last = await page(server, feed, { cursor: first.next_cursor });
      expect(messagesOf(last)).toEqual(sent.slice(2));
      expect(messagesOf(await page(server, feed))).toEqual(sent.slice(2));
      const end = await page(server, feed, { cursor: last.next_cursor });

      expect([end.data, end.next_cursor]).toEqual([[], expect.any(String)]);
      expect(await page(server, feed)).toEqual({ data: [], next_cursor: expect.any(String) });
      const later = await offer(server, feed, 1);
      expect(messagesOf(await page(server, feed, { cursor: end.next_cursor }))).toEqual(later);
    });

    it('200: empty, with next_cursor null, if there never was an item', async () => {
      expect(await page(server, await pullDestination(server))).toEqual({ data: [], next_cursor: null });
    });

    it('200: fifty items by default, at most a hundred', async () => {
      const feed = await pullDestination(server);
      await Promise.all(Array.from({ length: 101 }, () => send(server, feed)));
      await arrived(server, feed, 100);

      const [some, most] = [await page(server, feed), await page(server, feed, { limit: 100 })];

      expect([some.data.length, most.data.length]).toEqual([50, 100]);
      expect(messagesOf(most).slice(0, 50)).toEqual(messagesOf(some));
      expect((await page(server, feed, { cursor: most.next_cursor, wait: 20 })).data).toHaveLength(1);
    });

    it('200: two consumers each continue from their own cursor, and the committed position never moves back', async () => {
      const feed = await pullDestination(server);
      const sent = await offer(server, feed, 6);
      const [fast, slow] = [await page(server, feed, { limit: 2 }), await page(server, feed, { limit: 1 })];
      const ahead = await page(server, feed, { cursor: fast.next_cursor, limit: 2 });
      const further = await page(server, feed, { cursor: ahead.next_cursor, limit: 1 });

      const behind = await page(server, feed, { cursor: slow.next_cursor, limit: 2 });

      expect([messagesOf(ahead), messagesOf(further)]).toEqual([sent.slice(2, 4), sent.slice(4, 5)]);
      expect(messagesOf(behind)).toEqual(sent.slice(1, 3));
      expect(messagesOf(await page(server, feed))).toEqual(sent.slice(4));
    });

    it('200: concurrent consumers with one cursor all get the same items', async () => {
      const feed = await pullDestination(server);
      const sent = await offer(server, feed, 4);
      const { next_cursor: cursor } = await page(server, feed, { limit: 2 });

      const pages = await Promise.all(Array.from({ length: 10 }, () => page(server, feed, { cursor })));

      expect(pages.map(messagesOf)).toEqual(Array(10).fill(sent.slice(2)));
    });

    it('200: a key of scope read can continue by its cursor and commits nothing; 401 without a key', async () => {
      const feed = await pullDestination(server);
      const [messageId, second] = await offer(server, feed, 2);
      const { key } = await createKey(server, { scope: 'read' });

      const read = expectStatus(await pull(server, feed, { limit: 1 }, as(key)), 200).json;

      expect(messagesOf(read)).toEqual([messageId]);
      expect(
        messagesOf(expectStatus(await pull(server, feed, { cursor: read.next_cursor }, as(key)), 200).json),
      ).toEqual([second]);
      expectRefusal(await server.api('POST', `/v1/pull/${feed}/ack`, { cursor: read.next_cursor }, as(key)), 403);
      expect(messagesOf(await page(server, feed))).toEqual([messageId, second]);
      expectRefusal(await pull(server, feed, {}, as('nobody')), 401);
    });

    it.each([
      ['limit=0'],
      ['limit=101'],
      ['limit=-1'],
      ['limit=1.5'],
      ['limit=ten'],
      ['limit='],
      ['limit=5&limit=6'],
      ['wait=21'],
      ['wait=-1'],
      ['wait=0.5'],
      ['wait=long'],
      ['cursor='],
      ['cursor=garbage'],
      ['cursor=a.b'],
      ['cursor=W10.AAAAAAAAAAAAAAAAAAAAAA'],
      ['cursor=', 'a'.repeat(1025)],
    ])('400: %s', async (start, more = '') => {
      const feed = await pullDestination(server);

      expectRefusal(await server.api('GET', `/v1/pull/${feed}?${start}${more}`), 400);
    });

    it('400: a cursor of another feed, of another list, and an altered one', async () => {
      const [feed, other] = [await pullDestination(server), await pullDestination(server)];
      await offer(server, feed, 1);
      const { next_cursor: cursor } = await page(server, feed);
      await Promise.all([send(server, other), send(server, other)]);
      const { next_cursor: listed } = expectStatus(await server.api('GET', '/v1/events?limit=1'), 200).json;

      for (const bad of [listed, `${cursor}A`, `A${cursor}`])
        expectRefusal(await pull(server, feed, { cursor: bad }), 400);
      expectRefusal(await pull(server, other, { cursor }), 400);
      expectRefusal(await ack(server, other, cursor), 400);
      expect((await page(server, feed)).data).toHaveLength(1);
    });

    it('404: an invalid id, and a feed that is unknown, deleted, or of the other environment', async () => {
      const feed = await pullDestination(server);
      await offer(server, feed, 1);
      const { next_cursor: cursor } = await page(server, feed);
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });

      for (const path of ['nothing', `dst_${UNKNOWN}`, `ep_${UNKNOWN}`, `evt_${UNKNOWN}`]) {
        expectRefusal(await pull(server, path), 404);
        expectRefusal(await ack(server, path, cursor), 404);
      }
      expectRefusal(await pull(server, feed, { cursor }, as(key)), 404);
      expectStatus(await server.api('DELETE', `/v1/destinations/${feed}`), 204);
      expectRefusal(await pull(server, feed), 404);
    });

    it('409: a destination that is not of type pull', async () => {
      expectRefusal(await pull(server, await destinationAt(server, targets.open().url)), 409);
    });
  });

  describe('POST /v1/pull/{endpoint}/ack', () => {
    it('200: commits without reading, and a repetition changes nothing', async () => {
      const feed = await pullDestination(server);
      const sent = await offer(server, feed, 3);
      const { next_cursor: cursor } = await page(server, feed, { limit: 2 });

      const answers = [await ack(server, feed, cursor), await ack(server, feed, cursor)];

      for (const answer of answers)
        expect(expectStatus(answer, 200).json).toEqual({ committed_through: sent[1]?.replace('msg', 'evt') });
      expect(messagesOf(await page(server, feed))).toEqual(sent.slice(2));
    });

    it('200: a commit of an already committed cursor returns the current position, and does not move it back', async () => {
      const feed = await pullDestination(server);
      const sent = await offer(server, feed, 3);
      const [one, all] = [await page(server, feed, { limit: 1 }), await page(server, feed)];
      await ack(server, feed, all.next_cursor);

      const answer = await ack(server, feed, one.next_cursor);

      expect(expectStatus(answer, 200).json).toEqual({ committed_through: sent[2]?.replace('msg', 'evt') });
      expect((await page(server, feed)).data).toEqual([]);
    });

    it('422: no cursor, or one that is not a string; 400: an invalid one', async () => {
      const feed = await pullDestination(server);

      expectInvalid(await server.api('POST', `/v1/pull/${feed}/ack`, {}), 'schema', 'cursor');
      expectInvalid(await ack(server, feed, 5), 'schema', 'cursor');
      expectRefusal(await ack(server, feed, 'garbage'), 400);
    });
  });

  describe('pull by inbound endpoint', () => {
    it('200: contains only the items of the endpoint, and its position is separate from that of the destination', async () => {
      const feed = await pullDestination(server);
      const endpoint = await endpointTo(server, feed, await destinationAt(server, targets.open().url));
      const sent = await offer(server, feed, 5);
      const own = [sent[1], sent[3], sent[4]] as string[];
      await receivedBy(sql, endpoint, own);

      const first = await page(server, endpoint, { limit: 2 });
      const second = await page(server, endpoint, { cursor: first.next_cursor });

      expect([messagesOf(first), messagesOf(second)]).toEqual([own.slice(0, 2), own.slice(2)]);
      expectRefusal(await pull(server, feed, { cursor: first.next_cursor }), 400);
      expect(messagesOf(await page(server, feed))).toEqual(sent);
      const { next_cursor: cursor } = await page(server, feed);
      await ack(server, feed, cursor);
      expect(messagesOf(await page(server, endpoint))).toEqual(own.slice(2));
    });

    it("200: a provider's request contains the endpoint's path, and its body as JSON unchanged, as text, or as base64", async () => {
      const feed = await pullDestination(server);
      const endpoint = await endpointTo(server, feed);
      const { url, path } = expectStatus(await server.api('GET', `/v1/endpoints/${endpoint}`), 200).json;
      const receiveUrl = server.url + new URL(url).pathname;
      const bodies = ['{"n": 12345678901234567890}', 'a=1&b=2', Buffer.from([0xff, 0, 1])];
      const ids: string[] = [];
      for (const body of bodies) {
        const answer = await fetch(receiveUrl, {
          method: 'POST',
          headers: { 'content-type': 'application/octet-stream' },
          body,
        });
        expect(answer.status).toBe(200);
        ids.push(((await answer.json()) as { id: string }).id);
      }
      await arrived(server, endpoint, 3);

      const { text, json } = await pull(server, endpoint);

      expect(text).toContain(`"payload_encoding":"json","payload":${bodies[0]?.toString()}}`);
      expect(json.data).toMatchObject(
        [
          { payload_encoding: 'json' },
          { payload_encoding: 'text', payload: 'a=1&b=2' },
          { payload_encoding: 'base64', payload: '/wAB' },
        ].map((shown, i) => ({
          ...shown,
          id: ids[i],
          webhook_id: ids[i],
          endpoint: path,
          attempts: [],
          replayed: false,
        })),
      );
      expect(messagesOf(await page(server, feed))).toEqual(ids);
    });

    it('200: finds its events behind thousands of others, which are skipped permanently', async () => {
      const feed = await pullDestination(server);
      const [endpoint, quiet] = [await endpointTo(server, feed), await endpointTo(server, feed)];
      await offer(server, feed, 1);
      await sql.rows(`
        insert into pull_items (environment_id, target_id, epoch, xid, event_id, ordinal, expires_on, replayed)
        select p.environment_id, p.target_id, p.epoch, pg_current_xact_id()::text::bigint, gen_random_uuid(), 0, p.expires_on, false
        from (select * from pull_items order by epoch desc, xid desc limit 1) p, generate_series(1, 12000)`);
      const own = await send(server, feed);
      await receivedBy(sql, endpoint, [own]);

      const found = await page(server, endpoint, { wait: 20 });
      const nothing = await page(server, quiet);

      expect(messagesOf(found)).toEqual([own]);
      expect(nothing).toEqual({ data: [], next_cursor: expect.any(String) });
      const [position] = await sql.rows(`
        select (select count(*)::int from pull_items i where i.target_id = p.target_id and (i.epoch, i.xid) > (p.epoch, p.xid)) as behind
        from pull_positions p order by committed_at desc limit 1`);
      expect(position).toEqual({ behind: expect.any(Number) });
      expect(Number(position?.['behind'])).toBeLessThanOrEqual(1);
    });

    it('409: an endpoint with no pull destination, and one with two', async () => {
      const [feed, other] = [await pullDestination(server), await pullDestination(server)];
      const sentTo = await destinationAt(server, targets.open().url);

      for (const destinations of [[], [sentTo], [feed, other]]) {
        expectRefusal(await pull(server, await endpointTo(server, ...destinations)), 409);
      }
    });
  });
});
