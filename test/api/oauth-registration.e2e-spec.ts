import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { authorizePath, browserOf, CALLBACK, decide, pkce, registered } from './oauth.js';
import { openSql, type Sql } from './scene.js';
import type { PlainBrowser } from './signing-in.js';

describe('OAuth client registration', () => {
  let server: PosthornServer;
  let sql: Sql;
  let elsewhere: Receiver;
  /** Requests received at the URLs that the registrations contain. */
  const fetched: string[] = [];
  let person: PlainBrowser;
  let addresses = 0;

  beforeAll(async () => {
    [server, elsewhere] = await Promise.all([
      startServer({ TRUST_PROXY: '127.0.0.0/8' }),
      startReceiver(({ path }) => (fetched.push(path), {})),
    ]);
    sql = openSql(server);
    person = await browserOf(server);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await elsewhere?.close();
  });

  /** Returns an unused client address, because registrations are counted per address. */
  const address = (): string => `203.0.113.${(addresses += 1)}`;

  describe('registration', () => {
    const register = (body: unknown, from = address()): Promise<Response> =>
      fetch(`${server.url}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });

    it('201: a public client; the response is not cacheable, and unknown fields are ignored', async () => {
      const response = await register({
        client_name: 'An assistant',
        redirect_uris: [CALLBACK],
        application_type: 'native',
        software_id: 'x',
      });

      expect(response.status).toBe(201);
      expect(await response.json()).toEqual({
        client_id: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
        client_id_issued_at: expect.any(Number),
        client_name: 'An assistant',
        redirect_uris: [CALLBACK],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        scope: 'read',
      });
      expect([response.headers.get('cache-control'), response.headers.get('access-control-allow-origin')]).toEqual([
        'no-store',
        '*',
      ]);
    });

    it.each<[string, unknown, string]>([
      ['http elsewhere', { redirect_uris: ['http://client.example.com/cb'] }, 'invalid_redirect_uri'],
      ['javascript', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
      ['a fragment', { redirect_uris: [`${CALLBACK}#x`] }, 'invalid_redirect_uri'],
      ['a wildcard', { redirect_uris: ['https://*.example.com/'] }, 'invalid_redirect_uri'],
      ['a host with a CSP directive', { redirect_uris: ['https://a;script-src.example.com/'] }, 'invalid_redirect_uri'],
      ['a host with a list', { redirect_uris: ['https://a,b.example.com/'] }, 'invalid_redirect_uri'],
      [
        'a host that Location parses differently',
        { redirect_uris: ['https:client.example.com/'] },
        'invalid_redirect_uri',
      ],
      ['none', {}, 'invalid_redirect_uri'],
      ['eleven', { redirect_uris: Array.from({ length: 11 }, () => CALLBACK) }, 'invalid_redirect_uri'],
      [
        'a secret',
        { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'client_secret_basic' },
        'invalid_client_metadata',
      ],
      ['a list', [], 'invalid_client_metadata'],
      [
        'a field named __proto__',
        JSON.parse(`{"redirect_uris": ["${CALLBACK}"], "__proto__": {}}`),
        'invalid_client_metadata',
      ],
      ['an unknown grant type', { redirect_uris: [CALLBACK], grant_types: ['password'] }, 'invalid_client_metadata'],
      ['no grant', { redirect_uris: [CALLBACK], grant_types: [] }, 'invalid_client_metadata'],
      [
        'the code grant without a redirect URI',
        { grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'] },
        'invalid_redirect_uri',
      ],
    ])('400 for %s, in the error format of RFC 7591', async (_, body, code) => {
      const response = await register(body);

      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({ error: code, error_description: expect.stringMatching(/\w/) });
    });

    it('a flood: the eleventh registration per hour and address is rejected, and so is one over 8 KB; no registered URL is fetched', async () => {
      const from = address();
      for (let i = 0; i < 10; i += 1)
        expect(
          (
            await register(
              { redirect_uris: [CALLBACK], logo_uri: `${elsewhere.url}/logo`, jwks_uri: `${elsewhere.url}/jwks` },
              from,
            )
          ).status,
        ).toBe(201);

      const [eleventh, large, malformed] = [
        await register({ redirect_uris: [CALLBACK] }, from),
        await register({ redirect_uris: [CALLBACK], client_name: 'x'.repeat(9_000) }),
        await register('{'),
      ];

      expect([eleventh.status, large.status, malformed.status]).toEqual([429, 413, 400]);
      for (const response of [eleventh, large, malformed])
        expect(await response.json()).toEqual({ error: expect.any(String), error_description: expect.any(String) });
      expect(fetched).toEqual([]);
    });

    it('rejected registrations do not count: ten valid ones still succeed', async () => {
      const from = address();
      for (const body of [
        '{',
        [],
        {},
        { redirect_uris: ['javascript:alert(1)'] },
        { redirect_uris: [CALLBACK], grant_types: ['password'] },
        { redirect_uris: [CALLBACK], client_name: 'x'.repeat(9_000) },
      ]) {
        for (let i = 0; i < 3; i += 1) expect([400, 413]).toContain((await register(body, from)).status);
      }

      const statuses = await Promise.all(
        Array.from({ length: 12 }, async () => (await register({ redirect_uris: [CALLBACK] }, from)).status),
      );

      expect(statuses.sort()).toEqual([...Array.from({ length: 10 }, () => 201), 429, 429]);
    });

    it.each([
      ['2/3600', 2],
      ['off', 12],
    ])('RATE_LIMIT_REGISTRATION=%s: %i consecutive registrations succeed', async (limit, count) => {
      const limited = await startServer({ RATE_LIMIT_REGISTRATION: limit });
      const statuses: number[] = [];
      for (let i = 0; i < 12; i += 1)
        statuses.push(
          (
            await fetch(`${limited.url}/oauth/register`, {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify({ redirect_uris: [CALLBACK] }),
            })
          ).status,
        );
      await limited.stop();

      expect(statuses).toEqual(statuses.map((_, i) => (i < count ? 201 : 429)));
    });

    it('unapproved clients are deleted after a day, approved ones are not', async () => {
      const [forgotten, kept] = [await registered(server, {}, address()), await registered(server, {}, address())];
      await decide(person, authorizePath(kept, pkce().challenge));
      await sql.rows(`update oauth_clients set created_at = now() - interval '25 hours' where id = any ($1)`, [
        [forgotten, kept],
      ]);

      // The cleanup of registrations runs at startup.
      const second = await startServer(server.env);
      await second.stop();

      expect((await person.get(authorizePath(forgotten, pkce().challenge))).status).toBe(400);
      expect((await person.get(authorizePath(kept, pkce().challenge))).status).toBe(200);
    });
  });

  describe('a flood of registrations', () => {
    afterEach(() => sql.rows(`delete from oauth_clients where name = 'A flood'`));

    /** Inserts registrations. `network` is SQL for the client network, which can use the row number `i`. */
    const flood = (count: number, network: string): Promise<unknown> =>
      sql.rows(
        `insert into oauth_clients (id, name, redirect_uris, network, created_at)
       select substr(md5(random()::text || i), 1, 22), 'A flood', array['https://flood.example.com/'], ${network}, now() from generate_series(1, $1::int) i`,
        [count],
      );
    const unapproved = async (): Promise<number> =>
      Number(
        (await sql.rows<{ count: string }>('select count(*) from oauth_clients where approved_at is null'))[0]?.count,
      );
    const isKnown = async (id: string): Promise<boolean> =>
      (await person.get(authorizePath(id, pkce().challenge))).status === 200;

    it('from a few addresses locks no client out, neither earlier nor later ones', async () => {
      const before = await registered(server, {}, address());
      await flood(10_000, `'198.51.100.' || i % 10`);

      const after = await registered(server, {}, address());

      expect(await unapproved()).toBe(10_000);
      expect([await isKnown(before), await isKnown(after)]).toEqual([true, true]);
    });

    it('from thousands of addresses, or of networks of one site, evicts no client whose consent page was shown', async () => {
      const asked = await registered(server, {}, address());
      expect(await isKnown(asked)).toBe(true);
      await flood(6_000, `'100.64.' || i / 250 || '.' || i % 250`);
      await flood(6_000, `'2001:db8:7:' || to_hex(i) || '::/64'`);

      const after = await registered(server, {}, address());
      await registered(server, {}, address());

      expect(await unapproved()).toBe(10_000);
      expect([await isKnown(asked), await isKnown(after)]).toEqual([true, true]);
      const [{ count }] = (await sql.rows<{ count: string }>(
        `select count(*) from oauth_clients where network like '2001:db8:7:%'`,
      )) as [{ count: string }];
      expect(Number(count)).toBeLessThan(4_000);
    });

    it('a network can have a hundred: another one evicts the oldest of the network, except clients whose consent page was shown', async () => {
      const from = address();
      const asked = await registered(server, {}, from);
      expect(await isKnown(asked)).toBe(true);
      const oldest = await registered(server, {}, from);
      await flood(98, `'${from}'`);

      const newest = await registered(server, {}, from);

      const left = (await sql.rows<{ id: string }>('select id from oauth_clients where network = $1', [from])).map(
        ({ id }) => id,
      );
      expect(left).toHaveLength(100);
      expect([asked, oldest, newest].map((id) => left.includes(id))).toEqual([true, false, true]);
    });
  });
});
