import { randomBytes } from 'node:crypto';
import type { DeliveryStatus } from '../../src/engine/event-status.js';
import { foldStatus } from '../../src/engine/event-status.js';
import { idFromBytes, showId } from '../../src/kernel/ids.js';
import { ulidBytes } from '../../src/kernel/ulid.js';
import { WINDOW_ROWS } from '../../src/modules/events/event-lists.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectRefusal } from './answers.js';
import { until } from './polling.js';
import type { Sql, Targets } from './scene.js';
import {
  destinationAt,
  eventAfter,
  eventIn,
  eventOf,
  expectStatus,
  makeDue,
  openSql,
  RARE_RETRIES,
  send,
  startTargets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';

const STATUSES = ['delivered', 'failed', 'retrying', 'dlq'] as const;
const ANSWERS = { delivered: 200, failed: 410, retrying: 503, dlq: 500 };
const DAY_MS = 86_400_000;
const dateIn = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

interface Item {
  id: string;
  event_type: string;
  status: string;
  destination: string;
  message_id: string;
  received_at: string;
}

describe('events', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer({ RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' });
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  const page = async (
    query: Record<string, string>,
    path = '/v1/events',
  ): Promise<{ data: Item[]; next_cursor: string | null }> =>
    expectStatus(await server.api('GET', `${path}?${new URLSearchParams(query)}`), 200).json;

  describe('GET /v1/events', () => {
    /** Sent events, newest first. */
    let sent: Item[];
    let destinations: string[];

    beforeAll(async () => {
      const newDestination = (status: keyof typeof ANSWERS): Promise<string> => {
        const target = targets.open(() => ({ status: ANSWERS[status] }));
        return destinationAt(
          server,
          target.url,
          status === 'dlq' ? { ...RARE_RETRIES, retry: { max_attempts: 1 } } : RARE_RETRIES,
        );
      };
      sent = [];
      for (let round = 0; round < 2; round += 1) {
        for (const status of STATUSES) {
          const destination = await newDestination(status);
          for (const eventType of ['invoice.paid', 'invoice.void']) {
            // The answer 410 disables the destination, so a second send would be rejected.
            if (status === 'failed' && eventType === 'invoice.void') continue;
            const messageId = await send(server, destination, { event_type: eventType });
            // Waits for the first attempt, because an event without an attempt is also `retrying`.
            await eventAfter(server, messageId, 1);
            const event = await eventIn(server, messageId, status);
            const { id, event_type, destination: where, message_id, received_at } = event;
            sent.unshift({ id, event_type, status, destination: where, message_id, received_at });
          }
        }
      }
      destinations = [...new Set(sent.map(({ destination }) => destination))];
    });

    it('lists every event, newest first, with the fields of the specification', async () => {
      const { data, next_cursor: next } = await page({});

      expect(data).toEqual(
        sent.map((item) => ({
          ...item,
          endpoint: null,
          attempt_count: 1,
          last_attempt: {
            status: ANSWERS[item.status as keyof typeof ANSWERS],
            error: null,
            at: expect.stringMatching(/Z$/),
          },
          next_attempt_at: item.status === 'retrying' ? expect.stringMatching(/Z$/) : null,
        })),
      );
      expect(next).toBeNull();
      expect(data.map(({ id }) => id)).toEqual(
        data
          .map(({ id }) => id)
          .sort()
          .reverse(),
      );
      for (const { id, message_id } of data) expect(message_id.slice(4)).toBe(id.slice(4));
    });

    it('lists events by every combination of status, endpoint, type, message and time', async () => {
      const middle = sent[7] as Item;
      const times: Record<string, string>[] = [
        {},
        { since: middle.received_at },
        { until: middle.received_at },
        { since: middle.received_at, until: (sent[3] as Item).received_at },
      ];
      const messages: Record<string, string>[] = [{}, { message_id: middle.message_id }];
      let asked = 0;
      for (const status of [undefined, ...STATUSES]) {
        for (const endpoint of [undefined, ...destinations]) {
          for (const type of [undefined, 'invoice.paid', 'invoice']) {
            for (const time of times) {
              for (const message of messages) {
                const query = {
                  ...time,
                  ...message,
                  ...(status && { status }),
                  ...(endpoint && { endpoint }),
                  ...(type && { event_type: type }),
                };
                const expected = sent.filter(
                  (item) =>
                    (status === undefined || item.status === status) &&
                    (endpoint === undefined || item.destination === endpoint) &&
                    (type === undefined || item.event_type === type) &&
                    (time['since'] === undefined || item.received_at >= time['since']) &&
                    (time['until'] === undefined || item.received_at <= time['until']) &&
                    (message['message_id'] === undefined || item.message_id === message['message_id']),
                );

                const { data } = await page(query);

                expect({ query, ids: data.map(({ id }) => id) }).toEqual({ query, ids: expected.map(({ id }) => id) });
                asked += 1;
              }
            }
          }
        }
      }
      expect(asked).toBe(5 * 9 * 3 * 4 * 2);
    });

    it('200: several statuses, separated by commas or in repeated parameters, alone and with a destination and a type', async () => {
      const subsets = STATUSES.flatMap((a, i) =>
        STATUSES.slice(i + 1).flatMap((b, j) => [[a, b], ...STATUSES.slice(i + j + 2).map((c) => [a, b, c])]),
      );
      for (const states of subsets) {
        for (const destination of [undefined, ...destinations.slice(0, 4)]) {
          for (const type of [undefined, 'invoice.paid']) {
            const rest = new URLSearchParams({
              ...(destination && { destination }),
              ...(type && { event_type: type }),
            });
            const expected = sent.filter(
              (item) =>
                (states as string[]).includes(item.status) &&
                (destination === undefined || item.destination === destination) &&
                (type === undefined || item.event_type === type),
            );

            const once = expectStatus(await server.api('GET', `/v1/events?status=${states.join()}&${rest}`), 200).json;
            const twice = expectStatus(
              await server.api('GET', `/v1/events?${states.map((each) => `status=${each}&`).join('')}${rest}`),
              200,
            ).json;
            const count = expectStatus(
              await server.api('GET', `/v1/events/count?status=${states.join()}&${rest}`),
              200,
            ).json;

            expect({ states, ids: once.data.map(({ id }: Item) => id) }).toEqual({
              states,
              ids: expected.map(({ id }) => id),
            });
            expect(twice).toEqual(once);
            expect(count).toEqual({ count: expected.length, is_capped: false });
          }
        }
      }
      const all = await page({ status: [...STATUSES, 'quarantined', 'parked', 'ignored'].join() });
      expect(all.data.map(({ id }) => id)).toEqual(sent.map(({ id }) => id));
      expect((await page({ status: 'dlq,parked,ignored' })).data.map(({ status }) => status)).toEqual(
        sent.filter(({ status }) => status === 'dlq').map(({ status }) => status),
      );
    });

    it('200: by direction, and by the error of the last attempt', async () => {
      const idsOf = async (query: Record<string, string>): Promise<string[]> =>
        (await page(query)).data.map(({ id }) => id);
      const having = (...states: string[]): string[] =>
        sent.filter(({ status }) => states.includes(status)).map(({ id }) => id);

      expect(await idsOf({ direction: 'outbound' })).toEqual(sent.map(({ id }) => id));
      expect(await idsOf({ direction: 'inbound' })).toEqual([]);
      expect(await idsOf({ error: '5xx' })).toEqual(having('retrying', 'dlq'));
      expect(await idsOf({ error: '4xx' })).toEqual(having('failed'));
      expect(await idsOf({ error: '5xx', status: 'dlq,failed,delivered', direction: 'outbound' })).toEqual(
        having('dlq'),
      );
      expect(await idsOf({ error: 'timeout' })).toEqual([]);
      expect(await idsOf({ error: '5xx', status: 'delivered' })).toEqual([]);
      expect(expectStatus(await server.api('GET', '/v1/events/count?error=5xx'), 200).json).toEqual({
        count: having('retrying', 'dlq').length,
        is_capped: false,
      });
    });

    it('200: by the exact status of the last response, alone and with an error class and states', async () => {
      const idsOf = async (query: Record<string, string>): Promise<string[]> =>
        (await page(query)).data.map(({ id }) => id);
      const having = (state: string): string[] => sent.filter(({ status }) => status === state).map(({ id }) => id);

      for (const [state, answer] of Object.entries(ANSWERS)) {
        const query = { response_status: String(answer) };
        expect(await idsOf(query)).toEqual(having(state));
        expect(await idsOf({ ...query, status: STATUSES.join() })).toEqual(having(state));
        expect(await idsOf({ ...query, status: state, event_type: 'none' })).toEqual([]);
        expect(await idsOf({ ...query, error: 'timeout' })).toEqual([]);
        expect(
          expectStatus(await server.api('GET', `/v1/events/count?${new URLSearchParams(query)}`), 200).json,
        ).toEqual({ count: having(state).length, is_capped: false });
      }
      const dlq = String(ANSWERS.dlq);
      expect(await idsOf({ response_status: dlq, error: '5xx' })).toEqual(having('dlq'));
      expect(await idsOf({ response_status: dlq, error: '4xx' })).toEqual([]);
      expect(await idsOf({ response_status: dlq, status: 'delivered' })).toEqual([]);
      expect(await idsOf({ response_status: '418' })).toEqual([]);
    });

    it('200: q finds an event by each of its ids, also with other filters, and nothing for any other text', async () => {
      const { id, message_id: messageId, status } = sent[2] as Item;
      for (const q of [id, messageId, `${id}.0`, ` ${id} `, `req_${id.slice(4)}`]) {
        expect((await page({ q })).data.map((item) => item.id)).toEqual([id]);
        expect((await page({ q, status })).data.map((item) => item.id)).toEqual([id]);
        expect((await page({ q, status: status === 'dlq' ? 'failed' : 'dlq' })).data).toEqual([]);
        expect((await page({ q, since: new Date(Date.now() + 60_000).toISOString() })).data).toEqual([]);
      }
      expect((await page({ q: id, message_id: (sent[3] as Item).message_id })).data).toEqual([]);
      for (const q of ['nothing', 'evt_', '%', "' or 1=1", id.slice(0, -1), '\u{1F4EF}'])
        expect(await page({ q })).toEqual({ data: [], next_cursor: null });
    });

    it('200: a filtered page scans a bounded window and returns how far it searched; later pages find rare matches, and the count is marked as capped', async () => {
      const [{ id }] = sent as [Item];
      const [environment] = await sql.rows<{ id: number; expires_on: string }>(
        'select environment_id as id, expires_on::text from events where id = $1',
        [uuidOf(id)],
      );
      const day = Date.parse('2026-01-01T00:00:00Z');
      await sql.rows(
        `
        insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, payload)
        select $1, (lpad(to_hex(${day} + i), 12, '0') || '00000000000000000000')::uuid, $2, $3, case when i = 3 then 'inbound' else 'outbound' end, 'many', 2, '{}'
        from generate_series(1, $4::int) i`,
        [environment?.id, environment?.expires_on, uuidOf('evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'), 2 * WINDOW_ROWS + 100],
      );
      await sql.rows(`
        insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, status, attempts, replayed, superseded, settled_at)
        select environment_id, id, 0, expires_on, target_id, 'failed', 1, false, false, now() from events where event_type = 'many'`);
      const query = { event_type: 'many', direction: 'inbound' };

      const pages: { data: Item[]; next_cursor: string | null; searched_to?: string }[] = [];
      for (
        let cursor: string | null = null;
        pages.length === 0 || cursor !== null;
        cursor = pages.at(-1)?.next_cursor ?? null
      ) {
        pages.push(await page({ ...query, ...(cursor && { cursor }) }));
      }
      const counts = await Promise.all(
        ['event_type=many', 'event_type=many&direction=inbound', 'event_type=many&status=failed'].map(
          async (filter) => expectStatus(await server.api('GET', `/v1/events/count?${filter}`), 200).json,
        ),
      );
      await sql.rows(`delete from deliveries where target_id = $1`, [uuidOf('evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1')]);
      await sql.rows(`delete from events where event_type = 'many'`);

      expect(pages.map(({ data }) => data.length)).toEqual([0, 0, 1]);
      expect(pages.map(({ searched_to: to }) => to)).toEqual([
        new Date(day + WINDOW_ROWS + 100).toISOString(),
        new Date(day + 99).toISOString(),
        undefined,
      ]);
      expect(counts).toEqual([
        { count: 10_000, is_capped: true },
        { count: 0, is_capped: true, searched_to: new Date(day + 100).toISOString() },
        { count: 10_000, is_capped: true },
      ]);
    });

    it('200: a key of the other environment counts no events, and finds none by id', async () => {
      const { key } = await createKey(server, { scope: 'read', environment: 'test' });

      expect((await server.api('GET', '/v1/events/count', undefined, as(key))).json).toEqual({
        count: 0,
        is_capped: false,
      });
      for (const query of [
        `q=${(sent[0] as Item).id}`,
        `q=${(sent[0] as Item).message_id}`,
        'status=dlq,failed',
        'error=5xx',
        `response_status=${ANSWERS.dlq}`,
        'direction=outbound',
      ]) {
        expect((await server.api('GET', `/v1/events?${query}`, undefined, as(key))).json).toEqual({
          data: [],
          next_cursor: null,
        });
      }
    });

    it.each<Record<string, string>>([{}, { event_type: 'paged' }, { status: 'retrying', event_type: 'paged' }])(
      'pages through %j without gaps or repetitions while new events arrive',
      async (filter) => {
        const target = targets.open(() => ({ status: 503 }));
        const destination = await destinationAt(server, target.url, RARE_RETRIES);
        const more = (): Promise<string> => send(server, destination, { event_type: 'paged' });
        for (let i = 0; i < 7; i += 1) await more();
        const before = (await page({ ...filter, limit: '100' })).data.map(({ id }) => id);

        const seen: string[] = [];
        let cursor: string | null = null;
        do {
          const { data, next_cursor: next }: { data: Item[]; next_cursor: string | null } = await page({
            ...filter,
            limit: '3',
            ...(cursor && { cursor }),
          });
          expect(data.length).toBeLessThanOrEqual(3);
          seen.push(...data.map(({ id }) => id));
          cursor = next;
          await more();
        } while (cursor !== null);

        expect(seen).toEqual(before);
      },
    );

    it('200: pages for one destination behind a backlog of others may be empty, but have no gaps or repetitions', async () => {
      const target = targets.open(() => ({ status: 503 }));
      const destination = await destinationAt(server, target.url, RARE_RETRIES);
      const events: string[] = [];
      const settle = async (): Promise<void> =>
        void events.unshift((await eventAfter(server, await send(server, destination), 1)).id as string);
      const backlog = (rows: number): Promise<unknown> =>
        sql.rows(
          `
        insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, due_at, parked, attempts, attempts_used, replayed, superseded)
        select environment_id, (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || substr(md5(random()::text || i), 1, 20))::uuid, 9,
               expires_on, target_id, now() + interval '1 day', false, 0, 0, false, false
        from due_deliveries, generate_series(1, $1::int) i where event_id = $2 and ordinal = 0`,
          [rows, uuidOf(events[0] as string)],
        );
      await settle();
      await backlog(WINDOW_ROWS);
      await settle();
      await backlog(2 * WINDOW_ROWS + 7);

      const pages: string[][] = [];
      for (let cursor: string | null = null; pages.length === 0 || cursor !== null;) {
        const answer: { data: Item[]; next_cursor: string | null } = await page({
          destination,
          status: 'retrying',
          limit: '2',
          ...(cursor && { cursor }),
        });
        pages.push(answer.data.map(({ id }) => id));
        cursor = answer.next_cursor;
      }
      await sql.rows('delete from due_deliveries where ordinal = 9');

      expect(pages.flat()).toEqual(events);
      expect(pages[0]).toEqual([]);
      expect(pages.length).toBeGreaterThan(3);
    });

    it('200: by the ad-hoc URL that was the target', async () => {
      const { url } = targets.open();
      const messageId = await send(server, url);
      await send(server, targets.open().url);

      const { data } = await page({ destination: url });

      expect(data.map(({ message_id: id, destination }) => [id, destination])).toEqual([[messageId, url]]);
      expect((await page({ destination: 'http://10.0.0.1/' })).data).toEqual([]);
    });

    it('200: a filter without matches returns an empty page', async () => {
      for (const query of [
        { event_type: 'nothing' },
        { endpoint: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' },
        { endpoint: 'elsewhere' },
        { message_id: 'msg_none' },
        { since: '2035-01-01T00:00:00Z' },
        { until: '2020-01-01T00:00:00.000+02:00' },
      ] as Record<string, string>[]) {
        expect(await page(query)).toEqual({ data: [], next_cursor: null });
      }
    });

    it.each([
      'status=lost',
      'status=dlq,lost',
      'status=',
      'status=dlq&status=',
      'direction=up',
      'error=2xx',
      'error=',
      'response_status=',
      'response_status=199',
      'response_status=600',
      'response_status=5xx',
      'q=',
      'q=a&q=b',
      'statuses=dlq',
      'since=yesterday',
      'until=2026-13-01T00:00:00Z',
      'limit=0',
      'limit=101',
      'limit=ten',
      'limit=1.5',
      'cursor=abc',
      'cursor=',
    ])('400: %s', async (query) => {
      expectRefusal(await server.api('GET', `/v1/events?${query}`), 400);
    });

    it('400: a cursor of other filters, and a cursor with a changed end', async () => {
      const { next_cursor: cursor } = await page({ limit: '1' });
      const forged = `${cursor?.slice(0, -2)}${cursor?.endsWith('AA') ? 'BB' : 'AA'}`;

      expectRefusal(await server.api('GET', `/v1/events?limit=1&status=dlq&cursor=${cursor}`), 400);
      expectRefusal(await server.api('GET', `/v1/events?limit=1&cursor=${forged}`), 400);
    });

    it('200: a key of the other environment sees no events', async () => {
      const { key } = await createKey(server, { scope: 'read', environment: 'test' });

      expect((await server.api('GET', '/v1/events', undefined, as(key))).json).toEqual({ data: [], next_cursor: null });
      expectRefusal(await server.api('GET', `/v1/events/${(sent[0] as Item).id}`, undefined, as(key)), 404);
    });
  });

  describe('GET /v1/events/{id}', () => {
    it('200: returns the event with payload, headers, deliveries and attempts oldest first, by its evt_ and its msg_ id', async () => {
      const target = targets.open(
        (_post, index) => [{ status: 500, body: 'first' }, { hang: true }, { body: 'third' }][index] ?? {},
      );
      const destination = await destinationAt(server, target.url, { ...RARE_RETRIES, timeout_ms: 300 });
      const messageId = await send(server, destination, {
        event_type: 'a.b',
        payload: { n: 1 },
        headers: { 'X-Tenant': '42' },
      });
      for (const attempts of [1, 2]) {
        await until(
          () => eventOf(server, messageId),
          (event) => event.attempts.length === attempts,
          WITHIN_MS,
        );
        await makeDue(sql, messageId);
      }

      const event = await eventIn(server, messageId, 'delivered');

      const delivery = `evt_${messageId.slice(4)}`;
      const attempt = {
        duration_ms: expect.any(Number),
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        replayed: false,
        delivery: `${delivery}.0`,
        destination,
      };
      expect(event).toEqual({
        id: `evt_${messageId.slice(4)}`,
        message_id: messageId,
        webhook_id: messageId,
        event_type: 'a.b',
        direction: 'outbound',
        endpoint: null,
        status: 'delivered',
        destination,
        received_at: expect.any(String),
        headers: { 'x-tenant': '42' },
        payload: { n: 1 },
        payload_encoding: 'json',
        deliveries: [
          {
            id: `${delivery}.0`,
            destination,
            status: 'delivered',
            next_attempt_at: null,
            circuit: null,
            reason: null,
            replayed: false,
          },
        ],
        attempts: [
          { number: 1, status: 500, response_excerpt: 'first', error: null, ...attempt },
          { number: 2, status: null, response_excerpt: expect.any(String), error: 'timeout', ...attempt },
          { number: 3, status: 200, response_excerpt: 'third', error: null, ...attempt },
        ],
      });
      const times = event.attempts.map(({ at }: { at: string }) => at);
      expect(times).toEqual([...times].sort());
      expect(await eventOf(server, event.id)).toEqual(event);
    });

    it('200: attempts name their delivery and its target, and a replay restarts the count at 1', async () => {
      const target = targets.open((_post, index) => ({ status: index === 0 ? 500 : 200 }));
      const destination = await destinationAt(server, target.url, RARE_RETRIES);
      const messageId = await send(server, destination);
      await until(
        () => eventOf(server, messageId),
        (event) => event.attempts.length === 1,
        WITHIN_MS,
      );
      await makeDue(sql, messageId);
      await eventIn(server, messageId, 'delivered');

      expectStatus(await server.api('POST', `/v1/events/${messageId}/replay`), 202);

      const event = await until(
        () => eventOf(server, messageId),
        ({ attempts }) => attempts.length === 3,
        WITHIN_MS,
      );
      const [first, second] = event.deliveries.map(({ id }: { id: string }) => id);
      expect(
        event.attempts.map(({ delivery, destination: where, number }: Record<string, unknown>) => [
          delivery,
          where,
          number,
        ]),
      ).toEqual([
        [first, destination, 1],
        [first, destination, 2],
        [second, destination, 1],
      ]);
      expect(first).not.toBe(second);
    });

    it('200: a payload over 256 KB is omitted and the response says so; GET …/payload returns all of it', async () => {
      const payload = JSON.stringify({ a: 'x'.repeat(900 * 1024), n: 1 }).replace('"n":1', '"n": 12345678901234567890');
      const body = `{"destination":"${targets.open().url}","event_type":"a","payload":${payload}}`;
      const messageId = expectStatus(await server.api('POST', '/v1/send', body), 202).json.message_id as string;

      const event = await eventIn(server, messageId, 'delivered');
      const whole = await server.api('GET', `/v1/events/${messageId}/payload`);

      expect(event.payload_truncated).toBe(true);
      expect(event).not.toHaveProperty('payload');
      expect(expectStatus(whole, 200).text).toBe(payload);
      expect(whole.headers.get('content-type')).toBe('application/json; charset=utf-8');
    });

    it('404: the payload of an event that does not exist, belongs to another environment, or was erased', async () => {
      const messageId = await send(server, targets.open().url);
      await eventIn(server, messageId, 'delivered');
      const { key } = await createKey(server, { scope: 'read', environment: 'test' });

      expectRefusal(await server.api('GET', '/v1/events/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/payload'), 404);
      expectRefusal(await server.api('GET', `/v1/events/${messageId}/payload`, undefined, as(key)), 404);
      expectStatus(await server.api('DELETE', `/v1/events/${messageId}/payload`), 204);
      const erased = await server.api('GET', `/v1/events/${messageId}/payload`);
      expect([erased.status, erased.json.error.details.reason]).toEqual([404, 'erased']);
    });

    it.each([
      'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
      'evt_00000000000000000000000000',
      'evt_7ZZZZZZZZZZZZZZZZZZZZZZZZZ',
      'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
      'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
      'evt_',
      'nothing',
    ])('404: %s', async (id) => {
      expectRefusal(await server.api('GET', `/v1/events/${id}`), 404);
    });
  });

  describe('the status', () => {
    const environmentId = async (): Promise<number> => {
      const [row] = await sql.rows<{ id: number }>(`select id from environments where mode = 'live'`);
      return row?.id ?? 0;
    };

    /**
     * Creates an event with one delivery in each of the given statuses, and returns its id. Also adds a superseded
     * delivery in every status, because superseded deliveries must not count.
     */
    const eventWith = async (statuses: DeliveryStatus[]): Promise<string> => {
      const id = idFromBytes(ulidBytes(Date.now(), randomBytes(10)));
      const event = [await environmentId(), id, dateIn(30)];
      const targetId = idFromBytes(randomBytes(16));
      await sql.rows(
        `insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, payload)
         values ($1, $2, $3, $4, 'outbound', $5, 2, '{}')`,
        [...event, targetId, `folded.${statuses.join('.')}`],
      );
      const all = [
        ...statuses.map((status) => ({ status, superseded: false })),
        ...STATUSES.map((status) => ({ status, superseded: true })),
      ];
      for (const [ordinal, { status, superseded }] of all.entries()) {
        await sql.rows(
          status === 'retrying'
            ? `insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, due_at, parked, attempts, attempts_used, replayed, superseded)
             values ($1, $2, $5, $3, $4, now() + interval '1 hour', false, 0, 0, false, $6)`
            : `insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, status, attempts, replayed, superseded, settled_at)
             values ($1, $2, $5, $3, $4, '${status}', 0, false, $6, now())`,
          [...event, targetId, ordinal, superseded],
        );
      }
      return showId('evt', id);
    };

    it('in list and detail is the one that engine/event-status computes from the current deliveries, for all combinations of three', async () => {
      const found: string[] = [];
      const expected: string[] = [];
      for (const a of STATUSES) {
        for (const b of [undefined, ...STATUSES]) {
          for (const c of [undefined, ...STATUSES]) {
            const statuses = [a, b, c].filter((status) => status !== undefined);
            const status = foldStatus(statuses);
            const id = await eventWith(statuses);
            const event_type = `folded.${statuses.join('.')}`;
            const listed = await page({ event_type, limit: '1' });
            const selected = await Promise.all(
              STATUSES.map((filter) => page({ event_type, status: filter, limit: '1' })),
            );
            const matching = STATUSES.filter((_, i) => selected[i]?.data[0]?.id === id);
            found.push(
              `${statuses.join()}: ${(await eventOf(server, id)).status} ${listed.data[0]?.status} ${matching.join()}`,
            );
            expected.push(`${statuses.join()}: ${status} ${status} ${status}`);
          }
        }
      }

      expect(found).toEqual(expected);
    });
  });
});
