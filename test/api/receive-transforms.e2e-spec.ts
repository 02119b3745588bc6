import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { until } from './polling.js';
import type { Inbound, Sent } from './receiving.js';
import { accepted, change, inbound, json, provide, requestOf, requestsOf } from './receiving.js';
import type { TargetPath, Targets } from './scene.js';
import { destinationAt, eventIn, eventOf, expectStatus, startTargets } from './scene.js';

/** Code that tries to exhaust CPU time or memory, and the expected error. */
const BOMBS: [string, string, string][] = [
  ['an endless loop', 'export default () => { for (;;); }', 'timeout'],
  ['a loop of promises', 'export default async () => { for (;;) await null; }', 'timeout'],
  [
    'a memory bomb',
    `export default () => { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1)); }`,
    'memory|threw|timeout',
  ],
  ['a string that doubles', `export default () => { let s = 'x'; for (;;) s += s; }`, 'memory|threw|timeout'],
  ['endless recursion', 'const f = (n) => f(n + 1) + 1;\nexport default () => f(0)', 'threw|memory|crashed'],
  ['a pattern that backtracks', `export default () => /^(a+)+$/.test('a'.repeat(40) + 'b')`, 'timeout|threw'],
  ['a result that is too large', `export default () => ({ body: 'a'.repeat(300000) })`, 'result_too_large'],
  [
    'an endless result',
    'export default () => { const body = {}; body.body = body; return { body }; }',
    'invalid_result|threw',
  ],
  ['a promise that nothing settles', 'export default () => new Promise(() => {})', 'invalid_result|timeout'],
  ['an exception', `export default () => { throw new Error('no'); }`, 'threw'],
  ['a result that is not an event', 'export default () => 42', 'what it returned has no body'],
  ['an event without a body', 'export default () => ({})', 'what it returned has no body'],
  [
    'an invalid event type',
    `export default (event) => ({ ...event, event_type: 'a b' })`,
    'the event_type it returned is none',
  ],
  ['a body with U+0000', `export default () => ({ body: 'a\\u0000b' })`, 'the body it returned contains U\\+0000'],
];

/** Maximum time that a call waits for CPU time on a busy machine. */
const BUSY_MS_MAX = 40_000;

