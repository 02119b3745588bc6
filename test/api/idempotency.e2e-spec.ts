import { randomUUID } from 'node:crypto';
import type { AnswerRequest, Receiver } from '../support/receiver.js';
import { startReceiver } from '../support/receiver.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectRateLimitHeaders, expectRefusal } from './answers.js';
import { until } from './polling.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import { destinationAt, eventIn, openSql, send, startTargets } from './scene.js';

const UUID = '0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11';
const UNKNOWN_ID = 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

describe('Idempotency-Key', () => {
  let server: PosthornServer;
  /** Another node on the same database. */
  let second: PosthornServer;
  let targets: Targets;
  let target: TargetPath;
  let destination: string;
  let sql: Sql;
  const receivers: Receiver[] = [];

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer(), startTargets()]);
    second = await startServer(server.env);
    target = targets.open();
    destination = await destinationAt(server, target.url);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await Promise.all(receivers.map((receiver) => receiver.close()));
    await second.stop();
    await server.stop();
    await targets.close();
  });

  /** Starts a receiver. `answer` answers the probe that Posthorn sends when a destination is created. */
  async function probed(answer: AnswerRequest): Promise<Receiver> {
    const receiver = await startReceiver(answer);
    receivers.push(receiver);
    return receiver;
  }

  const post = (
    path: string,
    key: string,
    body?: unknown,
    headers: Record<string, string> = {},
    node = server,
  ): Promise<ApiAnswer> => node.api('POST', path, body, { 'idempotency-key': key, ...headers });

  /** Sends twenty concurrent requests, half of them to each node, and returns the responses. */
  const twenty = (ask: (node: PosthornServer) => Promise<ApiAnswer>): Promise<ApiAnswer[]> =>
    Promise.all(Array.from({ length: 20 }, (_, i) => ask(i % 2 === 0 ? server : second)));

  const sendBody = (fields: object = {}): object => ({
    destination,
    event_type: 'once.only',
    payload: { a: 1 },
    ...fields,
  });
  const wasReplayed = ({ headers }: ApiAnswer): boolean => headers.get('idempotent-replayed') === 'true';

  /** Expects that `again` repeats the first response byte for byte, is marked as replayed, and has a new request id. */
  function expectReplays(again: ApiAnswer, first: ApiAnswer): void {
    expect({ status: again.status, text: again.text }).toEqual({ status: first.status, text: first.text });
    expect([wasReplayed(first), wasReplayed(again)]).toEqual([false, true]);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expectRateLimitHeaders(again.headers);
  }

  async function eventsOfType(eventType: string): Promise<unknown[]> {
    return (await server.api('GET', `/v1/events?event_type=${eventType}&limit=100`)).json.data;
  }

  async function destinationsNamed(name: string): Promise<unknown[]> {
    const { json } = await server.api('GET', '/v1/destinations?limit=100');
    return json.data.filter((item: { name: string }) => item.name === name);
  }

  describe('a send', () => {
    it('202: a second request with the same key and body gets the first response, and the message is delivered once', async () => {
      const [key, body] = [randomUUID(), sendBody({ event_type: 'sent.twice' })];

      const first = await post('/v1/send', key, body);
      const again = [await post('/v1/send', key, body), await post('/v1/send', key, body, {}, second)];

      expect(first.status).toBe(202);
      for (const answer of again) expectReplays(answer, first);
      expect(await eventsOfType('sent.twice')).toHaveLength(1);
      const { attempts } = await eventIn(server, first.json.message_id, 'delivered');
      expect(attempts).toHaveLength(1);
      expect(target.posts().filter(({ headers }) => headers['webhook-id'] === first.json.message_id)).toHaveLength(1);
    });

    it('202: twenty identical requests at once, on two nodes, send one message', async () => {
      const [key, body] = [randomUUID(), sendBody({ event_type: 'sent.by.twenty' })];

      const answers = await twenty((node) => post('/v1/send', key, body, {}, node));

      for (const answer of answers.filter(({ status }) => status !== 202)) {
        expectRefusal(answer, 409);
        expect(answer.json.error.details.reason).toBe('in_flight');
      }
      const accepted = answers.filter(({ status }) => status === 202);
      expect(new Set(accepted.map(({ text }) => text)).size).toBe(1);
      expect(accepted.filter((answer) => !wasReplayed(answer))).toHaveLength(1);
      expect(await eventsOfType('sent.by.twenty')).toHaveLength(1);
      expectReplays(await post('/v1/send', key, body), accepted.find((answer) => !wasReplayed(answer)) as ApiAnswer);
    });

    it('202: different keys create different messages, even if everything else is identical', async () => {
      const answers = await Promise.all([randomUUID(), randomUUID()].map((key) => post('/v1/send', key, sendBody())));

      expect(new Set(answers.map(({ json }) => json.message_id)).size).toBe(2);
      expect(answers.map(wasReplayed)).toEqual([false, false]);
    });

    it('409 key_reused: a request with the same key and another body sends nothing', async () => {
      const key = randomUUID();
      await post('/v1/send', key, sendBody({ event_type: 'first.use' }));

      for (const body of [
        sendBody({ event_type: 'second.use' }),
        `${JSON.stringify(sendBody({ event_type: 'first.use' }))} `,
      ]) {
        const answer = await post('/v1/send', key, body);
        expectRefusal(answer, 409);
        expect(answer.json.error.details).toEqual({ reason: 'key_reused' });
        expect(wasReplayed(answer)).toBe(false);
      }
      expect(await eventsOfType('second.use')).toEqual([]);
      expect(await eventsOfType('first.use')).toHaveLength(1);
    });

    it.each<[string, object]>([
      ['of the target', { destination: UNKNOWN_ID }],
      ['of the schema', { payload: 'none' }],
      ['of the headers', { headers: { host: 'a' } }],
    ])('422 %s is not stored: the same key sends the corrected body', async (_what, fault) => {
      const key = randomUUID();

      const refused = [
        await post('/v1/send', key, sendBody(fault)),
        await post('/v1/send', key, sendBody(fault), {}, second),
      ];
      const corrected = await post('/v1/send', key, sendBody());

      for (const answer of refused) expectRefusal(answer, 422);
      expect([...refused, corrected].map(wasReplayed)).toEqual([false, false, false]);
      expect(corrected.status).toBe(202);
    });

    it('202 is repeated, and another body gets 409, even after the target is deleted', async () => {
      const key = randomUUID();
      const gone = await destinationAt(server, target.url);
      const first = await post('/v1/send', key, sendBody({ destination: gone }));
      await server.api('DELETE', `/v1/destinations/${gone}`);

      const again = await post('/v1/send', key, sendBody({ destination: gone }));
      const other = await post('/v1/send', key, sendBody({ destination: gone, event_type: 'other' }));

      expectReplays(again, first);
      expect(other.json.error.details).toEqual({ reason: 'key_reused' });
      expectRefusal(await post('/v1/send', randomUUID(), sendBody({ destination: gone })), 422);
    });
  });

  describe('a creation', () => {
    it('201: the same key and body again repeat the first response, and create once', async () => {
      const [key, body] = [randomUUID(), { name: 'Created twice', type: 'https', url: target.url }];

      const first = await post('/v1/destinations', key, body);
      const again = [await post('/v1/destinations', key, body), await post('/v1/destinations', key, body, {}, second)];

      expect(first.status).toBe(201);
      for (const answer of again) expectReplays(answer, first);
      expect(await destinationsNamed('Created twice')).toHaveLength(1);
    });

    it('201: an API key is created once and returned again for a repeated creation, and is not readable in the database', async () => {
      const [key, body] = [randomUUID(), { name: 'Shown again', scope: 'read' }];

      const [first, again] = [await post('/v1/keys', key, body), await post('/v1/keys', key, body)];

      expectReplays(again, first);
      expect(again.json.key).toMatch(/^ek_live_/);
      const [row] = await sql.rows<{ text: string }>(
        'select row_to_json(k)::text as text from idempotency_keys k where key = $1',
        [key],
      );
      for (const readable of [again.json.key, Buffer.from(again.json.key).toString('hex')])
        expect(row?.text).not.toContain(readable);
    });

    it('201: twenty concurrent identical requests on two nodes create one object', async () => {
      const [key, body] = [randomUUID(), { name: 'Created by twenty', type: 'https', url: target.url }];

      const answers = await twenty((node) => post('/v1/destinations', key, body, {}, node));

      const created = answers.filter(({ status }) => status === 201);
      expect(created.filter((answer) => !wasReplayed(answer))).toHaveLength(1);
      expect(new Set(created.map(({ text }) => text)).size).toBe(1);
      for (const answer of answers.filter(({ status }) => status !== 201)) expectRefusal(answer, 409);
      expect(await destinationsNamed('Created by twenty')).toHaveLength(1);
    });

    it('the lock of a process that died can be taken over after its lease, but not while the lease is renewed', async () => {
      const [key, body] = [randomUUID(), { name: 'Of the dead', type: 'https', url: target.url }];
      const text = JSON.stringify(body);
      await sql.rows(
        `insert into idempotency_keys (environment_id, route, key, fingerprint, locked_until, held_until, expires_at)
        select id, 'POST /v1/destinations', $1, sha256($2), now() - interval '1 s', now() + interval '10 s', now() + interval '1 h' from environments`,
        [key, Buffer.from(text)],
      );

      expect((await post('/v1/destinations', key, body)).json.error.details).toEqual({ reason: 'in_flight' });
      expect(await destinationsNamed('Of the dead')).toEqual([]);

      await sql.rows(`update idempotency_keys set held_until = now() - interval '1 ms' where key = $1`, [key]);
      const taken = await post('/v1/destinations', key, body, {}, second);
      expect(taken.status).toBe(201);
      expectReplays(await post('/v1/destinations', key, body), taken);
    });

    it('409 in_flight with Retry-After: 1, on every node, while the first request runs; then its response', async () => {
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const slow = await probed(() => held.then(() => ({})));
      const [key, body] = [randomUUID(), { name: 'Slow', type: 'https', url: slow.url }];

      const running = post('/v1/destinations', key, body);
      await until(
        () => sql.rows('select from idempotency_keys where key = $1', [key]),
        (rows) => rows.length === 1,
      );
      const meanwhile = [
        await post('/v1/destinations', key, body),
        await post('/v1/destinations', key, body, {}, second),
      ];
      const other = await post('/v1/destinations', key, { ...body, name: 'Other' });
      release();
      const first = await running;

      for (const answer of meanwhile) {
        expectRefusal(answer, 409);
        expect(answer.json.error.details).toEqual({ reason: 'in_flight' });
        expect(answer.headers.get('retry-after')).toBe('1');
      }
      expect(other.json.error.details).toEqual({ reason: 'key_reused' });
      expect(first.status).toBe(201);
      expectReplays(await post('/v1/destinations', key, body), first);
      expect(await destinationsNamed('Slow')).toHaveLength(1);
    });

    it('422 of the connectivity check is not stored: the same key creates once the target is reachable', async () => {
      const late = await probed(() => ({ reset: true }));
      const [key, body] = [randomUUID(), { name: 'Late', type: 'https', url: late.url }];
      const refused = await post('/v1/destinations', key, body);
      late.answerWith({ status: 200 });

      const created = await post('/v1/destinations', key, body);
      const again = await post('/v1/destinations', key, body);

      expectRefusal(refused, 422);
      expect([created.status, wasReplayed(created)]).toEqual([201, false]);
      expectReplays(again, created);
      expect(await destinationsNamed('Late')).toHaveLength(1);
    });

    it('422 of the schema is not stored: the same key creates from the corrected body', async () => {
      const key = randomUUID();

      expectRefusal(await post('/v1/destinations', key, { name: 'Corrected', type: 7 }), 422);
      expect(await post('/v1/destinations', key, { name: 'Corrected', type: 'pull' })).toMatchObject({ status: 201 });
    });

    it('404 and 409 of the handler are not stored: each request is decided again', async () => {
      const expired = await createKey(server, { scope: 'read' });
      await server.api('POST', `/v1/keys/${expired.id}/rotate`, { grace_seconds: 0 });
      const cases: [string, number][] = [
        ['/v1/events/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/replay', 404],
        [`/v1/keys/${expired.id}/rotate`, 409],
      ];

      for (const [path, status] of cases) {
        const key = randomUUID();
        const [first, again] = [await post(path, key), await post(path, key)];
        for (const answer of [first, again]) expectRefusal(answer, status);
        expect([first, again].map(wasReplayed)).toEqual([false, false]);
      }
    });

    it('many slow creations with keys do not slow down other requests', async () => {
      const hanging = await probed(() => ({ hang: true }));
      const slow = Array.from({ length: 25 }, () =>
        post('/v1/destinations', randomUUID(), { name: 'Hanging', type: 'https', url: hanging.url }),
      );
      await hanging.waitFor(25);

      const meanwhile = await Promise.race([
        Promise.all([server.api('GET', '/v1/destinations'), server.api('POST', '/v1/send', sendBody())]),
        Promise.race(slow).then(() => 'a probe ended first'),
      ]);

      expect(meanwhile).toEqual([expect.objectContaining({ status: 200 }), expect.objectContaining({ status: 202 })]);
      for (const answer of await Promise.all(slow)) expectRefusal(answer, 422);
    });
  });

  describe('responses that are not stored', () => {
    it('400: malformed JSON; the key stays free for the corrected body', async () => {
      const key = randomUUID();

      expectRefusal(await post('/v1/send', key, '{"destination":'), 400);
      expectRefusal(await post('/v1/destinations', key, '{"name":'), 400);
      expect(await post('/v1/send', key, sendBody())).toMatchObject({ status: 202 });
      expect(await post('/v1/destinations', key, { name: 'Right', type: 'pull' })).toMatchObject({ status: 201 });
    });

    it('401 and 403: the key stays free for an authorized caller', async () => {
      const key = randomUUID();
      const reader = await createKey(server, { scope: 'read' });
      const body = { name: 'Permitted', type: 'pull' };

      expectRefusal(await post('/v1/destinations', key, body, { authorization: '' }), 401);
      expectRefusal(await post('/v1/destinations', key, body, as(reader.key)), 403);
      const created = await post('/v1/destinations', key, body);

      expect(created.status).toBe(201);
      expect(wasReplayed(created)).toBe(false);
    });

    it('413 and 415: the key stays free for the corrected body', async () => {
      const key = randomUUID();

      expectRefusal(await post('/v1/send', key, sendBody({ payload: { a: 'x'.repeat(1_048_576) } })), 413);
      expectRefusal(await post('/v1/send', key, 'a', { 'content-type': 'text/plain' }), 415);
      expect((await post('/v1/send', key, sendBody())).status).toBe(202);
    });
  });

  describe('the key itself', () => {
    it('in quotes or in upper case is the same key', async () => {
      const [key, body] = [randomUUID(), sendBody()];

      const first = await post('/v1/send', `"${key}"`, body);

      for (const spelling of [key, key.toUpperCase(), `"${key.toUpperCase()}"`])
        expectReplays(await post('/v1/send', spelling, body), first);
    });

    it.each([
      '',
      'order-17',
      '1',
      `{${UUID}}`,
      `"${UUID}`,
      `${UUID}, ${UUID}`,
      UUID.replaceAll('-', ''),
      `${UUID}0`,
      `urn:uuid:${UUID}`,
    ])('400: %p is not a valid key, and nothing happens', async (key) => {
      expectRefusal(await post('/v1/send', key, sendBody({ event_type: 'malformed.key' })), 400);
      expectRefusal(await post('/v1/destinations', key, { name: 'Malformed key', type: 'pull' }), 400);
      expect(await eventsOfType('malformed.key')).toEqual([]);
      expect(await destinationsNamed('Malformed key')).toEqual([]);
    });

    it('belongs to the environment, not to the API key: it is still valid with a rotated key', async () => {
      const old = await createKey(server, { scope: 'write' });
      const [key, body] = [randomUUID(), sendBody()];
      const first = await post('/v1/send', key, body, as(old.key));
      const { json: rotated } = await server.api('POST', `/v1/keys/${old.id}/rotate`);

      expectReplays(await post('/v1/send', key, body, as(rotated.key)), first);
    });

    it('belongs to the path: on another path it is a different key', async () => {
      const key = randomUUID();

      const answers = [
        await post('/v1/send', key, sendBody()),
        await post('/v1/destinations', key, { name: 'Elsewhere', type: 'pull' }),
        await post('/v1/keys', key, { name: 'Elsewhere', scope: 'read' }),
        await post(`/v1/destinations/${destination}/secret/rotate`, key),
        await post('/v1/dlq/redrive', key, {}),
      ];

      expect(answers.map(({ status }) => status)).toEqual([202, 201, 201, 200, 202]);
      expect(answers.map(wasReplayed)).toEqual([false, false, false, false, false]);
    });

    it('is ignored by operations that create nothing', async () => {
      const key = { 'idempotency-key': randomUUID() };

      const answers = [
        await server.api('GET', '/v1/org', undefined, key),
        await server.api('PATCH', '/v1/org', {}, key),
      ];

      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    });

    it('each replay sends the event again, unless it repeats an idempotency key', async () => {
      const message = await send(server, destination);
      const replay = (key?: string): Promise<ApiAnswer> =>
        server.api(
          'POST',
          `/v1/events/${message}/replay`,
          undefined,
          key === undefined ? {} : { 'idempotency-key': key },
        );
      const key = randomUUID();

      const answers = [
        await replay(),
        await replay(),
        await replay(key),
        await replay(key),
        await replay(randomUUID()),
      ];

      expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
      expect(new Set(answers.map(({ json }) => json.replay_id)).size).toBe(4);
      expectReplays(answers[3] as ApiAnswer, answers[2] as ApiAnswer);
    });
  });
});
