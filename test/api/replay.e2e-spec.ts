import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { RawReceiver } from '../support/raw-receiver.js';
import { rawReceiver } from '../support/raw-receiver.js';
import type { ReceivedRequest } from '../support/receiver.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal } from './answers.js';
import { until } from './polling.js';
import type { Sql, TargetPath, Targets } from './scene.js';
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
  WITHIN_MS,
} from './scene.js';

const ONE_ATTEMPT = { ...RARE_RETRIES, retry: { max_attempts: 1 } };

describe('replay', () => {
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

  const replay = (id: string, headers = {}): ReturnType<PosthornServer['api']> =>
    server.api('POST', `/v1/events/${id}/replay`, undefined, headers);

  const redrive = async (body?: object): Promise<number> =>
    expectStatus(await server.api('POST', '/v1/dlq/redrive', body), 202).json.redriven;

  /** Expects that the last delivery to a target replays the previous delivery and has identical content. */
  const expectSameAgain = async (target: TargetPath, destination: string, payload: string): Promise<void> => {
    const { secret } = expectStatus(await server.api('GET', `/v1/destinations/${destination}/secret`), 200).json;
    const [first, again] = target.posts().slice(-2) as [ReceivedRequest, ReceivedRequest];
    expect(again.rawBody.toString()).toBe(payload);
    expect(again.rawBody.equals(first.rawBody)).toBe(true);
    expect(again.headers['webhook-id']).toBe(first.headers['webhook-id']);
    expect([first.headers['webhook-replayed'], again.headers['webhook-replayed']]).toEqual([undefined, 'true']);
    expect(again.headers['x-tenant']).toBe(first.headers['x-tenant']);
    new Webhook(secret).verify(again.rawBody, again.headers as Record<string, string>, { jsonParse: false });
  };

  describe('POST /v1/events/{id}/replay', () => {
    let slow: RawReceiver | null = null;

    afterEach(async () => {
      await slow?.close();
      slow = null;
    });

    const PAYLOAD = '{"n": 12345678901234567890, "one":1.0}';
    const sendOne = async (destination: string): Promise<string> =>
      expectStatus(
        await server.api(
          'POST',
          '/v1/send',
          `{"destination":"${destination}","event_type":"a","headers":{"x-tenant":"42"},"payload":${PAYLOAD}}`,
        ),
        202,
      ).json.message_id;

    it.each(['evt', 'msg'])(
      '202: a delivered event, by its %s_ id, is sent again unchanged, marked as a replay',
      async (prefix) => {
        const target = targets.open();
        const destination = await destinationAt(server, target.url);
        const messageId = await sendOne(destination);
        await eventIn(server, messageId, 'delivered');

        const answer = await replay(messageId.replace('msg', prefix));

        expect(expectStatus(answer, 202).json).toEqual({
          replay_id: expect.stringMatching(/^rpl_[0-9A-HJKMNP-TV-Z]{26}$/),
          event_id: messageId.replace('msg', 'evt'),
        });
        await eventAfter(server, messageId, 2);
        expect(await eventIn(server, messageId, 'delivered')).toMatchObject({
          attempts: [
            { number: 1, status: 200, replayed: false },
            { number: 1, status: 200, replayed: true },
          ],
          deliveries: [
            { status: 'delivered', replayed: false },
            { status: 'delivered', replayed: true },
          ],
        });
        await expectSameAgain(target, destination, PAYLOAD);
        expect(target.posts()).toHaveLength(2);
      },
    );

    it('202: a failed event is sent to the current URL of its destination', async () => {
      const target = targets.open(() => ({ status: 410 }));
      const destination = await destinationAt(server, target.url, RARE_RETRIES);
      const messageId = await sendOne(destination);
      await eventIn(server, messageId, 'failed');
      await until(
        async () => (await server.api('GET', `/v1/destinations/${destination}`)).json.status,
        (status) => status === 'disabled',
      );
      const moved = targets.open();
      expectStatus(
        await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'active', url: moved.url }),
        200,
      );

      expectStatus(await replay(messageId), 202);

      expect(await eventIn(server, messageId, 'delivered')).toMatchObject({
        deliveries: [
          { status: 'failed', reason: 'gone', replayed: false },
          { status: 'delivered', reason: null, replayed: true },
        ],
      });
      expect(moved.posts().map(({ headers }) => headers['webhook-id'])).toEqual([messageId]);
    });

    it('202: a dead letter whose replay fails is a dead letter again, after a new retry schedule', async () => {
      const target = targets.open(() => ({ status: 500 }));
      const destination = await destinationAt(server, target.url, { ...RARE_RETRIES, retry: { schedule: [0, 0] } });
      const messageId = await sendOne(destination);
      await eventIn(server, messageId, 'dlq');

      expectStatus(await replay(messageId), 202);

      await eventAfter(server, messageId, 4);
      const event = await eventIn(server, messageId, 'dlq');
      expect(
        event.attempts.map(({ number, replayed }: { number: number; replayed: boolean }) => [number, replayed]),
      ).toEqual([
        [1, false],
        [2, false],
        [1, true],
        [2, true],
      ]);
      expect(target.posts().map(({ headers }) => headers['webhook-replayed'])).toEqual([
        undefined,
        undefined,
        'true',
        'true',
      ]);
    });

    it('202: a retrying event is sent at once, and the replay supersedes its old delivery', async () => {
      const target = targets.open((_post, index) => ({ status: index === 0 ? 500 : 200 }));
      const destination = await destinationAt(server, target.url, RARE_RETRIES);
      const messageId = await sendOne(destination);
      await eventAfter(server, messageId, 1);

      expectStatus(await replay(messageId), 202);

      expect(await eventIn(server, messageId, 'delivered')).toMatchObject({
        deliveries: [
          { status: 'failed', reason: 'superseded', next_attempt_at: null },
          { status: 'delivered', replayed: true },
        ],
      });
      await expectSameAgain(target, destination, PAYLOAD);
      expect(target.posts()).toHaveLength(2);
    });

    it('202: an event with an attempt in flight is sent again, and the attempt is not retried if it fails', async () => {
      let answerFirst: (() => void) | undefined;
      const target = targets.open((_post, index) =>
        index === 0 ? new Promise((resolve) => (answerFirst = () => resolve({ status: 500 }))) : {},
      );
      const messageId = await sendOne(await destinationAt(server, target.url, RARE_RETRIES));
      await target.arrived(1);

      expectStatus(await replay(messageId), 202);
      await target.arrived(2);
      answerFirst?.();

      await eventAfter(server, messageId, 2);
      expect(await eventIn(server, messageId, 'delivered')).toMatchObject({
        deliveries: [{ status: 'failed', reason: 'superseded' }, { status: 'delivered' }],
      });
      expect(target.posts()).toHaveLength(2);
    });

    it('202: ten concurrent replays are ten deliveries of one event', async () => {
      const target = targets.open();
      const messageId = await sendOne(await destinationAt(server, target.url));
      await eventIn(server, messageId, 'delivered');

      const answers = await Promise.all(Array.from({ length: 10 }, () => replay(messageId)));

      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(202));
      const event = await eventIn(server, messageId, 'delivered');
      expect(event.deliveries).toHaveLength(11);
      // A replay sends no request if another replay supersedes it before it starts.
      const overtaken = event.deliveries.filter(
        ({ reason }: { reason: string | null }) => reason === 'superseded',
      ).length;
      expect(target.posts()).toHaveLength(11 - overtaken);
      expect(new Set(target.posts().map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    });

    it('202: with the same Idempotency-Key the event is sent again once', async () => {
      const target = targets.open();
      const destination = await destinationAt(server, target.url);
      const messageId = await sendOne(destination);
      await eventIn(server, messageId, 'delivered');
      const key = { 'idempotency-key': randomUUID() };

      const answers = [await replay(messageId, key), await replay(messageId, key)];

      expect(answers[1]?.text).toBe(expectStatus(answers[0] as (typeof answers)[0], 202).text);
      await eventAfter(server, messageId, 2);
      expect(target.posts()).toHaveLength(2);
    });

    it('202: a replay with an Idempotency-Key, during another slow call with a key, does not block later retries', async () => {
      const probed = (slow = await rawReceiver(() => undefined));
      const key = (): Record<string, string> => ({ 'idempotency-key': randomUUID() });
      const creating = server.api(
        'POST',
        '/v1/destinations',
        { name: 'Slow', type: 'https', url: `http://127.0.0.1:${probed.port}/` },
        key(),
      );
      await until(
        async () => probed.requests.length,
        (probes) => probes === 1,
        WITHIN_MS,
      );
      const target = targets.open((_post, index) => ({ status: index === 0 ? 500 : 200 }));
      const destination = await destinationAt(server, target.url, RARE_RETRIES);
      const waiting = await sendOne(destination);
      await eventAfter(server, waiting, 1);

      expectStatus(await replay(await send(server, targets.open().url), key()), 202);

      // Empties the cache, so that the next delivery reads its destination from the database.
      await sql.rows(`select pg_notify('posthorn', 'destination:*')`);
      await makeDue(sql, waiting);
      await eventIn(server, waiting, 'delivered');
      await probed.close();
      expectInvalid(await creating, 'connectivity');
    });

    it('404: an unknown event, one of the other environment, and an invalid id', async () => {
      const messageId = await send(server, targets.open().url);
      const { key } = await createKey(server, { scope: 'write', environment: 'test' });

      for (const answer of [
        await replay('evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'),
        await replay('msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'),
        await replay('nothing'),
        await replay('dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'),
        await replay(messageId, as(key)),
      ])
        expectRefusal(answer, 404);
    });

    it('403: a read key', async () => {
      const { key } = await createKey(server, { scope: 'read' });

      expectRefusal(await replay(await send(server, targets.open().url), as(key)), 403);
      expectRefusal(await server.api('POST', '/v1/dlq/redrive', {}, as(key)), 403);
    });
  });

  describe('POST /v1/dlq/redrive', () => {
    /** Creates a destination with `count` dead letters. Its target now accepts deliveries. */
    const deadLetters = async (
      count: number,
    ): Promise<{ target: TargetPath; destination: string; messageIds: string[] }> => {
      const target = targets.open(() => ({ status: 500 }));
      const destination = await destinationAt(server, target.url, ONE_ATTEMPT);
      const messageIds: string[] = [];
      for (let i = 0; i < count; i += 1) messageIds.push(await send(server, destination));
      for (const messageId of messageIds) await eventIn(server, messageId, 'dlq');
      target.answerBy(() => ({ status: 200 }));
      return { target, destination, messageIds };
    };

    const replayed = ({ target }: { target: TargetPath }): unknown[] =>
      target
        .posts()
        .filter(({ headers }) => headers['webhook-replayed'] === 'true')
        .map(({ headers }) => headers['webhook-id']);

    it('202: with an endpoint, its dead letters are sent again and others are not; a second call finds none', async () => {
      const [mine, theirs] = [await deadLetters(3), await deadLetters(2)];

      const redriven = await redrive({ endpoint: mine.destination });

      expect(redriven).toBe(3);
      for (const messageId of mine.messageIds) await eventIn(server, messageId, 'delivered');
      expect(new Set(replayed(mine))).toEqual(new Set(mine.messageIds));
      expect(await redrive({ endpoint: mine.destination })).toBe(0);
      expect(replayed(theirs)).toEqual([]);
      for (const messageId of theirs.messageIds) expect((await eventOf(server, messageId)).status).toBe('dlq');
    });

    it('202: since selects the events received at or after that time', async () => {
      const letters = await deadLetters(4);
      const { received_at: since } = await eventOf(server, letters.messageIds[2] as string);

      const redriven = await redrive({ endpoint: letters.destination, since });

      expect(redriven).toBe(2);
      for (const messageId of letters.messageIds.slice(2)) await eventIn(server, messageId, 'delivered');
      expect(new Set(replayed(letters))).toEqual(new Set(letters.messageIds.slice(2)));
    });

    it('202: without a body all dead letters of the environment are sent again, and nothing else', async () => {
      const all = [await deadLetters(2), await deadLetters(2)];
      const [row] = await sql.rows<{ count: number }>(
        `select count(*)::int as count from deliveries where status = 'dlq' and not superseded`,
      );
      const { key } = await createKey(server, { scope: 'write', environment: 'test' });

      expect(expectStatus(await server.api('POST', '/v1/dlq/redrive', undefined, as(key)), 202).json).toEqual({
        redriven: 0,
        skipped: 0,
      });
      const beganAtMs = Date.now();
      const redriven = await redrive();

      expect(redriven).toBe(row?.count);
      for (const { messageIds } of all)
        for (const messageId of messageIds) await eventIn(server, messageId, 'delivered');
      const left = (await server.api('GET', '/v1/events?status=dlq')).json.data as { last_attempt: { at: string } }[];
      // The receiver of earlier tests fails, so their deliveries may have become dead letters again.
      expect(left.filter(({ last_attempt: { at } }) => Date.parse(at) < beganAtMs)).toEqual([]);
    });

    it('202: dead letters are all sent again, each once, even if they need more than one step', async () => {
      const target = targets.open();
      const destination = await destinationAt(server, target.url);
      const first = await send(server, destination);
      await eventIn(server, first, 'delivered');
      await sql.rows(`
        with made as (
          insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, payload)
          select environment_id, gen_random_uuid(), expires_on, target_id, direction, 'bulk', payload_bytes, payload
          from events, generate_series(1, 2500) where event_type = 'test.sent' and target_id = (
            select target_id from events where environment_id = 1 order by id desc limit 1)
          returning *
        )
        insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, status, attempts, replayed, superseded, settled_at)
        select environment_id, id, 0, expires_on, target_id, 'dlq', 8, false, false, now() from made`);

      const redriven = await redrive({ endpoint: destination });

      expect(redriven).toBe(2500);
      const posts = await target.arrived(2501, 60_000);
      await until(
        () => sql.rows('select from due_deliveries limit 1'),
        (rows) => rows.length === 0,
        WITHIN_MS,
      );
      expect(new Set(posts.map(({ headers }) => headers['webhook-id'])).size).toBe(2501);
      expect(target.posts()).toHaveLength(2501);
    });

    it('422: an invalid endpoint id, and an invalid since', async () => {
      expectInvalid(await server.api('POST', '/v1/dlq/redrive', { endpoint: 'elsewhere' }), 'schema', 'endpoint');
      expectInvalid(await server.api('POST', '/v1/dlq/redrive', { since: 'yesterday' }), 'schema', 'since');
    });

    it('202: an endpoint that does not exist redrives nothing', async () => {
      expect(await redrive({ endpoint: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })).toBe(0);
    });
  });
});
