import { randomUUID } from 'node:crypto';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectRefusal } from './answers.js';
import { applicationOf, emit, endpointAt, eventsIn } from './applications.js';
import { accepted, inbound, json } from './receiving.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import { destinationAt, eventIn, eventOf, expectStatus, openSql, RARE_RETRIES, send, startTargets } from './scene.js';

const ONE_ATTEMPT = { ...RARE_RETRIES, retry: { max_attempts: 1 } };

/** SQL that makes storing the response fail, as if the process or database failed after the object was created. */
const LAST_WORD_FAILS = `
  create function last_word_fails() returns trigger language plpgsql as $$ begin raise exception 'away'; end $$;
  create trigger last_word_fails before update on idempotency_keys for each row when (new.sealed_body is not null)
    execute function last_word_fails()`;
const LAST_WORD_HOLDS = 'drop trigger last_word_fails on idempotency_keys; drop function last_word_fails()';

describe('operations with an Idempotency-Key, and operations on disabled targets', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer({ LOG_LEVEL: 'silent' });
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  const withKey = (path: string, key: string, body?: unknown): Promise<ApiAnswer> =>
    server.api('POST', path, body, { 'idempotency-key': key });

  const eventCount = async (): Promise<number> =>
    (await sql.rows<{ count: number }>('select count(*)::int as count from events'))[0]?.count ?? 0;

  /** Makes a call twice with one idempotency key. The first response cannot be stored. */
  async function twiceWithOneKey(
    path: string,
    body?: unknown,
    key: string = randomUUID(),
  ): Promise<[ApiAnswer, ApiAnswer]> {
    await sql.rows(LAST_WORD_FAILS);
    const first = await withKey(path, key, body);
    await sql.rows(LAST_WORD_HOLDS);
    return [first, await withKey(path, key, body)];
  }

  /** Creates a destination with `count` dead letters. Its target now accepts deliveries. */
  async function deadLetters(
    count: number,
  ): Promise<{ target: TargetPath; destination: string; messageIds: string[] }> {
    const target = targets.open(() => ({ status: 500 }));
    const destination = await destinationAt(server, target.url, ONE_ATTEMPT);
    const messageIds: string[] = [];
    for (let i = 0; i < count; i += 1) messageIds.push(await send(server, destination));
    for (const messageId of messageIds) await eventIn(server, messageId, 'dlq');
    target.answerBy(() => ({ status: 200 }));
    return { target, destination, messageIds };
  }

  const disable = async (destination: string): Promise<void> =>
    void expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'disabled' }), 200);

  const expectDisabled = (apiAnswer: ApiAnswer): void => {
    expectRefusal(apiAnswer, 409);
    expect(apiAnswer.json.error.details).toEqual({ reason: 'disabled' });
  };

  describe('the response is committed together with the created objects', () => {
    it('202: a raw-request replay that fails at its commit creates nothing; the next call with its key creates once, and its response is stored', async () => {
      const endpoint = await inbound(server);
      const request = await accepted(server, endpoint, json({ a: 1 }));
      const before = await eventCount();

      const key = randomUUID();
      const [first, again] = await twiceWithOneKey(
        `/v1/endpoints/${endpoint.id}/requests/${request}/replay`,
        undefined,
        key,
      );
      const third = await withKey(`/v1/endpoints/${endpoint.id}/requests/${request}/replay`, key);

      expect(first.status).toBeGreaterThanOrEqual(500);
      expect([again, third].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
      expect(third.json).toEqual(again.json);
      expect(await eventCount()).toBe(before + 1);
      const event = await eventOf(server, expectStatus(again, 202).json.event_id);
      expect(event.id).toBe(again.json.event_id);
    });

    it('200: a sample event for an endpoint', async () => {
      const endpoint = await inbound(server);
      const before = await eventCount();

      const [first, again] = await twiceWithOneKey(`/v1/endpoints/${endpoint.id}/test`);

      expect(first.status).toBeGreaterThanOrEqual(500);
      expect(expectStatus(again, 200).json).toEqual({
        event_id: expect.stringMatching(/^evt_/),
        verified: null,
        status: 200,
      });
      expect(await eventCount()).toBe(before + 1);
    });

    it('200: a test event for a destination', async () => {
      const target = targets.open();
      const destination = await destinationAt(server, target.url);

      const [first, again] = await twiceWithOneKey(`/v1/destinations/${destination}/test`);

      expect(first.status).toBeGreaterThanOrEqual(500);
      expect(expectStatus(again, 200).json).toEqual({ message_id: expect.stringMatching(/^msg_/), attempt: null });
      await eventIn(server, again.json.message_id, 'delivered');
      expect(target.posts()).toHaveLength(1);
    });

    it('200: a test event for an endpoint of an application', async () => {
      const target = targets.open();
      const application = await applicationOf(server);
      const endpoint = await endpointAt(server, application, target.url);

      const [first, again] = await twiceWithOneKey(`/v1/app/${application}/endpoints/${endpoint.id}/test`);

      expect(first.status).toBeGreaterThanOrEqual(500);
      expect(expectStatus(again, 200).json).toEqual({ message_id: expect.stringMatching(/^msg_/), attempt: null });
      await eventsIn(server, again.json.message_id, 1, 'delivered');
      expect(target.posts()).toHaveLength(1);
    });

    it('200: a completed test repeats its attempt; while the test runs, the key is in flight', async () => {
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const target = targets.open(() => held.then(() => ({})));
      const destination = await destinationAt(server, target.url);
      const key = randomUUID();

      const running = withKey(`/v1/destinations/${destination}/test`, key);
      await target.arrived(1);
      const meanwhile = await withKey(`/v1/destinations/${destination}/test`, key);
      release();
      const first = expectStatus(await running, 200);

      expectRefusal(meanwhile, 409);
      expect(meanwhile.json.error.details).toEqual({ reason: 'in_flight' });
      expect(first.json.attempt).toMatchObject({ number: 1, status: 200 });
      expect((await withKey(`/v1/destinations/${destination}/test`, key)).text).toBe(first.text);
      expect(target.posts()).toHaveLength(1);
    });

    it('202: a redrive that failed before storing its response sent nothing; the same key sends each dead letter once', async () => {
      const { target, destination, messageIds } = await deadLetters(2);
      const key = randomUUID();

      await sql.rows(LAST_WORD_FAILS);
      const first = await withKey('/v1/dlq/redrive', key, { endpoint: destination });
      await sql.rows(LAST_WORD_HOLDS);
      const between = await Promise.all(messageIds.map(async (id) => (await eventOf(server, id)).status));
      const again = await withKey('/v1/dlq/redrive', key, { endpoint: destination });

      expect(first.status).toBeGreaterThanOrEqual(500);
      expect(between).toEqual(['dlq', 'dlq']);
      expect(expectStatus(again, 202).json).toEqual({ redriven: 2, skipped: 0 });
      for (const messageId of messageIds) await eventIn(server, messageId, 'delivered');
      expect(target.posts()).toHaveLength(4);
    });
  });

  describe('a disabled destination', () => {
    it('409: dead letters are not redriven, and stay dead letters until the destination is enabled', async () => {
      const { destination, messageIds } = await deadLetters(2);
      await disable(destination);

      const refused = [
        await server.api('POST', '/v1/dlq/redrive', { endpoint: destination }),
        await server.api('POST', `/v1/events/${messageIds[0]}/replay`),
      ];

      for (const answer of refused) expectDisabled(answer);
      for (const messageId of messageIds) expect((await eventOf(server, messageId)).status).toBe('dlq');
      expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'active' }), 200);
      expect(expectStatus(await server.api('POST', '/v1/dlq/redrive', { endpoint: destination }), 202).json).toEqual({
        redriven: 2,
        skipped: 0,
      });
      for (const messageId of messageIds) await eventIn(server, messageId, 'delivered');
    });

    it('202: a redrive of all destinations skips its dead letters and counts them', async () => {
      const [off, on] = [await deadLetters(2), await deadLetters(1)];
      await disable(off.destination);

      const { json: answer } = expectStatus(await server.api('POST', '/v1/dlq/redrive', {}), 202);

      expect(answer).toEqual({ redriven: 1, skipped: 2 });
      for (const messageId of on.messageIds) await eventIn(server, messageId, 'delivered');
      for (const messageId of off.messageIds) expect((await eventOf(server, messageId)).status).toBe('dlq');
      expect(off.target.posts()).toHaveLength(2);
    });

    it('409: dead letters of a disabled application endpoint are not redriven either', async () => {
      const target = targets.open(() => ({ status: 500 }));
      const application = await applicationOf(server);
      const endpoint = await endpointAt(server, application, target.url, { retry: ONE_ATTEMPT.retry });
      const { message_id: messageId } = await emit(server, application);
      const [event] = await eventsIn(server, messageId, 1, 'dlq');
      expectStatus(
        await server.api('PATCH', `/v1/app/${application}/endpoints/${endpoint.id}`, { status: 'disabled' }),
        200,
      );

      expectDisabled(await server.api('POST', `/v1/events/${event.id}/replay`));
      expect((await eventOf(server, event.id)).status).toBe('dlq');
    });

    it('409: a raw request is not replayed if this is its only destination', async () => {
      const destination = await destinationAt(server, targets.open().url);
      const endpoint = await inbound(server, { destinations: [destination] });
      const request = await accepted(server, endpoint, json({ a: 1 }));
      await eventIn(server, request, 'delivered');
      await disable(destination);
      const before = await eventCount();

      expectDisabled(await server.api('POST', `/v1/endpoints/${endpoint.id}/requests/${request}/replay`));
      expect(await eventCount()).toBe(before);
    });
  });
});