describe('transforms', () => {
  let server: PosthornServer;
  let targets: Targets;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer(), startTargets()]);
  });

  afterAll(async () => {
    await server.stop();
    await targets.close();
  });

  /** Creates an endpoint with the transform and a destination. */
  async function transforming(
    transform: object,
    settings: object = {},
  ): Promise<{ endpoint: Inbound; target: TargetPath }> {
    const target = targets.open();
    const endpoint = await inbound(server, {
      transform,
      destinations: [await destinationAt(server, target.url)],
      ...settings,
    });
    return { endpoint, target };
  }

  const managed = (code: string, more: object = {}): object => ({ engine: 'managed', code, timeoutMs: 2000, ...more });

  const deliveredBy = async (target: TargetPath, id: string): Promise<ReturnType<TargetPath['posts']>[number]> => {
    await eventIn(server, id, 'delivered');
    return target.posts().find(({ headers }) => headers['webhook-id'] === id) as ReturnType<
      TargetPath['posts']
    >[number];
  };

  it('managed: the returned body is delivered, signed and shown; the request keeps the received body; event_type changes', async () => {
    const code = `export default (event) => ({ ...event, event_type: 'order.' + event.body.kind, body: { was: event.event_type, n: event.body.n + 1, id: event.id } })`;
    const { endpoint, target } = await transforming(managed(code));
    const secret = (
      await server.api(
        'GET',
        `/v1/destinations/${(await server.api('GET', `/v1/endpoints/${endpoint.id}`)).json.destinations[0]}/secret`,
      )
    ).json.secret;

    const id = await accepted(server, endpoint, json({ type: 'raw', kind: 'paid', n: 1 }, { 'x-own': '1' }));

    const post = await deliveredBy(target, id);
    const expected = { was: 'raw', n: 2, id };
    expect(new Webhook(secret).verify(post.rawBody, post.headers as Record<string, string>)).toEqual(expected);
    expect(post.headers).toMatchObject({ 'content-type': 'application/json', 'x-own': '1' });
    expect(await eventOf(server, id)).toMatchObject({
      event_type: 'order.paid',
      payload: expected,
      payload_encoding: 'json',
    });
    expect(await requestOf(server, endpoint, id)).toMatchObject({
      body: '{"type":"raw","kind":"paid","n":1}',
      note: 'transformed',
      status: 'routed',
    });
  });

  it('managed: a string is delivered unchanged with the received content type; a list or null is delivered as JSON', async () => {
    const { endpoint, target } = await transforming(managed('export default (event) => ({ body: event.body.give })'));

    const text = await accepted(server, endpoint, json({ give: 'a=1&b=é' }, { 'content-type': 'application/json' }));
    const list = await accepted(server, endpoint, json({ give: [1, null] }));
    const nothing = await accepted(server, endpoint, json({ give: null }));

    expect(String((await deliveredBy(target, text)).rawBody)).toBe('a=1&b=é');
    expect(String((await deliveredBy(target, list)).rawBody)).toBe('[1,null]');
    expect(String((await deliveredBy(target, nothing)).rawBody)).toBe('null');
  });

  it('managed: if only the type of an event changes, its body keeps every character, and its content type', async () => {
    const body = '{ "type": "raw",\n"id": 12345678901234567890, "amount": 1e400, "price": 0.10 }';
    const { endpoint, target } = await transforming(
      managed(`export default (event) => ({ ...event, event_type: 'renamed' })`),
    );

    const id = await accepted(server, endpoint, {
      body,
      headers: { 'content-type': 'application/vnd.acme+json', 'x-own': '1' },
    });

    const post = await deliveredBy(target, id);
    expect(String(post.rawBody)).toBe(body);
    expect(post.headers).toMatchObject({ 'content-type': 'application/vnd.acme+json', 'x-own': '1' });
    expect((await server.api('GET', `/v1/events/${id}`)).text).toContain(body);
    expect(await eventOf(server, id)).toMatchObject({ event_type: 'renamed' });
    expect(await requestOf(server, endpoint, id)).toMatchObject({ body, note: 'transformed' });
  });

  it('managed: headers that the code sets, changes or omits apply to the deliveries', async () => {
    const code = `export default (event) => {
      const { 'x-gone': _, ...headers } = event.headers;
      return { ...event, headers: { ...headers, 'X-Own': '2', 'x-new': 'n', 'content-type': 'application/vnd.acme+json' } };
    }`;
    const { endpoint, target } = await transforming(managed(code));

    const id = await accepted(server, endpoint, json({ a: 1 }, { 'x-own': '1', 'x-gone': 'g', 'x-kept': 'k' }));

    const { headers, rawBody } = await deliveredBy(target, id);
    expect(headers).toMatchObject({
      'x-own': '2',
      'x-new': 'n',
      'x-kept': 'k',
      'content-type': 'application/vnd.acme+json',
    });
    expect(headers).not.toHaveProperty('x-gone');
    expect(String(rawBody)).toBe('{"a":1}');
  });

  it.each([
    ['a header of the service', `{ ...event.headers, 'webhook-id': 'mine' }`, 'webhook-id'],
    ['a header of the connection', `{ ...event.headers, 'Transfer-Encoding': 'chunked' }`, 'transfer-encoding'],
    ['the hop count', `{ ...event.headers, 'posthorn-hops': '0' }`, 'posthorn-hops'],
    ['a line break in a value', `{ ...event.headers, 'x-a': 'a\\r\\nb: c' }`, 'x-a'],
    ['a list', '[]', null],
    ['a number as a value', '{ a: 1 }', null],
  ])('managed: headers with %s park the event, with an explanation', async (_what, headers, name) => {
    const { endpoint } = await transforming(managed(`export default (event) => ({ ...event, headers: ${headers} })`));

    const id = await accepted(server, endpoint, json({ a: 1 }));

    const why =
      name === null
        ? 'the headers it returned are no object of texts'
        : `the header ${name} that it returned can't be sent`;
    expect(await requestOf(server, endpoint, id)).toMatchObject({
      status: 'parked',
      note: `The transform failed: ${why}.`,
    });
  });

  it.each<[string, (body: string) => Buffer]>([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])(
    'transforms, filters and rules see a body in %s decoded, and an unchanged one is delivered as received',
    async (encoding, pack) => {
      const target = targets.open();
      const code = `export default (event) => event.body.change ? { ...event, body: { was: event.body.kind } } : event`;
      const endpoint = await inbound(server, {
        transform: managed(code),
        routes: [
          {
            destination: await destinationAt(server, target.url),
            filter: {
              any: [
                { path: '$.kind', op: 'eq', value: 'paid' },
                { path: '$.was', op: 'eq', value: 'paid' },
              ],
            },
          },
        ],
        responseRules: {
          rules: [
            { when: { type: 'json', path: '$.kind', op: 'exists' }, respond: { status: 202, body: '{{body.kind}}' } },
          ],
        },
      });
      const sent = (body: object): Sent => ({
        body: pack(JSON.stringify(body)),
        headers: { 'content-type': 'application/json', 'content-encoding': encoding },
      });

      const answers = [];
      for (const body of [
        { type: 'a.b', kind: 'paid' },
        { type: 'a.b', kind: 'paid', change: true },
        { type: 'a.b', kind: 'open' },
      ]) {
        answers.push(await provide(server, endpoint.at, sent(body)));
      }

      expect(answers.map(({ status, text }) => `${status} ${text}`)).toEqual(['202 paid', '202 paid', '202 open']);
      const [ignored, changed, kept] = (await requestsOf(server, endpoint)) as {
        id: string;
        event_id: string;
        status: string;
      }[];
      expect([kept?.status, changed?.status, ignored?.status]).toEqual(['routed', 'routed', 'ignored']);
      const raw = await deliveredBy(target, String(kept?.event_id));
      expect([raw.headers['content-encoding'], raw.rawBody]).toEqual([
        encoding,
        pack(JSON.stringify({ type: 'a.b', kind: 'paid' })),
      ]);
      const made = await deliveredBy(target, String(changed?.event_id));
      expect([made.headers['content-encoding'], String(made.rawBody)]).toEqual([undefined, '{"was":"paid"}']);
      expect(await eventOf(server, String(kept?.event_id))).toMatchObject({ event_type: 'a.b' });
    },
  );

  it('a decompression bomb is cut off: filters and transforms do not get it, and the next event is answered', async () => {
    const bomb = gzipSync(Buffer.from(`{"kind":"paid","pad":"${' '.repeat(300_000_000)}"}`));
    const { endpoint } = await transforming(managed('export default (event) => event'));
    const filtered = await inbound(server, {
      routes: [
        {
          destination: await destinationAt(server, targets.open().url),
          filter: {
            any: [
              { path: '$.kind', op: 'eq', value: 'paid' },
              { type: 'body', op: 'contains', value: 'paid' },
            ],
          },
        },
      ],
    });
    const sent: Sent = { body: bomb, headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } };

    const [parked, ignored] = [await accepted(server, endpoint, sent), await accepted(server, filtered, sent)];

    expect(await requestOf(server, endpoint, parked)).toMatchObject({
      status: 'parked',
      note: "The transform failed: the body can't be unpacked.",
    });
    expect(await requestOf(server, filtered, ignored)).toMatchObject({ status: 'ignored' });
    await accepted(server, endpoint, json({ a: 1 }));
  });

  it('managed: null drops the event, which is ignored; the response is still 200', async () => {
    const { endpoint, target } = await transforming(
      managed('export default (event) => (event.body.test ? null : event)'),
    );

    const dropped = await accepted(server, endpoint, json({ test: true }));
    const kept = await accepted(server, endpoint, json({ test: false }));

    await deliveredBy(target, kept);
    expect(await eventOf(server, dropped)).toMatchObject({ status: 'ignored', deliveries: [] });
    expect(await requestOf(server, endpoint, dropped)).toMatchObject({
      status: 'ignored',
      note: 'The transform dropped it.',
    });
    expect(target.posts()).toHaveLength(1);
  });

  it('managed: the code gets the secrets that it names, and a new value at once', async () => {
    const name = `CRM_${Date.now()}`;
    const secret = expectStatus(await server.api('POST', '/v1/secrets', { name, value: 'first' }), 201).json
      .id as string;
    const { endpoint, target } = await transforming(
      managed(
        `export default (event, { secrets }) => ({ body: { token: secrets.${name}, all: Object.keys(secrets) } })`,
      ),
    );

    const one = await accepted(server, endpoint, json({}));
    expectStatus(await server.api('PUT', `/v1/secrets/${secret}`, { value: 'second' }), 200);
    const two = await accepted(server, endpoint, json({}));

    expect(JSON.parse(String((await deliveredBy(target, one)).rawBody))).toEqual({ token: 'first', all: [name] });
    expect(JSON.parse(String((await deliveredBy(target, two)).rawBody))).toEqual({ token: 'second', all: [name] });
  });

  it.each<[string, Sent, unknown]>([
    ['a form', { body: 'a=1&b=2', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 'a=1&b=2'],
    ['bytes', { body: Buffer.from([0xff, 0]), headers: { 'content-type': 'application/octet-stream' } }, '/wA='],
    ['nothing', {}, ''],
    ['a deep list', { body: `${'['.repeat(400)}${']'.repeat(400)}` }, undefined],
  ])('managed: the code gets %s', async (_title, sent, seen) => {
    const { endpoint, target } = await transforming(
      managed('export default (event) => ({ body: { seen: event.body } })'),
    );

    const id = await accepted(server, endpoint, sent);

    const { rawBody } = await deliveredBy(target, id);
    if (seen === undefined) expect(String(rawBody)).toBe(`{"seen":${String(sent.body)}}`);
    else expect(JSON.parse(String(rawBody))).toEqual({ seen });
  });

  it('url: the body is posted signed, and the JSON response is delivered and filtered; 204 drops the event', async () => {
    const host = targets.open(({ rawBody }) =>
      String(rawBody).includes('drop') ? { status: 204 } : { body: '{ "made": 12345678901234567890 }' },
    );
    const { endpoint, target } = await transforming({ engine: 'url', url: host.url });

    const id = await accepted(server, endpoint, json({ type: 'a.b' }));
    const dropped = await accepted(server, endpoint, json({ type: 'drop' }));

    expect(String((await deliveredBy(target, id)).rawBody)).toBe('{ "made": 12345678901234567890 }');
    expect((await eventOf(server, dropped)).status).toBe('ignored');
    const [asked] = host.posts();
    const { secret } = (await server.api('GET', '/v1/signing-secret')).json;
    expect(new Webhook(secret).verify(asked?.rawBody ?? '', asked?.headers as Record<string, string>)).toEqual({
      type: 'a.b',
    });
    expect(asked?.headers).toMatchObject({ 'webhook-id': id, 'posthorn-event-type': 'a.b' });
  });

  it.each<[string, (index: number) => object, RegExp]>([
    ['500', () => ({ status: 500 }), /the transform answered 500/],
    ['a redirect', () => ({ status: 302, headers: { location: '/elsewhere' } }), /answered 302/],
    ['a response that is not JSON', () => ({ body: '<a/>' }), /not JSON/],
    ['over 256 KB', () => ({ body: `"${'a'.repeat(262_144)}"` }), /over 256 KB/],
    ['no response in time', () => ({ hang: true }), /timeout/],
  ])('url, closed (the default): %s parks the event', async (_title, answer, note) => {
    const host = targets.open((_post, index) => answer(index));
    const { endpoint, target } = await transforming({ engine: 'url', url: host.url, timeoutMs: 200 });

    const id = await accepted(server, endpoint, json({ n: 1 }));

    expect(await eventOf(server, id)).toMatchObject({ status: 'parked', payload: { n: 1 }, deliveries: [] });
    expect((await requestOf(server, endpoint, id)).note).toMatch(note);
    expect(target.posts()).toEqual([]);
  });

  it('open: if the transform fails, the received body is delivered, and the request and the event say so', async () => {
    const { endpoint, target } = await transforming(
      managed(`export default () => { throw new Error('no'); }`, { failMode: 'open' }),
    );

    const id = await accepted(server, endpoint, {
      body: ' {"n":  1}',
      headers: { 'content-type': 'application/x-own' },
    });

    const post = await deliveredBy(target, id);
    expect([String(post.rawBody), post.headers['content-type']]).toEqual([' {"n":  1}', 'application/x-own']);
    const note = 'The transform failed: threw: Error: no (line 1). It was delivered untransformed.';
    expect((await requestOf(server, endpoint, id)).note).toBe(note);
    expect((await eventOf(server, id)).note).toBe(note);
  });

  it('the next event is tried after any number of failures: with a URL that responds again, with code that ends', async () => {
    const host = targets.open((_post, index) => (index < 5 ? { status: 500 } : { body: '{"made":true}' }));
    const byUrl = await transforming({ engine: 'url', url: host.url });
    const byCode = await transforming(
      managed('export default (event) => { while (event.body.loop); return event }', { timeoutMs: 300 }),
    );

    for (let n = 0; n < 5; n += 1) await accepted(server, byUrl.endpoint, json({ n }));
    for (let n = 0; n < 3; n += 1) await acceptedWithRetries(byCode.endpoint, json({ loop: true }));
    const [made, ended] = [
      await accepted(server, byUrl.endpoint, json({ n: 5 })),
      await acceptedWithRetries(byCode.endpoint, json({ n: 6 })),
    ];

    expect(JSON.parse(String((await deliveredBy(byUrl.target, made)).rawBody))).toEqual({ made: true });
    expect(JSON.parse(String((await deliveredBy(byCode.target, ended)).rawBody))).toEqual({ n: 6 });
    expect(host.posts()).toHaveLength(6);
  });

  it('a rejected request, or one to a paused endpoint, is not transformed', async () => {
    const host = targets.open();
    const { endpoint } = await transforming({ engine: 'url', url: host.url }, { verification: 'hmac-sha256' });

    expectStatus(await provide(server, endpoint.at, json({})), 401);
    await change(server, endpoint, { verification: 'none', status: 'paused' });
    await accepted(server, endpoint, json({}));

    expect(host.posts()).toEqual([]);
  });

  /**
   * Sends a request until it is accepted, and returns the event id. On a busy machine, the first responses can be 503.
   */
  async function acceptedWithRetries(endpoint: Inbound, sent: Sent): Promise<string> {
    const answer = await until(
      () => provide(server, endpoint.at, sent),
      ({ status }) => status !== 503,
      BUSY_MS_MAX,
    );
    return expectStatus(answer, 200).json.id as string;
  }

  it.each(BOMBS)(
    '%s only costs its own call: the event is parked, and others are served meanwhile',
    async (_title, code, note) => {
      const { endpoint } = await transforming(managed(code, { timeoutMs: 300 }));
      const neighbour = await transforming(
        managed('export default (event) => ({ body: { n: event.body.n } })', { timeoutMs: 5000 }),
      );

      const [id, ...others] = await Promise.all([
        acceptedWithRetries(endpoint, json({ bomb: true })),
        ...[1, 2, 3].map((n) => accepted(server, neighbour.endpoint, json({ n }))),
      ]);

      expect(await eventOf(server, id)).toMatchObject({ status: 'parked', payload: { bomb: true } });
      expect((await requestOf(server, endpoint, id)).note).toMatch(new RegExp(`^The transform failed: (${note})`));
      for (const other of others) await deliveredBy(neighbour.target, other);
      expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
    },
  );
});
