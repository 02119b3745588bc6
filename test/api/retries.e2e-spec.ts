import type { RawReceiver, ReceivedRequest as RawRequest } from '../support/raw-receiver.js';
import { rawReceiver } from '../support/raw-receiver.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectInvalid } from './answers.js';
import { until } from './polling.js';
import type { Sql, Targets } from './scene.js';
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

/** Longest wait before each attempt in the default retry schedule, in seconds. */
const NOMINAL = [0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000];
const DAY_SECONDS = 86_400;

/** State of a delivery directly after a failed attempt. */
interface Waited {
  attempts: number;
  dueAt: Date;
  firstAttemptAt: Date;
  recordedAt: Date;
}

describe('retries', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer();
    sql = openSql(server);
    // A trigger records the state, because a poll could miss a retry that is due at once.
    await sql.rows(
      'create table waited (event_id uuid, attempts int, due_at timestamptz, first_attempt_at timestamptz, recorded_at timestamptz)',
    );
    await sql.rows(`
      create function note_wait() returns trigger language plpgsql as $$ begin
        insert into waited values (new.event_id, new.attempts, new.due_at, new.first_attempt_at, clock_timestamp());
        return null;
      end $$`);
    await sql.rows(`
      create trigger note_wait after update on due_deliveries for each row
      when (new.attempts <> old.attempts) execute function note_wait()`);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  const waits = (messageId: string): Promise<Waited[]> =>
    sql.rows<Waited>(
      `select attempts, due_at as "dueAt", first_attempt_at as "firstAttemptAt", recorded_at as "recordedAt" from waited
       where event_id = $1 order by attempts`,
      [uuidOf(messageId)],
    );

  const firstWait = (messageId: string): Promise<Waited> =>
    until(
      () => waits(messageId),
      (rows) => rows.length > 0,
      WITHIN_MS,
    ).then(([first]) => first as Waited);

  /** Skips the remaining delay: moves the stored times back by the length of the delay. */
  const skipWait = (messageId: string): Promise<unknown> =>
    sql.rows(
      `update due_deliveries set first_attempt_at = first_attempt_at - (due_at - now()), due_at = now()
       where event_id = $1 and claimed_by is null and due_at > now()`,
      [uuidOf(messageId)],
    );

  const runToEnd = (messageId: string): Promise<{ status: string; attempts: { number: number; status: number }[] }> =>
    until(
      async () => {
        await skipWait(messageId);
        return eventOf(server, messageId);
      },
      ({ status }) => status !== 'retrying',
      60_000,
    );

  const dueInSeconds = ({ dueAt, recordedAt }: Waited): number => (dueAt.getTime() - recordedAt.getTime()) / 1000;

  describe('the schedule', () => {
    it('makes 8 attempts, each within its nominal step of 28 hours, then the event is a dead letter', async () => {
      const target = targets.open(() => ({ status: 500, body: 'no' }));
      const { config } = RARE_RETRIES;

      const messageId = await send(server, await destinationAt(server, target.url, { config }));

      const event = await runToEnd(messageId);
      expect(event).toMatchObject({ status: 'dlq', deliveries: [{ status: 'dlq', next_attempt_at: null }] });
      expect(event.attempts.map(({ number, status }) => [number, status])).toEqual(
        [1, 2, 3, 4, 5, 6, 7, 8].map((number) => [number, 500]),
      );
      expect(target.posts()).toHaveLength(8);
      const rows = await waits(messageId);
      expect(rows.map(({ attempts }) => attempts)).toEqual([1, 2, 3, 4, 5, 6, 7]);
      for (const { attempts, dueAt, firstAttemptAt, recordedAt } of rows) {
        const earlierMs = NOMINAL.slice(0, attempts).reduce((sum, seconds) => sum + seconds * 1000, 0);
        const startMs = firstAttemptAt.getTime() + earlierMs;
        expect(dueAt.getTime()).toBeGreaterThanOrEqual(startMs);
        expect(dueAt.getTime()).toBeLessThanOrEqual(
          Math.max(startMs, recordedAt.getTime()) + (NOMINAL[attempts] ?? 0) * 1000,
        );
      }
    });

    it('the retry schedule of a destination replaces the default: after 3 attempts at its intervals, the delivery is a dead letter', async () => {
      const target = targets.open(() => ({ reset: true }));
      const retry = { max_attempts: 3, schedule: [0, 60, 600] };

      const messageId = await send(server, await destinationAt(server, target.url, { ...RARE_RETRIES, retry }));

      const event = await runToEnd(messageId);
      expect(event.status).toBe('dlq');
      expect(event.attempts).toHaveLength(3);
      const rows = await waits(messageId);
      expect(rows.map(({ attempts }) => attempts)).toEqual([1, 2]);
      const waitedMs = rows.map(({ dueAt, firstAttemptAt }) => dueAt.getTime() - firstAttemptAt.getTime());
      expect(waitedMs[0]).toBeLessThanOrEqual(62_000);
      expect(waitedMs[1]).toBeGreaterThanOrEqual(60_000);
      expect(waitedMs[1]).toBeLessThanOrEqual(662_000);
    });

    it('with one attempt makes a dead letter at once', async () => {
      const target = targets.open(() => ({ status: 404 }));

      const messageId = await send(
        server,
        await destinationAt(server, target.url, { ...RARE_RETRIES, retry: { max_attempts: 1 } }),
      );

      expect(await eventIn(server, messageId, 'dlq')).toMatchObject({ attempts: [{ number: 1, status: 404 }] });
      expect(target.posts()).toHaveLength(1);
    });

    it('a waiting delivery shows the time of its next attempt', async () => {
      const target = targets.open(() => ({ status: 500 }));

      const messageId = await send(server, await destinationAt(server, target.url, RARE_RETRIES));

      const { dueAt } = await firstWait(messageId);
      expect(await eventOf(server, messageId)).toMatchObject({
        status: 'retrying',
        deliveries: [{ status: 'retrying', next_attempt_at: dueAt.toISOString() }],
      });
    });
  });

  describe('Retry-After', () => {
    it.each([429, 502, 503, 504])('a Retry-After in seconds delays the next attempt after a %i', async (status) => {
      const target = targets.open(() => ({ status, headers: { 'retry-after': '7200' } }));

      const messageId = await send(server, await destinationAt(server, target.url, { config: RARE_RETRIES.config }));

      const waited = await firstWait(messageId);
      expect(waited.dueAt.getTime() - waited.firstAttemptAt.getTime()).toBeGreaterThanOrEqual(7_200_000);
      expect(dueInSeconds(waited)).toBeLessThanOrEqual(7200);
    });

    it('as a date delays the next attempt until then', async () => {
      const date = new Date(Math.ceil(Date.now() / 1000) * 1000 + 5_400_000);
      const target = targets.open(() => ({ status: 503, headers: { 'retry-after': date.toUTCString() } }));

      const messageId = await send(server, await destinationAt(server, target.url, { config: RARE_RETRIES.config }));

      // The delay is counted from the commit that records the response, so the retry runs a little later than the date
      // in the response.
      const laterMs = (await firstWait(messageId)).dueAt.getTime() - date.getTime();
      expect(laterMs).toBeGreaterThanOrEqual(-25);
      expect(laterMs).toBeLessThan(60_000);
    });

    it.each([
      ['a Retry-After of more than a day counts as a day', 503, '9999999', [DAY_SECONDS - 60, DAY_SECONDS]],
      ['on another status is ignored', 500, '7200', [-60, 5]],
      ['with an invalid value is ignored', 503, 'soon', [-60, 5]],
      ['earlier than the schedule is ignored', 429, '0', [-60, 5]],
    ])('%s', async (_what, status, value, [least, most]) => {
      const target = targets.open(() => ({ status, headers: { 'retry-after': value } }));

      const messageId = await send(server, await destinationAt(server, target.url, { config: RARE_RETRIES.config }));

      const seconds = dueInSeconds(await firstWait(messageId));
      expect(seconds).toBeGreaterThanOrEqual(least as number);
      expect(seconds).toBeLessThanOrEqual(most as number);
    });
  });

  describe('a response', () => {
    it.each([301, 302, 303, 307, 308])('a %i is a failure, and its Location is never requested', async (status) => {
      const elsewhere = targets.open();
      const target = targets.open(() => ({ status, headers: { location: elsewhere.url } }));

      const messageId = await send(
        server,
        await destinationAt(server, target.url, { ...RARE_RETRIES, retry: { max_attempts: 2, schedule: [0, 0] } }),
      );

      const event = await eventIn(server, messageId, 'dlq');
      expect(event.attempts).toMatchObject([
        { status, error: null },
        { status, error: null },
      ]);
      expect(elsewhere.posts()).toEqual([]);
      expect(target.posts()).toHaveLength(2);
    });

    it.each([200, 201, 202, 204, 299])('of %i is a success', async (status) => {
      const target = targets.open(() => ({ status }));

      const messageId = await send(server, target.url);

      expect((await eventIn(server, messageId, 'delivered')).attempts).toMatchObject([{ number: 1, status }]);
    });

    it('is stored up to 1 KB', async () => {
      const target = targets.open(() => ({ status: 500, body: 'é'.repeat(2000) }));

      const messageId = await send(server, await destinationAt(server, target.url, RARE_RETRIES));

      const {
        attempts: [attempt],
      } = await eventAfter(server, messageId, 1);
      expect(attempt).toMatchObject({ status: 500, error: null });
      expect(attempt.response_excerpt).toBe('é'.repeat(512));
    });

    it('a 410 fails the event and all waiting events, and disables the destination until a PATCH enables it', async () => {
      const target = targets.open((_post, index) => ({ status: index === 0 ? 500 : 410 }));
      const destination = await destinationAt(server, target.url, RARE_RETRIES);
      const waiting = await send(server, destination);
      await eventAfter(server, waiting, 1);

      const gone = await send(server, destination);

      expect(await eventIn(server, gone, 'failed')).toMatchObject({
        attempts: [{ number: 1, status: 410 }],
        deliveries: [{ status: 'failed', reason: 'gone', next_attempt_at: null }],
      });
      expect(await eventIn(server, waiting, 'failed')).toMatchObject({
        attempts: [{ number: 1, status: 500 }],
        deliveries: [{ status: 'failed', reason: 'target_disabled' }],
      });
      expect((await server.api('GET', `/v1/destinations/${destination}`)).json).toMatchObject({
        status: 'disabled',
        disabled_reason: 'The receiver answered 410 Gone.',
      });
      expectInvalid(
        await server.api('POST', '/v1/send', { destination, event_type: 'a', payload: {} }),
        'schema',
        'destination',
      );
      target.answerBy(() => ({ status: 200 }));
      const enabled = await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'active' });
      expect(enabled.json).toMatchObject({ status: 'active', disabled_reason: null });
      await eventIn(server, await send(server, destination), 'delivered');
    });
  });

  describe('the timeout', () => {
    let raw: RawReceiver;

    afterEach(() => raw.close());

    it.each<[string, (socket: Parameters<Parameters<typeof rawReceiver>[0] & object>[0]) => void]>([
      ['a receiver that never answers', () => undefined],
      [
        'a body that never ends',
        (socket) => {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
          const timer = setInterval(() => socket.write('.'), 20);
          socket.on('close', () => clearInterval(timer));
        },
      ],
      [
        'headers that never end',
        (socket) => {
          socket.write('HTTP/1.1 200 OK\r\n');
          const timer = setInterval(() => socket.write('x-drip: 1\r\n'), 20);
          socket.on('close', () => clearInterval(timer));
        },
      ],
    ])('the time-out of a destination covers the whole exchange: %s', async (_what, answer) => {
      raw = await rawReceiver((socket, request) =>
        isProbe(request) ? socket.end('HTTP/1.1 200 OK\r\n\r\n') : answer(socket),
      );
      const destination = await destinationAt(server, `http://127.0.0.1:${raw.port}/`, {
        ...RARE_RETRIES,
        timeout_ms: 300,
      });

      const messageId = await send(server, destination);

      const {
        attempts: [attempt],
        status,
      } = await eventAfter(server, messageId, 1);
      expect(status).toBe('retrying');
      expect(attempt).toMatchObject({
        status: null,
        error: 'timeout',
        response_excerpt: expect.stringContaining('300 ms'),
      });
      expect(attempt.duration_ms).toBeGreaterThanOrEqual(290);
      expect(attempt.duration_ms).toBeLessThan(10_000);
      await until(
        async () => raw.openSockets.size,
        (open) => open === 0,
      );
    });

    it('a 200 with an endless body ends the delivery at once: the body is cut at 64 KB', async () => {
      let writtenBytes = 0;
      raw = await rawReceiver((socket, request) => {
        if (isProbe(request)) return void socket.end('HTTP/1.1 200 OK\r\n\r\n');
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
        const chunk = `400\r\n${'z'.repeat(1024)}\r\n`;
        const pour = (): void => {
          while (!socket.destroyed && socket.write(chunk)) writtenBytes += 1024;
        };
        socket.on('drain', pour);
        pour();
      });
      const destination = await destinationAt(server, `http://127.0.0.1:${raw.port}/`, RARE_RETRIES);

      const messageId = await send(server, destination);

      const { attempts } = await eventIn(server, messageId, 'delivered');
      expect(attempts).toMatchObject([{ status: 200, error: null, response_excerpt: 'z'.repeat(1024) }]);
      await until(
        async () => raw.openSockets.size,
        (open) => open === 0,
      );
      expect(writtenBytes).toBeGreaterThan(64 * 1024);
    });
  });

  it.each([
    ['PATCH to disabled', 'PATCH', 'target_disabled'],
    ['DELETE', 'DELETE', 'target_gone'],
  ])('%s during an attempt: if the attempt fails, its delivery fails too', async (_what, method, reason) => {
    let answer: (() => void) | undefined;
    const target = targets.open(() => new Promise((resolve) => (answer = () => resolve({ status: 500 }))));
    const destination = await destinationAt(server, target.url, RARE_RETRIES);
    const messageId = await send(server, destination);
    await target.arrived(1);

    const changed = await server.api(
      method,
      `/v1/destinations/${destination}`,
      method === 'PATCH' ? { status: 'disabled' } : undefined,
    );
    answer?.();

    expect(changed.status).toBeLessThan(300);
    expect(await eventIn(server, messageId, 'failed')).toMatchObject({
      attempts: [{ status: 500 }],
      deliveries: [{ status: 'failed', reason }],
    });
    expect(target.posts()).toHaveLength(1);
  });

  it('DELETE of a destination fails its pending deliveries, and makes no further request', async () => {
    const target = targets.open(() => ({ status: 500 }));
    const destination = await destinationAt(server, target.url, RARE_RETRIES);
    const waiting = [await send(server, destination), await send(server, destination)];
    for (const messageId of waiting) await eventAfter(server, messageId, 1);

    expectStatus(await server.api('DELETE', `/v1/destinations/${destination}`), 204);

    for (const messageId of waiting) {
      expect(await eventIn(server, messageId, 'failed')).toMatchObject({
        destination,
        attempts: [{ number: 1 }],
        deliveries: [{ status: 'failed', reason: 'target_gone' }],
      });
    }
    expect(target.posts()).toHaveLength(2);
  });
});

/** Returns whether the request is a probe: creating a destination sends a HEAD or GET request before any POST. */
function isProbe({ text }: RawRequest): boolean {
  return !text.startsWith('POST ');
}
