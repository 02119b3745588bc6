import { randomUUID } from 'node:crypto';
import { type PosthornServer, startServer } from '../support/server.js';
import { as, createKey, expectRateLimitHeaders, expectRefusal } from './answers.js';
import { listen } from './listening.js';
import { until } from './polling.js';
import { destinationAt, expectStatus, openSql, send, type Sql, startTargets, type Targets } from './scene.js';
import { asked, asPage, cookieOf, openSession, sessionCookieName, signedInMember } from './sessions.js';
import { fieldOf, PlainBrowser } from './signing-in.js';

const ENDED_WITHIN_MS = 5_000;

describe('a session at the API', () => {
  let server: PosthornServer;
  let second: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    // The quota refills so slowly that the remaining requests can be counted.
    server = await startServer({ TRUST_PROXY: '127.0.0.0/8', RATE_LIMIT_KEY: '5000/50000' });
    second = await startServer(server.env);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    await second?.stop();
    await server?.stop();
    await targets?.close();
  });

  const isIn = async (cookie: string, at = server): Promise<boolean> =>
    (await at.api('GET', '/v1/session', undefined, asPage(cookie, null))).status === 200;

  describe('accepts', () => {
    it('a member, in both environments, with the current role', async () => {
      const { id, cookie } = await signedInMember(server, sql, 'read');
      const make = (environment: string): ReturnType<PosthornServer['api']> =>
        server.api('POST', '/v1/destinations', { name: environment, type: 'pull' }, asPage(cookie, environment));
      const refused = await make('live');
      expectRefusal(refused, 403);
      expect(refused.json.error.details).toEqual({ required: 'write', scope: 'read' });

      expectStatus(await server.api('PATCH', `/v1/members/${id}`, { role: 'write' }), 200);
      const made = [expectStatus(await make('live'), 201).json, expectStatus(await make('test'), 201).json];

      const shown = await Promise.all(
        ['live', 'test'].map((environment) =>
          server.api('GET', `/v1/destinations/${made[1].id}`, undefined, asPage(cookie, environment)),
        ),
      );
      expect(shown.map(({ status }) => status)).toEqual([404, 200]);
      expect((await server.api('GET', `/v1/destinations/${made[0].id}`)).status).toBe(200);
    });

    it('a person who signed in with a key, only in the environment of the key', async () => {
      const { key } = await createKey(server, { scope: 'read', environment: 'test' });
      const cookie = await cookieOf(server, key);

      expectStatus(await server.api('GET', '/v1/events', undefined, asPage(cookie, 'test')), 200);
      const elsewhere = await server.api('GET', '/v1/events', undefined, asPage(cookie, 'live'));

      expectRefusal(elsewhere, 403);
      expect(elsewhere.json.error.details).toEqual({ environment: 'test' });
    });

    it('requests of its own origin, with responses that no shared cache stores', async () => {
      const cookie = await cookieOf(server);

      const answer = await server.api(
        'GET',
        '/v1/events',
        undefined,
        asPage(cookie, 'live', { origin: server.url, 'sec-fetch-site': 'same-origin' }),
      );

      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expectRateLimitHeaders(answer.headers);
    });

    it('without BASE_URL, pages from every address of the service, such as the one logged at startup', async () => {
      const cookie = await cookieOf(server);
      const port = new URL(server.url).port;

      const answers = await Promise.all(
        ['127.0.0.1', 'localhost', '[::1]'].map((host) =>
          server.api(
            'POST',
            '/v1/destinations',
            { name: host, type: 'pull' },
            asPage(cookie, 'live', {
              host: `${host}:${port}`,
              'x-forwarded-host': `${host}:${port}`,
              origin: `http://${host}:${port}`,
            }),
          ),
        ),
      );

      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    });

    it.each([null, 'production', '', 'LIVE'])(
      '400: the environment header is required and must be valid: %j',
      async (environment) => {
        expectRefusal(
          await server.api('GET', '/v1/events', undefined, asPage(await cookieOf(server), environment)),
          400,
        );
      },
    );

    it('a key takes precedence over a cookie, and a cookie does not replace an invalid key', async () => {
      const cookie = await cookieOf(server);
      const { key } = await createKey(server, { scope: 'read', environment: 'test' });

      expect((await server.api('GET', '/v1/org', undefined, asPage(cookie, 'live', as(key)))).status).toBe(200);
      expect((await server.api('GET', '/v1/keys', undefined, asPage(cookie, 'live', as(key)))).status).toBe(403);
      expectRefusal(await server.api('GET', '/v1/org', undefined, asPage(cookie, 'live', as('ek_live_none'))), 401);
    });
  });

  describe('401', () => {
    const page = 'x-posthorn-console';
    it.each<[string, Record<string, string>]>([
      ['only the cookie, which any site can make a browser send', { [page]: '' }],
      ['another value of the header', { [page]: 'true' }],
      ['another site', { origin: 'https://evil.example' }],
      ['a page without an origin', { origin: 'null' }],
      ['another port of this host', { origin: 'http://127.0.0.1:1' }],
      ['a cross-site request', { 'sec-fetch-site': 'cross-site' }],
      ['a same-site request from another origin', { 'sec-fetch-site': 'same-site' }],
      ['a URL typed into the browser', { 'sec-fetch-site': 'none' }],
      ['two origins', { origin: 'https://evil.example, http://127.0.0.1' }],
      ['no session', { cookie: `posthorn_session_00000000=${'a'.repeat(43)}` }],
      ['no cookie', { cookie: 'a=b' }],
    ])('%s', async (_what, headers) => {
      const cookie = await cookieOf(server);

      const answers = [
        await server.api('GET', '/v1/org', undefined, asPage(cookie, 'live', headers)),
        await server.api('POST', '/v1/destinations', { name: 'x', type: 'pull' }, asPage(cookie, 'live', headers)),
      ];

      for (const answer of answers) expectRefusal(answer, 401);
      expect(answers[0]?.headers.get('access-control-allow-origin')).toBeNull();
    });

    it('agents use their own keys: no cookie authenticates /mcp', async () => {
      expectRefusal(
        await server.api(
          'POST',
          '/mcp',
          { jsonrpc: '2.0', id: 1, method: 'tools/list' },
          asPage(await cookieOf(server)),
        ),
        401,
      );
    });

    it('a CORS preflight for the header is never allowed', async () => {
      const answer = await fetch(`${server.url}/v1/events`, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://evil.example',
          'access-control-request-method': 'GET',
          'access-control-request-headers': page,
        },
      });

      expect([
        answer.ok,
        answer.headers.get('access-control-allow-origin'),
        answer.headers.get('access-control-allow-headers'),
      ]).toEqual([false, null, null]);
    });
  });

  describe('ends on every node', () => {
    const ends = async (cookie: string, end: () => Promise<unknown>): Promise<void> => {
      expect([await isIn(cookie), await isIn(cookie, second)]).toEqual([true, true]);
      await end();
      expect(await isIn(cookie)).toBe(false);
      await until(
        () => isIn(cookie, second),
        (still) => !still,
        ENDED_WITHIN_MS,
      );
      expectRefusal(await asked(second, cookie, 'GET', '/v1/events'), 401);
    };

    it('on a sign-out at the API, which deletes the cookie', async () => {
      const { cookie } = await signedInMember(server, sql, 'read');

      await ends(cookie, async () => {
        const answer = await server.api('DELETE', '/v1/session', undefined, asPage(cookie, null));
        expect([answer.status, answer.headers.get('set-cookie')]).toEqual([
          204,
          `${await sessionCookieName(server)}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax`,
        ]);
      });
      expectRefusal(await server.api('DELETE', '/v1/session', undefined, asPage(cookie, null)), 401);
    });

    it('on a sign-out on the page', async () => {
      const browser = new PlainBrowser(server);
      await browser.post('/signin/key', { key: server.apiKey });

      await ends(browser.cookie, async () =>
        browser.post('/signout', { csrf_token: fieldOf((await browser.get('/signin')).text, 'csrf_token') }),
      );
    });

    it('when the member is removed', async () => {
      const { id, cookie } = await signedInMember(server, sql, 'write');

      await ends(cookie, async () => expectStatus(await server.api('DELETE', `/v1/members/${id}`), 204));
    });

    it('when the key that opened it is revoked', async () => {
      const { id, key } = await createKey(server, { scope: 'read' });

      await ends(await cookieOf(server, key), async () =>
        expectStatus(await server.api('DELETE', `/v1/keys/${id}`), 204),
      );
    });

    it('after twelve hours without a request, and after seven days in any case, by the clock of PostgreSQL', async () => {
      const [idle, old] = [await signedInMember(server, sql, 'read'), await signedInMember(server, sql, 'read')];
      expect([await isIn(idle.cookie), await isIn(old.cookie)]).toEqual([true, true]);

      await sql.rows(
        `update sessions s set last_seen_at = now() - interval '12 hours 1 second' from members m where m.id = s.member_id and m.email = $1`,
        [idle.email],
      );
      await sql.rows(
        `update sessions s set expires_at = now() from members m where m.id = s.member_id and m.email = $1`,
        [old.email],
      );

      for (const { cookie } of [idle, old])
        for (const node of [server, second])
          await until(
            () => isIn(cookie, node),
            (still) => !still,
            ENDED_WITHIN_MS,
          );
    });

    it('when another one replaces it: a new sign-in sets a new cookie, and the old one is invalid', async () => {
      const browser = new PlainBrowser(server);
      await browser.post('/signin/key', { key: server.apiKey });
      const before = browser.cookie;

      await ends(before, () => browser.post('/signin/key', { key: server.apiKey }));

      expect(browser.cookie).not.toBe(before);
      expect(await isIn(browser.cookie)).toBe(true);
    });

    it('and a cookie chosen by another party never becomes a session', async () => {
      const browser = new PlainBrowser(server);
      const planted = `${await sessionCookieName(server)}=${'x'.repeat(43)}`;
      browser.cookie = planted;
      await browser.post('/signin/key', { key: server.apiKey });

      expect([await isIn(browser.cookie), await isIn(planted)]).toEqual([true, false]);
    });
  });

  describe('GET /v1/session', () => {
    it('200: a member', async () => {
      const { id, email, cookie } = await signedInMember(server, sql, 'write');
      const org = (await server.api('GET', '/v1/org')).json;

      const { json } = expectStatus(await server.api('GET', '/v1/session', undefined, asPage(cookie, null)), 200);

      expect(json).toEqual({
        id: expect.stringMatching(/^ses_/),
        how: 'code',
        name: expect.any(String),
        member: { id, email, name: expect.any(String) },
        key: null,
        organization: { id: org.id, name: org.name, slug: org.slug },
        scope: 'write',
        environments: ['live', 'test'],
        expires_at: expect.any(String),
        idle_seconds: 43_200,
      });
      expect(Date.parse(json.expires_at)).toBeLessThanOrEqual(Date.now() + 7 * 86_400_000 + 60_000);
    });

    it('200: for a key, returns the key; the session ends when the key expires', async () => {
      const made = await createKey(server, {
        scope: 'read',
        environment: 'test',
        expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      });

      const { json } = expectStatus(
        await server.api('GET', '/v1/session', undefined, asPage(await cookieOf(server, made.key), null)),
        200,
      );

      expect(json).toMatchObject({
        member: null,
        key: { id: made.id },
        scope: 'read',
        environments: ['test'],
        how: 'key',
      });
      expect(Date.parse(json.expires_at)).toBeLessThan(Date.now() + 3_700_000);
    });

    it('404: a key has no session, even if the request has a cookie too', async () => {
      const cookie = await cookieOf(server);

      expectRefusal(await server.api('GET', '/v1/session'), 404);
      expectRefusal(await server.api('DELETE', '/v1/session', undefined, { cookie, 'x-posthorn-console': '1' }), 404);
      expect(await isIn(cookie)).toBe(true);
    });
  });

  describe('has the quota and the audit entries of a key', () => {
    it('the sessions of a member share one quota, and those of a key use the quota of the key', async () => {
      const remaining = async (headers: Record<string, string>): Promise<number> =>
        Number((await server.api('GET', '/v1/org', undefined, headers)).headers.get('ratelimit-remaining'));
      const { key } = await createKey(server, { scope: 'read' });
      const cookies = [await cookieOf(server, key), await cookieOf(server, key)];

      const first = await remaining(as(key));
      const then = [
        await remaining(asPage(cookies[0] ?? '')),
        await remaining(asPage(cookies[1] ?? '')),
        await remaining(as(key)),
      ];

      expect(then).toEqual([first - 1, first - 2, first - 3]);
      const { cookie, email } = await signedInMember(server, sql, 'read');
      const own = [
        await remaining(asPage(cookie)),
        await remaining(asPage(cookie, 'test')),
        await remaining(asPage(await openSession(server, sql, email))),
      ];
      expect(own).toEqual([4999, 4998, 4997]);
    });

    it('an Idempotency-Key belongs to the environment, whoever the caller is', async () => {
      const { cookie } = await signedInMember(server, sql, 'write');
      const key = randomUUID();
      const make = (headers: Record<string, string>): ReturnType<PosthornServer['api']> =>
        server.api('POST', '/v1/destinations', { name: 'once', type: 'pull' }, { ...headers, 'idempotency-key': key });

      const [first, again, elsewhere] = [
        await make(asPage(cookie)),
        await make({}),
        await make(asPage(cookie, 'test')),
      ];

      expect([first.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([201, first.text, 'true']);
      expect(elsewhere.json.id).not.toBe(first.json.id);
    });

    it('the audit log names the member and the session, or the key and the session, also for a sign-out', async () => {
      const { id, email, cookie } = await signedInMember(server, sql, 'write');
      const session = (await server.api('GET', '/v1/session', undefined, asPage(cookie, null))).json.id as string;
      const made = expectStatus(
        await asked(server, cookie, 'POST', '/v1/destinations', { name: 'audited', type: 'pull' }),
        201,
      ).json;
      const ofKey = await createKey(server, { scope: 'write' });
      const byKey = expectStatus(
        await asked(server, await cookieOf(server, ofKey.key), 'POST', '/v1/destinations', {
          name: 'audited',
          type: 'pull',
        }),
        201,
      ).json;
      await server.api('DELETE', '/v1/session', undefined, asPage(cookie, null));

      const entries = async (query: string): Promise<unknown[]> =>
        (await server.api('GET', `/v1/audit?${query}`)).json.data.map(
          ({ action, actor }: { action: string; actor: object }) => [action, actor],
        );

      const member = { kind: 'member', id, name: email, source: null, session };
      expect(await entries(`actor=${id}`)).toEqual([
        ['sign-out', member],
        ['POST /v1/destinations', member],
      ]);
      expect(await entries(`resource=${made.id}`)).toEqual([['POST /v1/destinations', member]]);
      expect(await entries(`resource=${byKey.id}`)).toEqual([
        [
          'POST /v1/destinations',
          expect.objectContaining({ kind: 'key', id: ofKey.id, session: expect.stringMatching(/^ses_/) }),
        ],
      ]);
      expect((await server.api('GET', `/v1/audit/export?actor=${id}&format=csv`)).text).toContain(session);
    });

    it('the OpenAPI document lists the cookie as an alternative to the key, which comes first', async () => {
      const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
        components: { securitySchemes: Record<string, object> };
        paths: Record<string, Record<string, { security: object[] }>>;
      };

      expect(document.components.securitySchemes['session']).toMatchObject({
        type: 'apiKey',
        in: 'cookie',
        name: 'posthorn_session',
        description: expect.stringContaining('X-Posthorn-Console'),
      });
      expect(document.paths['/v1/keys']?.['get']?.security).toEqual([{ apiKey: ['admin'] }, { session: ['admin'] }]);
      expect(document.paths['/mcp']?.['post']?.security).toEqual([{ apiKey: ['read'] }]);
    });
  });

  describe('reads the event stream', () => {
    /** Returns the headers that a browser sends for an `EventSource`. */
    const source = (cookie: string, more: Record<string, string> = {}): Record<string, string> => ({
      authorization: '',
      cookie,
      accept: 'text/event-stream',
      ...more,
    });
    const STREAM = '/v1/events/stream';

    it('200: with only the cookie, in the environment of the query, and receives its events', async () => {
      const { cookie } = await signedInMember(server, sql, 'read');
      const target = targets.open();
      const [live, test] = [
        await listen(server, '?environment=live', source(cookie, { 'sec-fetch-site': 'same-origin' })),
        await listen(second, '?environment=test', source(cookie)),
      ];

      const message = await send(server, await destinationAt(server, target.url), { event_type: 'a.b' });

      await live.waitFor('accepted', ({ data }) => data.message_id === message);
      await live.waitFor('status', ({ data }) => data.message_id === message);
      expect(test.changes()).toEqual([]);
      live.close();
      test.close();
    });

    it.each<[number, string, string, Record<string, string>]>([
      [400, 'no environment', '', {}],
      [400, 'an invalid environment', '?environment=all', {}],
      [401, 'another site', '?environment=live', { origin: 'https://evil.example' }],
      [401, 'a same-site request from another origin', '?environment=live', { 'sec-fetch-site': 'same-site' }],
      [401, 'an image, a frame or a link', '?environment=live', { accept: '*/*' }],
      [401, 'a page', '?environment=live', { accept: 'text/html,text/event-stream' }],
    ])('%i: %s', async (status, _what, query, headers) => {
      expectRefusal(
        await server.api('GET', `${STREAM}${query}`, undefined, source(await cookieOf(server), headers)),
        status,
      );
    });

    it('401: the cookie alone authenticates no other read and no change', async () => {
      const cookie = await cookieOf(server);

      expectRefusal(await server.api('GET', '/v1/events?environment=live', undefined, source(cookie)), 401);
      expectRefusal(await server.api('POST', `${STREAM}?environment=live`, {}, source(cookie)), 404);
    });

    it('400: a key can only read the stream of its own environment', async () => {
      expectRefusal(await server.api('GET', `${STREAM}?environment=test&follow=false`), 400);
    });

    it('ends with session_ended when the session ends, on every node: by a sign-out, or idle while the stream is open', async () => {
      const [out, idle] = [await signedInMember(server, sql, 'read'), await signedInMember(server, sql, 'read')];
      const listeners = [
        await listen(server, '?environment=live', source(out.cookie)),
        await listen(second, '', asPage(out.cookie)),
        await listen(second, '?environment=test', source(idle.cookie)),
      ];

      await server.api('DELETE', '/v1/session', undefined, asPage(out.cookie, null));
      await sql.rows(
        `update sessions s set last_seen_at = now() - interval '13 hours' from members m where m.id = s.member_id and m.email = $1`,
        [idle.email],
      );

      for (const listener of listeners)
        expect((await listener.waitFor('end')).data).toEqual({ reason: 'session_ended' });
    });
  });
});
