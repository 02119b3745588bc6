import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { until } from './polling.js';
import type { Targets } from './scene.js';
import { destinationAt, eventIn, expectStatus, send, startTargets, WITHIN_MS } from './scene.js';

const DEFAULT_RETRY = { max_attempts: 8, schedule: [0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000] };
const FULL = {
  config: { circuit_breaker: { failure_threshold: 3 } },
  headers: { 'X-Tenant': '42', authorization: 'Bearer of the receiver' },
  retry: { max_attempts: 4, schedule: [0, 10, 60] },
  rate_limit: { per_second: 0.5 },
  timeout_ms: 2_500,
  concurrency: 3,
  asymmetric: true,
};

describe('destinations', () => {
  let server: PosthornServer;
  let targets: Targets;

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
  });

  afterAll(async () => {
    await server.stop();
    await targets.close();
  });

  const create = (body: object): Promise<ApiAnswer> => server.api('POST', '/v1/destinations', body);
  const patch = (id: string, body: object): Promise<ApiAnswer> => server.api('PATCH', `/v1/destinations/${id}`, body);
  const read = async (id: string): Promise<ApiAnswer['json']> =>
    (await server.api('GET', `/v1/destinations/${id}`)).json;
  const count = async (): Promise<number> => (await server.api('GET', '/v1/destinations?limit=100')).json.data.length;

  /** Creates a destination whose target answers with the given status. Returns the destination's id. */
  const made = (settings: object = {}, status = 200): Promise<string> =>
    destinationAt(server, targets.open(() => ({ status })).url, settings);

  describe('create', () => {
    it('201: probed, valid and active, with every default', async () => {
      const { url } = targets.open();

      const { status, json } = await create({ name: 'Orders', type: 'https', url });

      expect(status).toBe(201);
      expect(json).toEqual({
        id: expect.stringMatching(/^dst_[0-9A-HJKMNP-TV-Z]{26}$/),
        forward: { method: false, path: false, query: true },
        name: 'Orders',
        type: 'https',
        url,
        validation: 'valid',
        status: 'active',
        version: 1,
        created_at: expect.stringMatching(TIMESTAMP),
        config: {},
        headers: {},
        retry: DEFAULT_RETRY,
        rate_limit: null,
        timeout_ms: 15_000,
        concurrency: null,
        asymmetric: false,
        legacy_signature: null,
        circuit: { state: 'closed', opened_at: null, next_probe_at: null },
        disabled_reason: null,
        unserved: null,
      });
      expect(await read(json.id)).toEqual(json);
    });

    it('201: every field is returned as given', async () => {
      const { json } = await create({ name: 'All of it', type: 'https', url: targets.open().url, ...FULL });

      expect(json).toMatchObject(FULL);
      expect(await read(json.id)).toEqual(json);
    });

    it('201: null selects the default; 422: an empty schedule', async () => {
      const nulls = {
        config: null,
        headers: null,
        retry: null,
        rate_limit: null,
        timeout_ms: null,
        credentials: null,
        secret: null,
        concurrency: null,
        asymmetric: null,
        legacy_signature: null,
      };

      const { json } = await create({ name: 'Nulls', type: 'https', url: targets.open().url, ...nulls });

      expect(json).toMatchObject({
        config: {},
        headers: {},
        retry: DEFAULT_RETRY,
        rate_limit: null,
        timeout_ms: 15_000,
      });
      expectInvalid(await create({ name: 'A', type: 'pull', retry: { schedule: [] } }), 'schema', 'retry.schedule');
    });

    it.each([
      [{ max_attempts: 3 }, { max_attempts: 3, schedule: DEFAULT_RETRY.schedule }],
      [{ schedule: [0, 60] }, { max_attempts: 2, schedule: [0, 60] }],
      [{}, DEFAULT_RETRY],
    ])('201: the retry policy %j becomes %j', async (retry, inForce) => {
      expect((await create({ name: 'Retry', type: 'pull', retry })).json.retry).toEqual(inForce);
    });

    it('201: the url is normalised to the one that will be called', async () => {
      const { url } = targets.open();

      const { json } = await create({
        name: 'Odd',
        type: 'https',
        url: ` ${url.replace('http://127.0.0.1', 'HTTP://0x7f.1')}/../a b?q=ä `,
      });

      expect(json.url).toBe(`${new URL(url).origin}/a%20b?q=%C3%A4`);
    });

    it('201: a pull destination is pending and needs no url', async () => {
      const { json } = await create({ name: 'Pull', type: 'pull' });

      expect(json).toMatchObject({ type: 'pull', url: null, validation: 'pending', status: 'active', version: 1 });
    });

    it('422: a url for a type without a url, on create and update', async () => {
      const { json } = await create({ name: 'Pull', type: 'pull', url: null });

      expectInvalid(await create({ name: 'Pull', type: 'pull', url: 'nonsense' }), 'schema', 'url');
      expectInvalid(
        await server.api('PATCH', `/v1/destinations/${json.id}`, { url: 'https://a.example' }),
        'schema',
        'url',
      );
      expect((await read(json.id)).url).toBeNull();
    });

    it('422: all faults are reported together', async () => {
      const answer = await create({
        url: 7,
        config: [],
        headers: { a: 1 },
        retry: { max_attempts: 0, schedule: [-1] },
        rate_limit: {},
        timeout_ms: 99,
        credentials: 'x',
      });

      expect(expectInvalid(answer, 'schema').sort()).toEqual([
        'config',
        'credentials',
        'headers.a',
        'name',
        'rate_limit.per_second',
        'retry.max_attempts',
        'retry.schedule.0',
        'timeout_ms',
        'type',
        'url',
      ]);
    });

    it.each<[string, object, string]>([
      ['an unknown key in retry', { retry: { max_attempts: 2, backoff: 'linear' } }, 'retry.backoff'],
      ['an unknown key in rate_limit', { rate_limit: { per_second: 1, per_minute: 60 } }, 'rate_limit.per_minute'],
      ['an unknown key in config', { config: { circuit_breaker: {}, colour: 'red' } }, 'config.colour'],
      [
        'an unknown key in the circuit breaker',
        { config: { circuit_breaker: { threshold: 3 } } },
        'config.circuit_breaker.threshold',
      ],
      ['an invalid circuit breaker', { config: { circuit_breaker: 3 } }, 'config.circuit_breaker'],
      [
        'a threshold of 0',
        { config: { circuit_breaker: { failure_threshold: 0 } } },
        'config.circuit_breaker.failure_threshold',
      ],
      [
        'a threshold of 1.5',
        { config: { circuit_breaker: { failure_threshold: 1.5 } } },
        'config.circuit_breaker.failure_threshold',
      ],
      ['21 attempts', { retry: { max_attempts: 21 } }, 'retry.max_attempts'],
      ['a delay of more than a week', { retry: { schedule: [604_801] } }, 'retry.schedule.0'],
      ['a rate of 0', { rate_limit: { per_second: 0 } }, 'rate_limit.per_second'],
      ['a timeout of more than 15 s', { timeout_ms: 15_001 }, 'timeout_ms'],
      ['a header that the service sets', { headers: { 'Webhook-Id': 'mine' } }, 'headers.Webhook-Id'],
      [
        'a header that belongs to the connection',
        { headers: { 'transfer-encoding': 'chunked' } },
        'headers.transfer-encoding',
      ],
      ['a line break in a header', { headers: { 'x-a': 'b\r\nx-evil: 1' } }, 'headers.x-a'],
      ['a header twice', { headers: { 'x-a': '1', 'X-A': '2' } }, 'headers.X-A'],
      [
        'a secret that does not exist',
        { headers: { authorization: 'Bearer {{ secrets.TOKEN }}' } },
        'headers.authorization',
      ],
      [
        'credentials, which https does not have',
        { credentials: { accessKeyId: 'AK', secretAccessKey: 'SK' } },
        'credentials',
      ],
      ['an invalid secret', { secret: 'whsec_short' }, 'secret'],
      ['no url', { url: undefined }, 'url'],
      ['an invalid url', { url: 'example.com' }, 'url'],
      ['a url with credentials', { url: 'https://user:pass@example.com/' }, 'url'],
      ['an empty name', { name: '' }, 'name'],
      ['NUL in the name', { name: 'a\0' }, 'name'],
    ])('422: %s, and nothing is created', async (_what, settings, path) => {
      const [before, target] = [await count(), targets.open()];

      const answer = await create({ name: 'Faulty', type: 'https', url: target.url, ...settings });

      expectInvalid(answer, 'schema', path);
      expect(await count()).toBe(before);
    });

    it('422: unknown and read-only fields, and nothing is created', async () => {
      const unknown = { colour: 'red', id: 'dst_mine', version: 9, status: 'disabled', validation: 'valid' };

      const answer = await create({ name: 'Newer', type: 'pull', ...unknown });

      expect(expectInvalid(answer, 'schema').sort()).toEqual(Object.keys(unknown).sort());
    });
  });

  describe('change', () => {
    it('200: PATCH changes the given fields, keeps the others, and increments the version', async () => {
      const id = await made(FULL);
      const before = await read(id);

      const { status, json } = await patch(id, { name: 'Renamed', timeout_ms: 5_000 });

      expect(status).toBe(200);
      expect(json).toEqual({ ...before, name: 'Renamed', timeout_ms: 5_000, version: 2 });
      expect(await read(id)).toEqual(json);
    });

    it('200: null restores the default', async () => {
      const id = await made(FULL);

      const { json } = await patch(id, {
        config: null,
        headers: null,
        retry: null,
        rate_limit: null,
        timeout_ms: null,
      });

      expect(json).toMatchObject({
        config: {},
        headers: {},
        retry: DEFAULT_RETRY,
        rate_limit: null,
        timeout_ms: 15_000,
        version: 2,
      });
    });

    it('200: a change of one member of retry keeps the other', async () => {
      const id = await made(FULL);

      const shorter = (await patch(id, { retry: { max_attempts: 2 } })).json.retry;
      const other = (await patch(id, { retry: { schedule: [0, 20] } })).json.retry;

      expect([shorter, other]).toEqual([
        { max_attempts: 2, schedule: FULL.retry.schedule },
        { max_attempts: 2, schedule: [0, 20] },
      ]);
    });

    it('422: a retention shorter than the retry schedule, and a schedule longer than the retention', async () => {
      const week = 7 * 86_400;
      const id = await made({ retry: { schedule: [0, week] } });
      const org = (days: number): Promise<ApiAnswer> => server.api('PATCH', '/v1/org', { retention_days: days });

      const tooShort = await org(6);
      expectStatus(await org(7), 200);
      // A change to the organization takes up to five seconds to reach every process, so the call is repeated.
      const tooLong = await until(
        () => patch(id, { retry: { schedule: [0, week, 3600] } }),
        ({ status }) => status === 422,
        WITHIN_MS,
      );
      const created = await create({ name: 'Long', type: 'pull', retry: { schedule: [0, week, 1] } });
      expectStatus(await patch(id, { name: 'Still fine' }), 200);
      expectStatus(await server.api('DELETE', `/v1/destinations/${id}`), 204);
      const tooShortForAll = await org(1);
      expectStatus(await org(2), 200);
      expectStatus(await org(30), 200);

      expectInvalid(tooShort, 'schema', 'retention_days');
      expect(tooShort.json.error.message).toMatch(/at least 7.*168 hours/);
      expect(tooShortForAll.json.error.message).toMatch(/at least 2.*28 hours/);
      for (const answer of [tooLong, created]) expectInvalid(answer, 'schema', 'retry');
      expect(tooLong.json.error.message).toMatch(/169 hours.*kept for 7 days/);
    });

    it('200: a PATCH without changes keeps the version', async () => {
      const id = await made(FULL);

      for (const body of [{}, { timeout_ms: FULL.timeout_ms }, { status: 'active' }]) {
        expect((await patch(id, body)).json.version).toBe(1);
      }
    });

    it.each<[string, string, RegExp]>([
      ['type', 'mirror', /^type: cannot be changed: create another destination$/],
      ['secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', /^secret: cannot be set: rotate it/],
      ['version', '7', /^version: is not known here$/],
    ])('422: %s cannot be changed, and nothing changes', async (field, value, sentence) => {
      const id = await made(FULL);

      const answer = await patch(id, { name: 'Other', [field]: value });

      expect(expectInvalid(answer, 'schema')).toEqual([field]);
      expect(answer.json.error.message).toMatch(sentence);
      expect(await read(id)).toMatchObject({ type: 'https', version: 1 });
    });

    it('422: credentials that the type does not have', async () => {
      const id = await made();

      expectInvalid(
        await patch(id, { credentials: { accessKeyId: 'AK', secretAccessKey: 'SK' } }),
        'schema',
        'credentials',
      );
      expect((await read(id)).version).toBe(1);
    });

    it('422: a name is required, and null is not a name', async () => {
      const id = await made();

      expectInvalid(await patch(id, { name: null }), 'schema', 'name');
      expectInvalid(await patch(id, { url: null }), 'schema', 'url');
    });

    it('200: a change of the url triggers a probe, other changes do not', async () => {
      const [id, moved] = [await made(), targets.open()];
      const probes = (): number => targets.receiver.requests.filter(({ method }) => method !== 'POST').length;
      const before = probes();

      await patch(id, { name: 'Not moved', headers: { 'x-a': '1' } });
      expect(probes()).toBe(before);

      expect((await patch(id, { url: moved.url })).json).toMatchObject({ url: moved.url, validation: 'valid' });
      expect(probes()).toBe(before + 1);
      await send(server, id);
      await moved.arrived(1);
    });

    it('422: an unreachable url, and nothing changes', async () => {
      const id = await made();
      const before = await read(id);

      expectInvalid(await patch(id, { name: 'Moved', url: 'http://127.0.0.1:9/' }), 'connectivity');
      expect(await read(id)).toEqual(before);
    });

    it('concurrent changes all take effect, and the version counts each', async () => {
      const id = await made();
      const changes = [
        { name: 'Last' },
        { timeout_ms: 1_000 },
        { headers: { 'x-a': '1' } },
        { rate_limit: { per_second: 7 } },
        { retry: { max_attempts: 2 } },
      ];

      const answers = await Promise.all(changes.map((change) => patch(id, change)));

      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      expect(await read(id)).toMatchObject({
        name: 'Last',
        timeout_ms: 1_000,
        headers: { 'x-a': '1' },
        rate_limit: { per_second: 7 },
        version: 6,
      });
    });

    it('200: a disabled destination accepts no deliveries until it is active again', async () => {
      const id = await made();

      expect((await patch(id, { status: 'disabled' })).json).toMatchObject({
        status: 'disabled',
        disabled_reason: expect.any(String),
        version: 2,
      });
      expectInvalid(
        await server.api('POST', '/v1/send', { destination: id, event_type: 'a', payload: {} }),
        'schema',
        'destination',
      );
      expect((await patch(id, { status: 'active' })).json).toMatchObject({
        status: 'active',
        disabled_reason: null,
        version: 3,
      });
      await eventIn(server, await send(server, id), 'delivered');
    });

    it.each<[string, object, string]>([
      ['an invalid status', { status: 'paused' }, 'status'],
      ['an unknown key in retry', { retry: { tries: 1 } }, 'retry.tries'],
      ['a header that the service sets', { headers: { 'webhook-signature': 'v1,mine' } }, 'headers.webhook-signature'],
      ['an unknown key in config', { config: { queueUrl: 'x' } }, 'config.queueUrl'],
    ])('422: %s', async (_what, body, path) => {
      expectInvalid(await patch(await made(), body), 'schema', path);
    });
  });

  describe('circuit', () => {
    it('shows the open state and its time, and a PATCH that enables the destination closes it', async () => {
      const id = await made(
        { config: { circuit_breaker: { failure_threshold: 1 } }, retry: { schedule: [0, 3_600] } },
        500,
      );

      await send(server, id);

      const { circuit } = await until(
        () => read(id),
        (destination) => destination.circuit.state === 'open',
      );
      expect(circuit.opened_at).toMatch(TIMESTAMP);
      expect((await patch(id, { status: 'active' })).json.circuit).toEqual({
        state: 'closed',
        opened_at: null,
        next_probe_at: null,
      });
    });

    it('410 disables the target and stores the reason', async () => {
      const id = await made({}, 410);

      await send(server, id);

      const gone = await until(
        () => read(id),
        (destination) => destination.status === 'disabled',
      );
      expect(gone.disabled_reason).toMatch(/410/);
    });
  });

  describe('delete', () => {
    it('204, then 404 for everything', async () => {
      const id = await made();

      expect(await server.api('DELETE', `/v1/destinations/${id}`)).toMatchObject({ status: 204, text: '' });

      const calls = [
        ['DELETE', ''],
        ['GET', ''],
        ['PATCH', ''],
        ['GET', '/secret'],
        ['POST', '/secret/rotate'],
        ['POST', '/validate'],
        ['POST', '/test'],
      ];
      for (const [method = '', action] of calls) {
        const body = method === 'GET' || method === 'DELETE' ? undefined : {};
        expectRefusal(await server.api(method, `/v1/destinations/${id}${action}`, body), 404);
      }
      expect((await server.api('GET', '/v1/destinations?limit=100')).text).not.toContain(id);
      expectInvalid(
        await server.api('POST', '/v1/send', { destination: id, event_type: 'a', payload: {} }),
        'schema',
        'destination',
      );
    });
  });

  it('the list shows the fields of the specification, and neither settings nor secrets', async () => {
    const id = await made(FULL);

    const [item] = (await server.api('GET', '/v1/destinations?limit=1')).json.data;

    expect(item).toMatchObject({ id, name: 'A target', type: 'https', validation: 'valid', version: 1 });
    expect(Object.keys(item).sort()).toEqual([
      'created_at',
      'id',
      'name',
      'status',
      'type',
      'url',
      'validation',
      'version',
    ]);
  });
});
