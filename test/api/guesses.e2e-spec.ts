import { randomBytes } from 'node:crypto';
import { generateApiKey } from '../../src/modules/auth/keys/api-key.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { as, createKey, expectRateLimitHeaders, expectRefusal } from './answers.js';
import { type DatabaseLink, openLink } from './database-link.js';
import { asPage, cookieOf, sessionCookieName } from './sessions.js';

const GUESSES = 600;
/** Maximum number of key lookups per client address and minute, plus the rate limit tokens refilled during the test. */
const LOOKED_UP_MAX = 300 + 100;

/** Guessing keys and sessions: the load on PostgreSQL, and the effect on other clients with the same IP address. */
describe('guessing API keys and sessions', () => {
  let database: TestDatabase;
  let link: DatabaseLink;
  let server: PosthornServer;
  let sessionName: string;

  beforeAll(async () => {
    database = await createDatabase();
    link = await openLink(database.url);
    server = await startServer({ DATABASE_URL: link.url, TRUST_PROXY: '127.0.0.0/8' });
    sessionName = await sessionCookieName(server);
  });

  afterAll(async () => {
    await server?.stop();
    await link?.close();
    await database?.drop();
  });

  const fromAddress = (address: string, headers: Record<string, string>): Record<string, string> => ({
    ...headers,
    'x-forwarded-for': address,
  });
  const unknownKey = (): Record<string, string> => as(generateApiKey('live', randomBytes(32)));
  const unknownSession = (): Record<string, string> =>
    asPage(`${sessionName}=${randomBytes(32).toString('base64url')}`);

  it.each([
    ['keys', unknownKey, 'keys.by_hash', '198.51.100.1'],
    ['sessions', unknownSession, 'sessions.by_hash', '198.51.100.2'],
  ] as const)(
    '%s: lookups for a flood from one address are limited, then the response is 429',
    async (_what, guess, statement, address) => {
      const looks = link.countRunsOf(statement);

      const answers = await Promise.all(
        Array.from({ length: GUESSES }, () => server.api('GET', '/v1/org', undefined, fromAddress(address, guess()))),
      );

      expect(looks()).toBeGreaterThanOrEqual(300);
      expect(looks()).toBeLessThanOrEqual(LOOKED_UP_MAX);
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThanOrEqual(GUESSES - LOOKED_UP_MAX);
      for (const answer of answers) expectRefusal(answer, refused.includes(answer) ? 429 : 401);
      for (const { headers } of refused) {
        expectRateLimitHeaders(headers);
        expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      }
      expect((await server.api('GET', '/v1/org', undefined, fromAddress('198.51.100.9', guess()))).status).toBe(401);
    },
  );

  it('valid keys and sessions that are cached still work from the guessing address, also when they have to be looked up again', async () => {
    const address = '198.51.100.3';
    const { key, id } = await createKey(server, { scope: 'read' });
    const cookie = await cookieOf(server, key);
    const ask = (headers: Record<string, string>): Promise<number> =>
      server.api('GET', '/v1/org', undefined, fromAddress(address, headers)).then(({ status }) => status);
    expect([await ask(as(key)), await ask(asPage(cookie))]).toEqual([200, 200]);

    const flood = await Promise.all(Array.from({ length: GUESSES }, () => ask(unknownKey())));
    expect(flood.filter((status) => status === 429).length).toBeGreaterThanOrEqual(GUESSES - LOOKED_UP_MAX);
    // Rotates the key to empty the caches: any change to a key empties the session cache, and removes the key from the
    // key cache.
    await server.api('POST', `/v1/keys/${id}/rotate`, { grace_seconds: 60 });

    expect([await ask(as(key)), await ask(asPage(cookie))]).toEqual([200, 200]);
  });
});
