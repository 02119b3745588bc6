import { generateApiKey } from '../../src/modules/auth/keys/api-key.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { until } from './polling.js';

const FIELDS = [
  'client_id',
  'client_name',
  'created_at',
  'environment',
  'expires_at',
  'granted_by',
  'id',
  'last_used_at',
  'name',
  'prefix',
  'revoked_at',
  'scope',
  'source',
];
const UNKNOWN = 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

/** Time after which every node rejects a revoked key. */
const REVOKED_WITHIN_MS = 5_000;
/** Tolerance between the clock of the service and the clock of the test, which are read some milliseconds apart. */
const CLOCKS_APART_MS = 500;

describe('keys', () => {
  let server: PosthornServer;
  /** Another node on the same database. */
  let second: PosthornServer;

  beforeAll(async () => {
    server = await startServer();
    second = await startServer(server.env);
  });

  afterAll(async () => {
    await second.stop();
    await server.stop();
  });

  const use = (key: string, node = server): Promise<ApiAnswer> => node.api('GET', '/v1/org', undefined, as(key));
  const read = async (id: string): Promise<ApiAnswer> => server.api('GET', `/v1/keys/${id}`);

  describe('create', () => {
    it('201: returns the secret text of the key this once, and its properties', async () => {
      const answer = await server.api('POST', '/v1/keys', { name: 'Billing', scope: 'write' });

      const { key, ...rest } = answer.json;
      expect(answer.status).toBe(201);
      expect(key).toMatch(/^ek_live_[0-9A-Za-z]{49}$/);
      expect(Object.keys(rest).sort()).toEqual(FIELDS);
      expect(rest).toEqual({
        id: expect.stringMatching(/^ek_[0-9A-HJKMNP-TV-Z]{26}$/),
        name: 'Billing',
        scope: 'write',
        environment: 'live',
        prefix: key.slice(0, 12),
        source: 'api',
        created_at: expect.stringMatching(TIMESTAMP),
        last_used_at: null,
        expires_at: null,
        revoked_at: null,
        client_id: null,
        client_name: null,
        granted_by: null,
      });
    });

    it('no other response contains the secret text, and the database does not store it', async () => {
      const { id, key } = await createKey(server, { name: 'Secret', scope: 'read' });
      await use(key);

      const [one, list] = [await read(id), await server.api('GET', '/v1/keys')];

      expect(Object.keys(one.json).sort()).toEqual(FIELDS);
      for (const { text } of [one, list]) expect(text).not.toContain(key.slice(13));
      expect(server.logs()).not.toContain(key.slice(13));
    });

    it('201: a live key can create a test key, which sees the test environment only', async () => {
      const { id, key } = await createKey(server, { scope: 'admin', environment: 'test' });

      expect(key).toMatch(/^ek_test_/);
      expect((await use(key)).json.environment).toBe('test');
      expectRefusal(await read(id), 404);
      expect((await server.api('GET', '/v1/keys', undefined, as(key))).json.data).toEqual([
        expect.objectContaining({ id }),
      ]);
    });

    it('403: a test key cannot create live keys, only test keys', async () => {
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });

      const live = await server.api('POST', '/v1/keys', { name: 'Up', scope: 'read', environment: 'live' }, as(key));
      const test = await server.api('POST', '/v1/keys', { name: 'Aside', scope: 'read' }, as(key));

      expectRefusal(live, 403);
      expect(test.json.environment).toBe('test');
    });

    it('422: all faults are reported together', async () => {
      const answer = await server.api('POST', '/v1/keys', {
        scope: 'root',
        environment: 'staging',
        expires_at: 'soon',
      });

      expect(expectInvalid(answer, 'schema').sort()).toEqual(['environment', 'expires_at', 'name', 'scope']);
    });

    it.each([
      ['the past', '2020-01-01T00:00:00.000Z'],
      ['a day', '2099-01-01'],
      ['a day that does not exist', '2099-02-30T00:00:00Z'],
      ['a leap second', '2016-12-31T23:59:60Z'],
      ['a number', 4_102_444_800],
    ])('422: an expiry that is %s', async (_what, expires_at) => {
      expectInvalid(
        await server.api('POST', '/v1/keys', { name: 'A', scope: 'read', expires_at }),
        'schema',
        'expires_at',
      );
    });

    it.each([
      ['empty', ''],
      ['too long', 'a'.repeat(201)],
      ['a number', 7],
      ['a lone surrogate', '\ud83d'],
      ['NUL', 'a\0b'],
    ])('422: a name that is %s', async (_what, name) => {
      expectInvalid(await server.api('POST', '/v1/keys', { name, scope: 'read' }), 'schema', 'name');
    });

    it('201: a name of any 200 characters', async () => {
      const name = '🔑'.repeat(200);

      expect(await createKey(server, { name, scope: 'read' })).toMatchObject({ name });
    });
  });

  describe('expiry', () => {
    it('401: every node rejects the key from the moment of its expiry', async () => {
      const expiresAtMs = Date.now() + 2_000;
      const { key } = await createKey(server, { scope: 'read', expires_at: new Date(expiresAtMs).toISOString() });

      const answers = await Promise.all(
        [server, second].map((node) =>
          until(
            async () => {
              const askedAtMs = Date.now();
              return { askedAtMs, status: (await use(key, node)).status, answeredAtMs: Date.now() };
            },
            ({ askedAtMs, status }) => {
              if (askedAtMs > expiresAtMs) expect(status).toBe(401);
              return status === 401;
            },
          ),
        ),
      );

      for (const { answeredAtMs } of answers) expect(answeredAtMs).toBeGreaterThanOrEqual(expiresAtMs);
    });
  });

  describe('revoke', () => {
    it('204: this node rejects the key at once, another node within five seconds, permanently', async () => {
      const { id, key } = await createKey(server, { scope: 'read' });
      expect([(await use(key)).status, (await use(key, second)).status]).toEqual([200, 200]);

      const answer = await server.api('DELETE', `/v1/keys/${id}`);

      expect(answer).toMatchObject({ status: 204, text: '' });
      expectRefusal(await use(key), 401);
      await until(
        async () => (await use(key, second)).status,
        (status) => status === 401,
        REVOKED_WITHIN_MS,
      );
      for (const node of [server, second]) expectRefusal(await use(key, node), 401);
      expect((await read(id)).json.revoked_at).toMatch(TIMESTAMP);
    });

    it('404: the second time', async () => {
      const { id } = await createKey(server, { scope: 'read' });
      await server.api('DELETE', `/v1/keys/${id}`);

      expectRefusal(await server.api('DELETE', `/v1/keys/${id}`), 404);
    });

    it('a key can revoke itself', async () => {
      const { id, key } = await createKey(server, { scope: 'admin' });

      expect((await server.api('DELETE', `/v1/keys/${id}`, undefined, as(key))).status).toBe(204);
      expectRefusal(await use(key), 401);
    });

    it('409: the last admin key cannot be revoked; it can be rotated, and revoked once another one exists', async () => {
      const alone = await sharedServer();
      const [last] = (await alone.api('GET', '/v1/keys')).json.data;
      const { key: test } = (await alone.api('POST', '/v1/keys', { name: 'Test', scope: 'admin', environment: 'test' }))
        .json;
      await alone.api('POST', '/v1/keys', { name: 'Writer', scope: 'write' });

      const refused = await alone.api('DELETE', `/v1/keys/${last.id}`);
      const { json: other } = await alone.api('POST', '/v1/keys', { name: 'Another', scope: 'admin' });
      // If two keys revoke each other concurrently, one of them remains.
      const both = await Promise.all([
        alone.api('DELETE', `/v1/keys/${last.id}`, undefined, as(other.key)),
        alone.api('DELETE', `/v1/keys/${other.id}`),
      ]);
      const [left] = both[0].status === 204 ? [other] : [{ id: last.id, key: alone.apiKey }];
      const rotated = await alone.api('POST', `/v1/keys/${left.id}/rotate`, {}, as(left.key));
      const [own] = (await alone.api('GET', '/v1/keys', undefined, as(test))).json.data;

      expectRefusal(refused, 409);
      expect(refused.json.error.message).toContain('Rotate it, or create another admin key first.');
      expect(both.map(({ status }) => status).sort()).toContain(204);
      expect(both.filter(({ status }) => status === 204)).toHaveLength(1);
      expect(rotated.status).toBe(200);
      // The only admin key of the test environment can be revoked, because a live admin key can create keys of both
      // environments.
      expect((await alone.api('DELETE', `/v1/keys/${own.id}`, undefined, as(test))).status).toBe(204);
      await alone.stop();
    });

    it('409: the last admin key that does not expire, even if others are still valid for the grace of their rotation', async () => {
      const alone = await sharedServer();
      const [last] = (await alone.api('GET', '/v1/keys')).json.data;
      const next = (await alone.api('POST', `/v1/keys/${last.id}/rotate`, {})).json;
      await alone.api('POST', '/v1/keys', { name: 'Test', scope: 'admin', environment: 'test' });
      await alone.api('POST', '/v1/keys', { name: 'Writer', scope: 'write' });

      const refused = await alone.api('DELETE', `/v1/keys/${next.id}`);
      const old = await alone.api('DELETE', `/v1/keys/${last.id}`);
      const passing = (
        await alone.api(
          'POST',
          '/v1/keys',
          { name: 'A year', scope: 'admin', expires_at: '2100-01-01T00:00:00Z' },
          as(next.key),
        )
      ).json;
      const still = await alone.api('DELETE', `/v1/keys/${next.id}`, undefined, as(next.key));
      const expiring = await alone.api('DELETE', `/v1/keys/${passing.id}`, undefined, as(next.key));
      await alone.api('POST', '/v1/keys', { name: 'Another', scope: 'admin' }, as(next.key));
      const freed = await alone.api('DELETE', `/v1/keys/${next.id}`, undefined, as(next.key));
      await alone.stop();

      for (const refusal of [refused, still]) {
        expectRefusal(refusal, 409);
        expect(refusal.json.error.message).toContain('the last admin key that does not expire');
      }
      expect([old.status, expiring.status, freed.status]).toEqual([204, 204, 204]);
    });

    it('401: a revoked key and an unknown key get the same response', async () => {
      const { id, key } = await createKey(server, { scope: 'read' });
      await server.api('DELETE', `/v1/keys/${id}`);

      const [revoked, unknown] = [await use(key), await use(generateApiKey('live', Buffer.alloc(32, 7)))];

      expect(revoked.json.error.message).toBe(unknown.json.error.message);
    });
  });

  describe('rotate', () => {
    it('200: returns a new key with the same properties; the old one is valid until the grace ends', async () => {
      const old = await createKey(server, { name: 'Rotated', scope: 'write' });

      const askedAtMs = Date.now();
      const { status, json } = await server.api('POST', `/v1/keys/${old.id}/rotate`, { grace_seconds: 5 });
      const answeredAtMs = Date.now();
      const during = [(await use(old.key)).status, (await use(json.key)).status, (await use(old.key, second)).status];

      expect(status).toBe(200);
      expect(json).toMatchObject({
        name: 'Rotated',
        scope: 'write',
        environment: 'live',
        source: 'api',
        expires_at: null,
      });
      expect(json.id).not.toBe(old.id);
      expect(during).toEqual([200, 200, 200]);
      const endsAt = (await read(old.id)).json.expires_at;
      expect(Date.parse(endsAt)).toBeGreaterThanOrEqual(askedAtMs + 5_000 - CLOCKS_APART_MS);
      expect(Date.parse(endsAt)).toBeLessThanOrEqual(answeredAtMs + 5_000 + CLOCKS_APART_MS);
      for (const node of [server, second])
        await until(
          async () => (await use(old.key, node)).status,
          (seen) => seen === 401,
          20_000,
        );
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(endsAt));
      expect((await use(json.key)).status).toBe(200);
    });

    it('200: with a grace of 0 the old key becomes invalid at once', async () => {
      const { id, key } = await createKey(server, { scope: 'read' });

      await server.api('POST', `/v1/keys/${id}/rotate`, { grace_seconds: 0 });

      expectRefusal(await use(key), 401);
    });

    it.each([{}, undefined])('200: with the body %p the old key is valid for another day', async (body) => {
      const { id, key } = await createKey(server, { scope: 'read' });

      await server.api('POST', `/v1/keys/${id}/rotate`, body);

      expect((await use(key)).status).toBe(200);
      const leftMs = Date.parse((await read(id)).json.expires_at) - Date.now();
      expect(Math.abs(leftMs - 86_400_000)).toBeLessThan(60_000);
    });

    it('200: a grace never extends a key, and the new key has the expiry of the old one', async () => {
      const expires_at = new Date(Date.now() + 60_000).toISOString();
      const old = await createKey(server, { scope: 'read', expires_at });

      const { json } = await server.api('POST', `/v1/keys/${old.id}/rotate`, { grace_seconds: 3_600 });

      expect(json.expires_at).toBe(expires_at);
      expect((await read(old.id)).json.expires_at).toBe(expires_at);
    });

    it('409 for an expired key, 404 for a revoked one: neither becomes valid again', async () => {
      const expired = await createKey(server, { scope: 'read' });
      await server.api('POST', `/v1/keys/${expired.id}/rotate`, { grace_seconds: 0 });
      const revoked = await createKey(server, { scope: 'read' });
      await server.api('DELETE', `/v1/keys/${revoked.id}`);

      expectRefusal(await server.api('POST', `/v1/keys/${expired.id}/rotate`, {}), 409);
      expectRefusal(await server.api('POST', `/v1/keys/${revoked.id}/rotate`, {}), 404);
    });

    it.each([-1, 604_801, 1.5, '60', null])('422: a grace of %p', async (grace_seconds) => {
      const { id, key } = await createKey(server, { scope: 'read' });

      expectInvalid(await server.api('POST', `/v1/keys/${id}/rotate`, { grace_seconds }), 'schema', 'grace_seconds');
      expect((await use(key)).status).toBe(200);
    });
  });

  it('last_used_at is null before the first use, then the approximate time of the last use', async () => {
    const { id, key } = await createKey(server, { scope: 'read' });
    expect((await read(id)).json.last_used_at).toBeNull();

    await use(key);

    const usedAt = await until(
      async () => (await read(id)).json.last_used_at as string | null,
      (at) => at !== null,
      15_000,
    );
    expect(usedAt).toMatch(TIMESTAMP);
    expect(Math.abs(Date.parse(usedAt ?? '') - Date.now())).toBeLessThan(30_000);
  });

  it.each([
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/rotate'],
  ])('404: %s of an unknown key', async (method, action) => {
    for (const id of [UNKNOWN, 'ek_', 'ek_live_abc', UNKNOWN.toLowerCase().slice(0, -1), `dst_${UNKNOWN.slice(3)}`]) {
      expectRefusal(await server.api(method, `/v1/keys/${id}${action}`), 404);
    }
  });
});
