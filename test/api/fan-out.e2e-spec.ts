import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import type { ReceivedRequest } from '../support/receiver.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal } from './answers.js';
import { applicationOf, emit, endpointAt, eventsIn, eventsOf } from './applications.js';
import { until } from './polling.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import {
  destinationAt,
  eventAfter,
  eventIn,
  expectStatus,
  makeDue,
  openSql,
  RARE_RETRIES,
  startTargets,
  WITHIN_MS,
} from './scene.js';

/** Time limit for a fan-out to 1,000 endpoints while other suites use the same two cores. */
const MANY_WITHIN_MS = 60_000;

describe('a fan-out', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    [server, targets] = await Promise.all([
      startServer({ RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' }),
      startTargets(),
    ]);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await targets?.close();
  });

  /** Creates an endpoint with a separate target. */
  async function listener(
    application: string,
    fields: object = {},
    target = targets.open(),
  ): Promise<{ id: string; secret: string; target: TargetPath }> {
    const { id, secret } = await endpointAt(server, application, target.url, fields);
    return { id, secret, target };
  }

  /** Returns which endpoints a message was sent to, as positions in `listeners`. */
  async function reached(listeners: readonly { id: string }[], messageId: string): Promise<number[]> {
    const events = await eventsOf(server, messageId);
    return events.map(({ endpoint }) => listeners.findIndex(({ id }) => id === endpoint)).sort();
  }

  it('202: the first send creates the application by its uid; 404 for an unknown app_ id, and 422 for an invalid uid', async () => {
    const sent = await emit(server, 'made-by-a-send');

    expect(sent).toEqual({ message_id: expect.stringMatching(/^msg_/), fanout: 0 });
    expect((await server.api('GET', '/v1/app/made-by-a-send')).json).toMatchObject({
      uid: 'made-by-a-send',
      name: 'made-by-a-send',
      endpoint_count: 0,
    });
    const body = { event_type: 'a', payload: {} };
    for (const unknown of ['app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', 'app_x'])
      expectRefusal(await server.api('POST', `/v1/app/${unknown}/event`, body), 404);
    expectInvalid(await server.api('POST', '/v1/app/a%20b/event', body), 'schema', 'app');
  });

  it('twenty concurrent first sends create one application', async () => {
    const sent = await Promise.all(Array.from({ length: 20 }, () => emit(server, 'made-at-once')));

    expect(new Set(sent.map(({ message_id: id }) => id)).size).toBe(20);
    expect(await sql.rows(`select from applications where uid = 'made-at-once'`)).toHaveLength(1);
  });

  it('an event goes to subscriptions to its type, to a prefix of its type or to all types, and to no others', async () => {
    const application = await applicationOf(server);
    const wanted = [
      ['invoice.paid'],
      ['invoice.*'],
      [],
      ['user.*', 'invoice.paid'],
      ['invoice'],
      ['invoice.paid.*'],
      ['INVOICE.paid'],
      ['inv.*'],
    ];
    const listeners = [];
    for (const event_types of wanted) listeners.push(await listener(application, { event_types }));

    for (const [eventType, whom] of [
      ['invoice.paid', [0, 1, 2, 3]],
      ['invoice.paid.late', [1, 2, 5]],
      ['invoice', [2, 4]],
      ['other', [2]],
    ] as const) {
      const sent = await emit(server, application, { event_type: eventType });
      expect([eventType, sent.fanout, await reached(listeners, sent.message_id)]).toEqual([
        eventType,
        whom.length,
        whom,
      ]);
    }
  });

  it('an endpoint with channels gets the messages that name one of them; an endpoint without channels gets all', async () => {
    const application = await applicationOf(server);
    const listeners = [];
    for (const channels of [[], ['one'], ['one', 'two'], ['three']])
      listeners.push(await listener(application, { channels }));

    for (const [channels, whom] of [
      [undefined, [0]],
      [[], [0]],
      [['one'], [0, 1, 2]],
      [
        ['two', 'three'],
        [0, 2, 3],
      ],
      [['ONE'], [0]],
    ] as const) {
      expect(await reached(listeners, (await emit(server, application, { channels })).message_id)).toEqual(whom);
    }
    expectInvalid(
      await server.api('POST', `/v1/app/${application}/event`, {
        event_type: 'a',
        payload: {},
        channels: ['ok', 'not ok'],
      }),
      'schema',
      'channels.1',
    );
  });

  it('filters test the payload and the headers; above 128 KB, no filter that needs JSON matches, not even a negated filter', async () => {
    const application = await applicationOf(server);
    const filters = [
      { path: '$.amount', op: 'gt', value: '100' },
      { not: { path: '$.amount', op: 'gt', value: '100' } },
      { type: 'header', name: 'x-tier', op: 'eq', value: 'gold' },
      null,
    ];
    const listeners = [];
    for (const filter of filters) listeners.push(await listener(application, { filter }));

    for (const [fields, whom] of [
      [{ payload: { amount: 101 } }, [0, 3]],
      [{ payload: { amount: 100 } }, [1, 3]],
      [{ payload: { amount: 200 }, headers: { 'X-Tier': 'gold' } }, [0, 2, 3]],
      [{ payload: { amount: 200, text: 'x'.repeat(128 * 1024) } }, [3]],
    ] as const)
      expect(await reached(listeners, (await emit(server, application, fields)).message_id)).toEqual(whom);
  });

  it('a change of a subscription applies to the next event, on every node', async () => {
    const second = await startServer(server.env);
    try {
      const application = await applicationOf(server);
      const { id } = await listener(application, { event_types: ['a'] });
      expect((await emit(second, application, { event_type: 'a' })).fanout).toBe(1);

      await server.api('PATCH', `/v1/app/${application}/endpoints/${id}`, { event_types: ['b'] });

      expect((await emit(server, application, { event_type: 'a' })).fanout).toBe(0);
      await until(
        () => emit(second, application, { event_type: 'b' }),
        ({ fanout }) => fanout === 1,
        WITHIN_MS,
      );
    } finally {
      await second.stop();
    }
  });

  /** Verifies a delivery with the official Svix and Standard Webhooks clients, and returns the payloads. */
  function verified({ headers, rawBody }: ReceivedRequest, secret: string): unknown[] {
    const signed = Object.fromEntries(
      ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, headers[name] as string]),
    );
    return [new SvixWebhook(secret), new StandardWebhook(secret)].map((webhook) =>
      webhook.verify(rawBody.toString(), signed),
    );
  }

  it('every endpoint verifies its delivery with its own secret, and with no other; the webhook-id is the message id for all', async () => {
    const application = await applicationOf(server);
    const listeners = [
      await listener(application),
      await listener(application, { asymmetric: true }),
      await listener(application),
    ];

    const { message_id: message } = await emit(server, application, {
      payload: { a: 'ä' },
      headers: { 'X-Tenant': '42' },
    });

    for (const { target, secret } of listeners) {
      const [post] = await target.arrived(1);
      expect(post?.headers).toMatchObject({
        'webhook-id': message,
        'webhook-event-type': 'invoice.paid',
        'x-tenant': '42',
        'content-type': 'application/json',
      });
      expect(verified(post as ReceivedRequest, secret)).toEqual([{ a: 'ä' }, { a: 'ä' }]);
      for (const other of listeners.filter((each) => each.secret !== secret))
        expect(() => verified(post as ReceivedRequest, other.secret)).toThrow();
    }
  });

  it('after a rotation, a receiver with the old secret and a receiver with the new secret can both verify deliveries', async () => {
    const application = await applicationOf(server);
    const { id, secret, target } = await listener(application);

    const { json } = await server.api('POST', `/v1/app/${application}/endpoints/${id}/secret/rotate`, {
      grace_seconds: 60,
    });
    await emit(server, application);

    const [post] = await target.arrived(1);
    expect(json.secret).not.toBe(secret);
    for (const each of [secret, json.secret as string]) expect(verified(post as ReceivedRequest, each)).toHaveLength(2);
  });

  it('delivers the payload byte for byte', async () => {
    const application = await applicationOf(server);
    const { target } = await listener(application);
    const payload = '{ "b" : 12345678901234567890, "a":1.00, "a": "\\u00e4", "é": [ ] }';

    expectStatus(
      await server.api('POST', `/v1/app/${application}/event`, `{"event_type":"a","payload":${payload},"channels":[]}`),
      202,
    );

    expect((await target.arrived(1))[0]?.rawBody.toString()).toBe(payload);
  });

  it('GET /v1/events?message_id= lists exactly the fan-out, also by status and endpoint', async () => {
    const application = await applicationOf(server);
    const good = await Promise.all(Array.from({ length: 3 }, () => listener(application)));
    const bad = await listener(
      application,
      { retry: { max_attempts: 1 } },
      targets.open(() => ({ status: 500 })),
    );
    await emit(server, application);

    const { message_id: message, fanout } = await emit(server, application);
    await emit(server, application);
    await until(
      () => eventsOf(server, message, '&status=retrying'),
      (events) => events.length === 0,
      WITHIN_MS,
    );

    expect(fanout).toBe(4);
    expect(await reached([...good, bad], message)).toEqual([0, 1, 2, 3]);
    expect((await eventsOf(server, message, '&status=delivered')).map(({ endpoint }) => endpoint).sort()).toEqual(
      good.map(({ id }) => id).sort(),
    );
    expect(await eventsOf(server, message, '&status=dlq')).toEqual([
      expect.objectContaining({ endpoint: bad.id, message_id: message }),
    ]);
    expect(await eventsOf(server, message, `&endpoint=${bad.id}`)).toHaveLength(1);
  });

  it('POST …/messages/{message}/endpoints/{endpoint}/resend sends to this endpoint only; 404 if the message did not go to it, 409 while it takes no deliveries', async () => {
    const application = await applicationOf(server, { uid: 'resent' });
    const [one, two] = [await listener(application, { uid: 'the-first' }), await listener(application)];
    const late = await emit(server, application);
    const { message_id: message } = await emit(server, application);
    await eventsIn(server, message, 2, 'delivered');
    const unasked = await listener(application);
    const other = await applicationOf(server);
    const foreign = await listener(other);
    const resend = (of: string, at: string, app = application, headers = {}): Promise<ApiAnswer> =>
      server.api('POST', `/v1/app/${app}/messages/${of}/endpoints/${at}/resend`, undefined, headers);

    const answers = [
      expectStatus(await resend(message, one.id), 202),
      expectStatus(await resend(message, 'the-first', 'resent'), 202),
    ];

    const posts = await until(
      async () => (await one.target.arrived(1)).filter(({ headers }) => headers['webhook-id'] === message),
      (all) => all.length === 3,
      WITHIN_MS,
    );
    expect(posts.map(({ headers }) => headers['webhook-replayed'])).toEqual([undefined, 'true', 'true']);
    const [event] = await eventsOf(server, message, `&endpoint=${one.id}`);
    expect(answers.map(({ json }) => json.event_id)).toEqual([event.id, event.id]);
    expect((await two.target.arrived(2)).filter(({ headers }) => headers['webhook-id'] === message)).toHaveLength(1);
    expect(late.message_id).not.toBe(message);
    for (const [of, at, app] of [
      [message, unasked.id, application],
      [message, foreign.id, application],
      [message, one.id, other],
      [message, foreign.id, other],
      ['msg_none', one.id, application],
      [message, 'ep_none', application],
      [event.id, one.id, application],
    ])
      expectRefusal(await resend(of, at, app), 404);
    const { key } = await createKey(server, { scope: 'write', environment: 'test' });
    expectRefusal(await resend(message, one.id, application, as(key)), 404);
    expectStatus(await server.api('PATCH', `/v1/app/${application}/endpoints/${one.id}`, { status: 'disabled' }), 200);
    expectRefusal(await resend(message, one.id), 409);
  });

  it('GET /v1/events?application= lists the events of an application, newest first, by its id and its uid, also by status, endpoint, type and page', async () => {
    const application = await applicationOf(server, { uid: 'listed' });
    const good = await listener(application);
    const bad = await listener(
      application,
      { retry: { max_attempts: 1 } },
      targets.open(() => ({ status: 500 })),
    );
    const shared = await destinationAt(server, targets.open().url);
    expectStatus(
      await server.api('POST', `/v1/app/${application}/endpoints`, { destination: shared, event_types: ['shared'] }),
      201,
    );
    const other = await applicationOf(server);
    await listener(other);
    const messages: string[] = [];
    for (const event_type of ['one', 'shared']) {
      messages.unshift((await emit(server, application, { event_type })).message_id);
      await emit(server, other, { event_type });
    }
    await until(
      () => eventsOf(server, messages[0] as string, '&status=retrying'),
      (events) => events.length === 0,
      WITHIN_MS,
    );
    await until(
      () => eventsOf(server, messages[1] as string, '&status=retrying'),
      (events) => events.length === 0,
      WITHIN_MS,
    );
    const all = (await Promise.all(messages.map((message) => eventsOf(server, message)))).flat();
    const listed = async (query: string): Promise<string[]> =>
      expectStatus(await server.api('GET', `/v1/events?${query}`), 200).json.data.map(({ id }: { id: string }) => id);
    const ids = (filter: (event: Record<string, string>) => boolean = () => true): string[] =>
      all.filter(filter).map(({ id }) => id);

    expect(all).toHaveLength(5);
    expect(await listed('application=listed')).toEqual(ids());
    expect(await listed(`application=${application}`)).toEqual(ids());
    expect(await listed('application=listed&event_type=one')).toEqual(ids(({ event_type: type }) => type === 'one'));
    expect(await listed('application=listed&status=dlq')).toEqual(ids(({ endpoint }) => endpoint === bad.id));
    expect(await listed('application=listed&status=delivered')).toEqual(ids(({ status }) => status === 'delivered'));
    expect(await listed(`application=listed&endpoint=${good.id}`)).toEqual(ids(({ endpoint }) => endpoint === good.id));
    expect(await listed(`application=${other}&endpoint=${good.id}`)).toEqual([]);
    expect(await listed(`application=listed&destination=${shared}`)).toHaveLength(1);
    expect(await listed(`application=listed&message_id=${messages[1]}`)).toHaveLength(2);
    expect(await listed('application=nobody')).toEqual([]);
    const paged: string[] = [];
    for (let cursor = ''; ;) {
      const { data, next_cursor: next } = (await server.api('GET', `/v1/events?application=listed&limit=2${cursor}`))
        .json;
      paged.push(...data.map(({ id }: { id: string }) => id));
      if (next === null) break;
      cursor = `&cursor=${next}`;
    }
    expect(paged).toEqual(ids());
  });

  it('404: GET /v1/events/{id} with the message id of a fan-out says where its events are, and GET …/messages/{id} returns the message', async () => {
    const application = await applicationOf(server);
    await listener(application);
    await listener(application);
    const { message_id: message } = await emit(server, application, {
      payload: { n: 1 },
      headers: { 'X-Tenant': '42' },
      channels: ['one'],
    });

    const answer = await server.api('GET', `/v1/events/${message}`);

    expectRefusal(answer, 404);
    const { details } = answer.json.error;
    expect(details).toEqual({
      message_id: message,
      fanout: 2,
      events: `/v1/events?message_id=${message}`,
      message: `/v1/app/${application}/messages/${message}`,
    });
    expect(expectStatus(await server.api('GET', details.events), 200).json.data).toHaveLength(2);
    expect(expectStatus(await server.api('GET', details.message), 200).json).toEqual({
      id: message,
      application,
      event_type: 'invoice.paid',
      channels: ['one'],
      fanout: 2,
      payload_bytes: 7,
      created_at: expect.any(String),
      headers: { 'x-tenant': '42' },
      payload: { n: 1 },
    });
    expect(expectStatus(await server.api('GET', `/v1/events/${message}/payload`), 200).text).toBe('{"n":1}');
    expectRefusal(await server.api('GET', `/v1/app/${await applicationOf(server)}/messages/${message}`), 404);
    expectRefusal(await server.api('GET', `/v1/app/${application}/messages/msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1`), 404);
    const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
    for (const path of [`/v1/events/${message}`, details.message]) {
      const other = await server.api('GET', path, undefined, as(key));
      expectRefusal(other, 404);
      expect(other.json.error.details).toEqual({});
    }
  });

  it('an event without a subscriber is stored as ignored, under the id of the message', async () => {
    const application = await applicationOf(server);
    await listener(application, { event_types: ['something.else'] });

    const { message_id: message, fanout } = await emit(server, application, { payload: { kept: true } });

    expect(fanout).toBe(0);
    expect(await eventsOf(server, message)).toEqual([
      expect.objectContaining({ id: message.replace('msg_', 'evt_'), status: 'ignored' }),
    ]);
    expect((await server.api('GET', `/v1/events/${message}`)).json).toMatchObject({
      status: 'ignored',
      payload: { kept: true },
      deliveries: [],
      attempts: [],
    });
  });

  it('retries go only to the endpoint that failed, with the same body and id', async () => {
    const application = await applicationOf(server);
    const good = await listener(application);
    const bad = await listener(
      application,
      { retry: { schedule: [0, 0, 0] } },
      targets.open((_post, index) => ({ status: index < 2 ? 500 : 200 })),
    );

    const { message_id: message } = await emit(server, application);
    await eventsIn(server, message, 2, 'delivered');

    expect(good.target.posts()).toHaveLength(1);
    const posts = bad.target.posts();
    expect(posts.map(({ headers }) => headers['webhook-id'])).toEqual([message, message, message]);
    expect(new Set(posts.map(({ rawBody }) => rawBody.toString()))).toEqual(new Set(['{"hello":"world"}']));
  });

  it('202: a replay of one event of a fan-out goes to its endpoint only', async () => {
    const application = await applicationOf(server);
    const [first, second] = [await listener(application), await listener(application)];
    const { message_id: message } = await emit(server, application);
    const events = await eventsIn(server, message, 2, 'delivered');

    expectStatus(
      await server.api('POST', `/v1/events/${events.find(({ endpoint }) => endpoint === first.id)?.id}/replay`),
      202,
    );

    const posts = await first.target.arrived(2);
    expect(posts[1]?.headers).toMatchObject({ 'webhook-id': message, 'webhook-replayed': 'true' });
    expect(posts[1]?.rawBody.toString()).toBe('{"hello":"world"}');
    await eventsIn(server, message, 2, 'delivered');
    expect(second.target.posts()).toHaveLength(1);
  });

  it('also goes to registered destinations, over https and pull', async () => {
    const target = targets.open();
    const application = await applicationOf(server);
    const https = await destinationAt(server, target.url);
    const pull = expectStatus(await server.api('POST', '/v1/destinations', { name: 'Pulled', type: 'pull' }), 201).json
      .id as string;
    const ids: string[] = [];
    for (const destination of [https, pull])
      ids.push((await server.api('POST', `/v1/app/${application}/endpoints`, { destination })).json.id);

    const { message_id: message } = await emit(server, application);
    await eventsIn(server, message, 2, 'delivered');
    const fetched = await until(
      () => server.api('GET', `/v1/pull/${pull}`),
      ({ json }) => json.data.length === 1,
      WITHIN_MS,
    );

    const [post] = await target.arrived(1);
    expect(
      verified(post as ReceivedRequest, (await server.api('GET', `/v1/destinations/${https}/secret`)).json.secret),
    ).toHaveLength(2);
    expect(post?.headers['webhook-id']).toBe(message);
    expect(fetched.json.data[0]).toMatchObject({ event_type: 'invoice.paid', payload: { hello: 'world' } });
    expect(
      await reached(
        ids.map((id) => ({ id })),
        message,
      ),
    ).toEqual([0, 1]);
    for (const key of [https, pull, ...ids]) {
      await until(
        () => server.api('GET', `/v1/metrics?key=${key}&window=1d`),
        ({ json }: ApiAnswer) => json.data.at(-1)?.delivered === 1,
        WITHIN_MS,
      );
    }
  });

  it('the metrics of an endpoint with a URL count each delivery once', async () => {
    const application = await applicationOf(server);
    const { id } = await listener(application);
    const { message_id: message } = await emit(server, application);
    await eventsIn(server, message, 1, 'delivered');

    const rollup = (): Promise<ApiAnswer['json']> =>
      server.api('GET', `/v1/metrics?key=${id}&window=1d`).then(({ json }) => json.data.at(-1));
    await until(rollup, ({ delivered }) => delivered > 0, WITHIN_MS);
    await until(
      () => sql.rows('select from rollup_parts'),
      (parts) => parts.length === 0,
      WITHIN_MS,
    );

    expect(await rollup()).toMatchObject({ received: 1, delivered: 1, attempts: 1 });
    expect((await server.api('GET', `/v1/events?endpoint=${id}`)).json.data).toHaveLength(1);
  });

  it('the detail of an event shows its application and endpoint, and the payload that all events of the message share', async () => {
    const application = await applicationOf(server);
    const { id } = await listener(
      application,
      { retry: RARE_RETRIES.retry },
      targets.open((_post, index) => ({ status: index === 0 ? 500 : 200 })),
    );
    const { message_id: message } = await emit(server, application, { headers: { 'x-a': 'b' } });
    const [{ id: eventId }] = (await until(
      () => eventsOf(server, message),
      (events) => events.length === 1,
      WITHIN_MS,
    )) as [{ id: string }];

    const event = await eventAfter(server, eventId, 1);
    await makeDue(sql, eventId);

    expect(event).toMatchObject({
      message_id: message,
      endpoint: id,
      payload: { hello: 'world' },
      headers: { 'x-a': 'b' },
    });
    await eventIn(server, eventId, 'delivered');
  });

  it('404: the application and the message do not exist in another environment', async () => {
    const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
    const application = await applicationOf(server, { uid: 'both' });
    await listener(application);
    const { message_id: message } = await emit(server, application);

    expectRefusal(
      await server.api('POST', `/v1/app/${application}/event`, { event_type: 'a', payload: {} }, as(key)),
      404,
    );
    const foreign = await server.api('POST', '/v1/app/both/event', { event_type: 'a', payload: {} }, as(key));
    expect(foreign).toMatchObject({ status: 202, json: { fanout: 0 } });
    expect((await server.api('GET', `/v1/events?message_id=${message}`, undefined, as(key))).json.data).toEqual([]);
  });

  it('a thousand endpoints each get it once, and one list contains all of them', async () => {
    const target = targets.open();
    const application = await applicationOf(server);
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    for (let made = 0; made < 1_000; made += 50) {
      await Promise.all(Array.from({ length: 50 }, () => endpointAt(server, application, target.url, { secret })));
    }

    const { message_id: message, fanout } = await emit(server, application);
    await target.arrived(1_000, MANY_WITHIN_MS);
    const events = await eventsIn(server, message, 1_000, 'delivered', MANY_WITHIN_MS);

    expect(fanout).toBe(1_000);
    expect(new Set(events.map(({ endpoint }) => endpoint)).size).toBe(1_000);
    expect(target.posts()).toHaveLength(1_000);
    expect(verified(target.posts()[999] as ReceivedRequest, secret)).toHaveLength(2);
  }, 180_000);
});
