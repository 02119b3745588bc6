import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { type PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { expectRefusal } from './answers.js';
import { accepted, change, type Inbound, inbound, type Json, json, requestOf } from './receiving.js';
import { jobIn } from './replaying.js';
import { destinationAt, eventIn, eventOf, expectStatus, startTargets, type TargetPath, type Targets } from './scene.js';

describe('code of transforms', () => {
  let server: PosthornServer;
  let targets: Targets;

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
  });

  afterAll(async () => {
    await server?.stop();
    await targets?.close();
  });

  const managed = (code: string, more: object = {}): object => ({ engine: 'managed', code, timeoutMs: 2000, ...more });

  async function transforming(code: string, more: object = {}): Promise<{ endpoint: Inbound; target: TargetPath }> {
    const target = targets.open();
    const destinations = [await destinationAt(server, target.url)];
    return { endpoint: await inbound(server, { transform: managed(code, more), destinations }), target };
  }

  async function deliveredText(target: TargetPath, id: string): Promise<string> {
    await eventIn(server, id, 'delivered');
    return String(target.posts().find(({ headers }) => headers['webhook-id'] === id)?.rawBody);
  }

  const release = async (endpoint: Inbound, body: object): Promise<Json> =>
    server.api('POST', `/v1/endpoints/${endpoint.id}/requests/replay`, body);

  async function released(endpoint: Inbound, status: string): Promise<Json> {
    return jobIn(server, expectStatus(await release(endpoint, { status }), 202).json.id, 'completed');
  }

  it.each([
    ['undefined', '() => {}', 'invalid_result: The code returned undefined. Return a value, or null'],
    ['an event with a url', '(event) => ({ ...event, url: "https://a" })', 'it returned the unknown field "url"'],
    [
      'another method',
      '(event) => { event.method = "PUT"; return event; }',
      'it changed the field "method", but only body, event_type and headers can change',
    ],
    ['an unknown field', '(event) => ({ ...event, bdoy: 1 })', 'it returned the unknown field "bdoy"'],
    ['NaN', '() => NaN', 'invalid_result: The result has no JSON form: its JSON is null'],
    [
      'an exception in its third line',
      '(event) => {\n  const f = () => {\n    return event.body.items.length;\n  };\n  return f();\n}',
      "threw: TypeError: cannot read property 'length' of undefined (line 3)",
    ],
  ])('%s parks the event with failMode closed, and is delivered untransformed with open', async (_what, fn, why) => {
    const closed = await transforming(`export default ${fn}`);
    const open = await transforming(`export default ${fn}`, { failMode: 'open' });

    const parked = await accepted(server, closed.endpoint, json({ a: 1 }));
    const delivered = await accepted(server, open.endpoint, json({ a: 1 }));

    expect(await eventOf(server, parked)).toMatchObject({ status: 'parked', note: `The transform failed: ${why}.` });
    expect(await requestOf(server, closed.endpoint, parked)).toMatchObject({ note: `The transform failed: ${why}.` });
    expect(await deliveredText(open.target, delivered)).toBe('{"a":1}');
    expect((await eventOf(server, delivered)).note).toBe(
      `The transform failed: ${why}. It was delivered untransformed.`,
    );
  });

  it('the console is shown with the event, the raw request and a trial, without values of secrets', async () => {
    const name = `KEY_${Date.now()}`;
    expectStatus(await server.api('POST', '/v1/secrets', { name, value: 'hush "now"' }), 201);
    const code = `export default (event, { secrets }) => { console.log('got', event.body); console.error(secrets.${name}, [secrets.${name}]); if (event.body.fail) throw new Error(secrets.${name}); return event; }`;
    const { endpoint } = await transforming(code);

    const [fine, failed] = [
      await accepted(server, endpoint, json({ n: 1 })),
      await accepted(server, endpoint, json({ fail: 1 })),
    ];

    const logs = (first: string, secret: string): object => ({
      lines: [
        { level: 'log', text: `got ${first}` },
        { level: 'error', text: `${secret} ["${secret}"]` },
      ],
      truncated: false,
    });
    expect((await eventOf(server, fine)).logs).toEqual(logs('{"n":1}', '(hidden)'));
    expect(await requestOf(server, endpoint, failed)).toMatchObject({
      note: 'The transform failed: threw: Error: (hidden) (line 1).',
      logs: logs('{"fail":1}', '(hidden)'),
    });
    const trial = await server.api('POST', `/v1/endpoints/${endpoint.id}/trial`, { request: fine });
    expect(trial.json.logs).toEqual(logs('{"n":1}', `(${name})`));
  });

  it('credentials of the request are hidden in the console and in the note', async () => {
    const { endpoint } = await transforming(
      "export default (event) => { console.log(event); throw new Error(event.headers.authorization.split(' ')[1]); }",
    );
    const headers = { authorization: 'Bearer s3cret.one', 'x-api-key': 's3cret.two', cookie: 'sid=s3cret.three' };

    const id = await accepted(server, endpoint, json({ n: 1 }, headers));

    const { note, logs } = await eventOf(server, id);
    expect(note).toBe('The transform failed: threw: Error: (hidden) (line 1).');
    expect(logs.lines[0].text).toContain('"x-api-key":"(hidden)"');
    expect(logs.lines[0].text).not.toContain('s3cret');
  });

  it('200: JSON that is nested deeply is delivered, or fails the transform', async () => {
    const { endpoint, target } = await transforming('export default (event) => event');
    const nested = (depth: number): string => `${'['.repeat(depth)}1${']'.repeat(depth)}`;
    const headers = { 'content-type': 'application/json' };

    const [deep, deeper] = [
      await accepted(server, endpoint, { body: nested(3_000), headers }),
      await accepted(server, endpoint, { body: nested(100_000), headers }),
    ];

    expect(await deliveredText(target, deep)).toBe(nested(3_000));
    const { status, note } = await eventOf(server, deeper);
    expect([status, note]).toEqual(['parked', expect.stringMatching(/^The transform failed: .*nested too deeply/)]);
  });

  it.each([
    ['a form', 'application/x-www-form-urlencoded', `a=${'x'.repeat(2 ** 20 - 2)}`, 2 ** 20 - 2],
    [
      'a form of control characters',
      'application/x-www-form-urlencoded',
      `a=${'\u0001'.repeat(2 ** 20 - 2)}`,
      2 ** 20 - 2,
    ],
    ['control characters', 'text/plain', '\u0001'.repeat(2 ** 20), 0],
    ['many numbers', 'application/json', `[${'1.0,'.repeat(250_000)}1]`, 0],
  ])('code gets a body of 1 MB: %s', async (_what, type, body, length) => {
    const { endpoint, target } = await transforming(
      'export default ({ body, form }) => ({ body: [body.length, (form.a ?? "").length] })',
    );

    const id = await accepted(server, endpoint, { body, headers: { 'content-type': type } });

    const given = type === 'application/json' ? 250_001 : body.length;
    expect(await deliveredText(target, id)).toBe(JSON.stringify([given, length]));
  });

  it('a flood of the console is bounded, and an erasure removes it', async () => {
    const { endpoint } = await transforming(
      `export default (event) => { for (let n = 0; n < 1e4; n += 1) console.warn('x'.repeat(1e4)); return event; }`,
    );

    const id = await accepted(server, endpoint, json({}));

    const { logs } = await eventOf(server, id);
    expect(logs.truncated).toBe(true);
    expect(JSON.stringify(logs).length).toBeLessThan(20_000);
    await eventIn(server, id, 'delivered');
    expectStatus(await server.api('DELETE', `/v1/events/${id}/payload`), 204);
    expect((await requestOf(server, endpoint, id)).logs).toBeNull();
  });

  it('a request without a transform, and code without a console, have no logs', async () => {
    const plain = await inbound(server);
    const { endpoint } = await transforming('export default (event) => event');

    const ids = [await accepted(server, plain, json({})), await accepted(server, endpoint, json({}))];

    expect((await eventOf(server, ids[0] as string)).logs).toBeNull();
    expect((await requestOf(server, endpoint, ids[1] as string)).logs).toBeNull();
  });

  it('raw and rawBody are the exact body, also of a compressed one, so that code can check a signature', async () => {
    const body = '{ "id": 8202522731445525542,\n "price": 1.10 }';
    const code = `export default (event) => ({ body: {
      raw: event.raw, bytes: event.rawBody.length, mac: crypto.hmac('sha256', 'key', event.rawBody), keys: Object.keys(event).includes('raw'),
      city: new URLSearchParams(new URL('https://a/?city=K%C3%B6ln').search).get('city'),
    } })`;
    const { endpoint, target } = await transforming(code);

    const ids = [
      await accepted(server, endpoint, { body, headers: { 'content-type': 'application/json' } }),
      await accepted(server, endpoint, { body: gzipSync(body), headers: { 'content-encoding': 'gzip' } }),
    ];

    for (const id of ids)
      expect(JSON.parse(await deliveredText(target, id))).toEqual({
        raw: body,
        bytes: body.length,
        mac: createHmac('sha256', 'key').update(body).digest('hex'),
        keys: false,
        city: 'Köln',
      });
  });

  it('numbers that code does not change are delivered as they were received', async () => {
    const numbers = '"id":9007199254740993,"price":1.10,"huge":1e400,"none":-0';
    const { endpoint, target } = await transforming(
      'export default (event) => ({ ...event, body: { ...event.body, items: event.body.items.slice(1), added: true } })',
    );

    const id = await accepted(server, endpoint, {
      body: `{${numbers},"items":[{"id":8202522731445525542},{"id":8202522731445525543}]}`,
      headers: { 'content-type': 'application/json' },
    });

    expect(await deliveredText(target, id)).toBe(`{${numbers},"items":[{"id":8202522731445525543}],"added":true}`);
  });

  it('202: after a fix, a release of transform_failed and of dropped sends what the transform kept back', async () => {
    const { endpoint, target } = await transforming('export default () => undefined');
    const failed = await accepted(server, endpoint, json({ n: 1 }));
    await change(server, endpoint, { status: 'paused' });
    await accepted(server, endpoint, json({ n: 2 }));
    await change(server, endpoint, { status: 'active', transform: managed('export default () => null') });
    const dropped = await accepted(server, endpoint, json({ n: 3 }));

    const counts = [];
    for (const status of ['transform_failed', 'dropped', 'parked'])
      counts.push(expectStatus(await release(endpoint, { status, dry_run: true }), 200).json.scanned);
    expect(counts).toEqual([1, 1, 2]);
    // The transform still drops everything, so the dropped request is not released.
    expect(await released(endpoint, 'dropped')).toMatchObject({ scanned: 1, replayed: 0, skipped: 1, enqueued: 0 });

    await change(server, endpoint, { transform: managed('export default (event) => event') });
    const jobs = [await released(endpoint, 'transform_failed'), await released(endpoint, 'dropped')];

    for (const job of jobs)
      expect(job).toMatchObject({ scanned: 1, replayed: 1, skipped: 0, excluded: 0, enqueued: 1 });
    expect(jobs.map(({ kind, status }) => [kind, status])).toEqual([
      ['requests', 'transform_failed'],
      ['requests', 'dropped'],
    ]);
    await target.arrived(2);
    expect(target.posts().map(({ rawBody }) => String(rawBody))).toEqual(['{"n":1}', '{"n":3}']);
    for (const id of [failed, dropped])
      expect((await requestOf(server, endpoint, id)).released_at).toEqual(expect.any(String));
    expect(await released(endpoint, 'dropped')).toMatchObject({ scanned: 0 });
    expect(expectStatus(await release(endpoint, { status: 'parked', dry_run: true }), 200).json.scanned).toBe(1);
  });

  it('a release counts erased requests as excluded, and 404s for another environment', async () => {
    const { endpoint } = await transforming('export default (event) => (event.body.drop ? null : undefined)');
    const ids = [
      await accepted(server, endpoint, json({ drop: true })),
      await accepted(server, endpoint, json({ drop: false })),
    ];
    for (const id of ids) expectStatus(await server.api('DELETE', `/v1/events/${id}/payload`), 204);

    for (const status of ['dropped', 'transform_failed'])
      expect(expectStatus(await release(endpoint, { status, dry_run: true }), 200).json).toMatchObject({
        scanned: 1,
        replayed: 0,
        excluded: 1,
      });
    for (const status of ['ignored', 'routed', 'DROPPED', "dropped'--", null, ['dropped']])
      expectRefusal(await release(endpoint, { status }), 422);
    expectRefusal(await release({ ...endpoint, id: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' }, { status: 'dropped' }), 404);
  });
});
