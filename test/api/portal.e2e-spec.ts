import { type ApiAnswer, type PosthornServer, startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal } from './answers.js';
import { applicationOf, emit, endpointAt, eventsIn } from './applications.js';
import { until } from './polling.js';
import { expire, inPortal, type OpenPortal, openPortal } from './portals.js';
import { expectStatus, openSql, type Sql, startTargets, type Targets, uuidOf } from './scene.js';
import { asked, cookieOf, signedInMember } from './sessions.js';

type Permission = 'view' | 'secrets' | 'manage' | 'resend';

/** Every route that accepts a portal token, with its permission. The test fails if another route accepts a token. */
const OPEN: Readonly<Record<string, Permission>> = {
  'GET /v1/portal': 'view',
  'GET /v1/app/{app}/endpoints': 'view',
  'POST /v1/app/{app}/endpoints': 'manage',
  'POST /v1/app/{app}/endpoints/check': 'manage',
  'GET /v1/app/{app}/endpoints/{endpoint}': 'view',
  'PATCH /v1/app/{app}/endpoints/{endpoint}': 'manage',
  'DELETE /v1/app/{app}/endpoints/{endpoint}': 'manage',
  'GET /v1/app/{app}/endpoints/{endpoint}/attempts': 'view',
  'GET /v1/app/{app}/endpoints/{endpoint}/stats': 'view',
  'GET /v1/app/{app}/endpoints/{endpoint}/secret': 'secrets',
  'POST /v1/app/{app}/endpoints/{endpoint}/secret/rotate': 'secrets',
  'POST /v1/app/{app}/endpoints/{endpoint}/test': 'manage',
  'POST /v1/app/{app}/endpoints/{endpoint}/recover': 'resend',
  'POST /v1/app/{app}/messages/{message}/endpoints/{endpoint}/resend': 'resend',
  'GET /v1/app/{app}/messages': 'view',
  'GET /v1/app/{app}/messages/{message}': 'view',
  'GET /v1/app/{app}/events': 'view',
  'GET /v1/app/{app}/events/{event}': 'view',
  'GET /v1/event-types': 'view',
  'GET /v1/event-types/{name}': 'view',
};
const UNKNOWN = '01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const PERMISSIONS: readonly Permission[] = ['view', 'secrets', 'manage', 'resend'];

describe("the token of a customers' portal", () => {
  let server: PosthornServer;
  let node: PosthornServer;
  let sql: Sql;
  let targets: Targets;

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer({
      EGRESS_ALLOW_HTTP: 'true',
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      PORTAL_ENDPOINTS_MAX: '3',
    });
    node = await startServer(server.env);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await node.stop();
    await server.stop();
    await targets.close();
  });

  /** Calls a route for one application. The request changes nothing, whether or not it is authorized. */
  function knock(route: string, application: string, portal: { token: string }): Promise<ApiAnswer> {
    const [method = '', template = ''] = route.split(' ');
    const path = template
      .replace('{app}', application)
      .replace('{endpoint}', `ep_${UNKNOWN}`)
      .replace('{message}', `msg_${UNKNOWN}`)
      .replace('{event}', `evt_${UNKNOWN}`)
      .replace('{name}', 'no.such')
      .replaceAll(/\{\w+\}/g, `dst_${UNKNOWN}`)
      .replace(/\/stream$/, '/stream?follow=false');
    return inPortal(server, portal, method, path, method === 'GET' || method === 'DELETE' ? undefined : {});
  }

  async function routes(): Promise<{ route: string; isPublic: boolean; permission: string | undefined }[]> {
    type Paths = Record<string, Record<string, { security?: Record<string, string[]>[] }>>;
    const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: Paths };
    return Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { security }]) => ({
        route: `${method.toUpperCase()} ${path}`,
        isPublic: security?.length === 0,
        permission: security?.find((scheme) => 'portalToken' in scheme)?.['portalToken']?.[0],
      })),
    );
  }

  it('the OpenAPI document names the routes that accept a portal token, with their permissions, and no others', async () => {
    const marked = (await routes())
      .filter(({ permission }) => permission !== undefined)
      .map(({ route, permission }) => [route, permission]);

    expect(Object.fromEntries(marked)).toEqual(OPEN);
  });

  it('every route of the API: only the marked ones accept the token, only for its application and with the permission', async () => {
    const [own, other] = [await applicationOf(server), await applicationOf(server, { uid: 'other-customer' })];
    const portals = new Map(
      await Promise.all(
        PERMISSIONS.map(
          async (permission) => [permission, await openPortal(server, own, { permissions: [permission] })] as const,
        ),
      ),
    );
    const every = await openPortal(server, own);
    const all = await routes();
    expect(all.length).toBeGreaterThan(150);

    for (const { route, isPublic, permission } of all) {
      if (isPublic) continue;
      const answer = await knock(route, own, every);
      const status = [route, answer.status];
      if (permission === undefined) {
        // Operator routes accept no portal tokens.
        expect([
          [route, 403],
          [route, 401],
        ]).toContainEqual(status);
        continue;
      }
      // A status of 404 or 422 shows that the call was authorized.
      expect([200, 404, 422].map((let_in) => [route, let_in])).toContainEqual(status);
      for (const [held, portal] of portals) {
        const refused = (await knock(route, own, portal)).status === 403;
        expect([route, held, refused]).toEqual([route, held, permission !== 'view' && permission !== held]);
      }
      if (!route.includes('{app}')) continue;
      for (const foreign of [other, 'other-customer', `app_${UNKNOWN}`])
        expectRefusal(await knock(route, foreign, every), 404);
    }
  });

  it('401: an unknown, an expired and a revoked token, revoked singly or for the application, on every node within five seconds', async () => {
    const application = await applicationOf(server);
    const [first, second, third, fourth] = (await Promise.all(
      Array.from({ length: 4 }, () => openPortal(server, application)),
    )) as [OpenPortal, OpenPortal, OpenPortal, OpenPortal];
    const everywhere = async (portal: { token: string }): Promise<number[]> => [
      (await inPortal(server, portal, 'GET', '/v1/portal')).status,
      (await inPortal(node, portal, 'GET', '/v1/portal')).status,
    ];
    for (const portal of [first, second, third, fourth]) expect(await everywhere(portal)).toEqual([200, 200]);

    expectStatus(await server.api('DELETE', `/v1/app/${application}/portal/${first.id}`), 204);
    expect((await inPortal(server, first, 'GET', '/v1/portal')).status).toBe(401);
    await until(
      () => everywhere(first),
      (found) => found.every((status) => status === 401),
      5_000,
    );
    expect(await everywhere(second)).toEqual([200, 200]);

    await expire(sql, second);
    await until(
      () => everywhere(second),
      (found) => found.every((status) => status === 401),
      5_000,
    );

    expectStatus(await server.api('DELETE', `/v1/app/${application}/portal`), 204);
    for (const portal of [third, fourth])
      await until(
        () => everywhere(portal),
        (found) => found.every((status) => status === 401),
        5_000,
      );
    expectStatus(await server.api('DELETE', `/v1/app/${application}/portal`), 204);
    expectRefusal(await inPortal(server, { token: `pt_${'A'.repeat(43)}` }, 'GET', '/v1/portal'), 401);
    expectRefusal(await inPortal(server, { token: 'pt_short' }, 'GET', '/v1/portal'), 401);
    expect((await server.api('GET', `/v1/app/${application}/portal`)).json.data).toEqual([]);
  });

  it('401: a rotation without grace of the key that opened it ends the token, because the key may have been compromised', async () => {
    const application = await applicationOf(server);
    const { id, key } = await createKey(server, { scope: 'write' });
    const portal = await openPortal(server, application, {}, as(key));
    const status = async (): Promise<number> => (await inPortal(node, portal, 'GET', '/v1/portal')).status;
    expect(await status()).toBe(200);

    expectStatus(await server.api('POST', `/v1/keys/${id}/rotate`, { grace_seconds: 0 }), 200);
    await until(status, (found) => found === 401, 8_000);
    expect((await server.api('GET', `/v1/app/${application}/portal`)).json.data).toEqual([]);
  });

  it('401: the token ends with the key that opened it, with the member, and with the application', async () => {
    const application = await applicationOf(server);
    const { id, key } = await createKey(server, { scope: 'write' });
    const member = await signedInMember(server, sql, 'write');
    const byKey = await openPortal(server, application, {}, as(key));
    const byMember = expectStatus(await asked(server, member.cookie, 'POST', `/v1/app/${application}/portal`, {}), 201)
      .json as OpenPortal;
    const kept = await openPortal(server, application);
    const status = async (portal: { token: string }): Promise<number> =>
      (await inPortal(node, portal, 'GET', '/v1/portal')).status;
    expect([await status(byKey), await status(byMember), await status(kept)]).toEqual([200, 200, 200]);

    expectStatus(await server.api('DELETE', `/v1/keys/${id}`), 204);
    expectStatus(await server.api('DELETE', `/v1/members/${member.id}`), 204);
    await until(
      async () => [await status(byKey), await status(byMember)],
      (found) => found.every((each) => each === 401),
      5_000,
    );
    expect(await status(kept)).toBe(200);

    expectStatus(await server.api('DELETE', `/v1/app/${application}`), 204);
    // The service answers 404 if it looks up the deleted application first, and 401 if it checks the invalid token
    // first.
    expect([401, 404]).toContain((await inPortal(server, kept, 'GET', `/v1/app/${application}/endpoints`)).status);
    await until(
      () => status(kept),
      (each) => each === 401,
      8_000,
    );
  });

  it('is limited to one environment and one application: other events, messages and endpoints are 404 on every path', async () => {
    const [own, other] = [await applicationOf(server), await applicationOf(server)];
    const target = targets.open();
    const theirs = await endpointAt(server, other, target.url);
    const mine = await endpointAt(server, own, target.url);
    const [sent, foreign] = [
      await emit(server, own, { payload: { amount: 12345678901234567890n.toString() } }),
      await emit(server, other),
    ];
    const [myEvent] = await eventsIn(server, sent.message_id, 1, 'delivered');
    const [theirEvent] = await eventsIn(server, foreign.message_id, 1, 'delivered');
    const portal = await openPortal(server, own);
    const app = `/v1/app/${own}`;

    expect(
      (await inPortal(server, portal, 'GET', `${app}/events`)).json.data.map((event: { id: string }) => event.id),
    ).toEqual([myEvent.id]);
    expect((await inPortal(server, portal, 'GET', `${app}/events?endpoint=${theirs.id}`)).json.data).toEqual([]);
    expect((await inPortal(server, portal, 'GET', `${app}/events?q=${theirEvent.id}`)).json.data).toEqual([]);
    expect((await inPortal(server, portal, 'GET', `${app}/events/${myEvent.id}`)).json).toMatchObject({
      application: own,
      attempts: [{ status: 200 }],
    });
    for (const path of [
      `events/${theirEvent.id}`,
      `events/${sent.message_id}`,
      `messages/${foreign.message_id}`,
      `endpoints/${theirs.id}`,
      `endpoints/${theirs.id}/secret`,
      `endpoints/${theirs.id}/attempts`,
    ]) {
      expectRefusal(await inPortal(server, portal, 'GET', `${app}/${path}`), 404);
    }
    expectRefusal(
      await inPortal(server, portal, 'POST', `${app}/messages/${foreign.message_id}/endpoints/${mine.id}/resend`),
      404,
    );
    expectRefusal(
      await inPortal(server, portal, 'PATCH', `${app}/endpoints/${theirs.id}`, { status: 'disabled' }),
      404,
    );
    expectStatus(
      await inPortal(server, portal, 'POST', `${app}/messages/${sent.message_id}/endpoints/${mine.id}/resend`),
      202,
    );
    expect(
      expectStatus(
        await inPortal(server, portal, 'POST', `${app}/endpoints/${mine.id}/recover`, {
          since: '2026-01-01T00:00:00.000Z',
        }),
        202,
      ).json.kind,
    ).toBe('recover');
    expectInvalid(
      await inPortal(server, portal, 'POST', `${app}/endpoints/${mine.id}/recover`, {
        since: '2026-01-01T00:00:00.000Z',
        include_cancelled: true,
      }),
      'schema',
      'include_cancelled',
    );
    const { json } = expectStatus(
      await server.api('POST', '/v1/keys', { name: 'Test', scope: 'admin', environment: 'test' }),
      201,
    );
    expectRefusal(await server.api('POST', `/v1/app/${own}/portal`, {}, as(json.key)), 404);
    await target.arrived(3);
  });

  it('manages endpoints, but nothing of the provider: no destination, schedule, secret of the environment or notes', async () => {
    const application = await applicationOf(server);
    const portal = await openPortal(server, application, { permissions: ['manage'] });
    const endpoints = `/v1/app/${application}/endpoints`;
    const target = targets.open();
    expectStatus(await server.api('POST', '/v1/secrets', { name: 'CRM', value: 'tok_crm' }), 201);
    const { id: pulled } = expectStatus(
      await server.api('POST', '/v1/destinations', { name: 'Internal', type: 'pull' }),
      201,
    ).json;

    for (const [field, value] of Object.entries({
      destination: pulled,
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
      metadata: { a: 'b' },
      timeout_ms: 1000,
      retry: { max_attempts: 1 },
      uid: 'mine',
      channels: ['a'],
    })) {
      expectInvalid(
        await inPortal(server, portal, 'POST', endpoints, { url: target.url, [field]: value }),
        'schema',
        field,
      );
    }
    expectInvalid(
      await inPortal(server, portal, 'POST', endpoints, {
        url: target.url,
        headers: { 'x-a': 'Bearer {{secrets.CRM}}' },
      }),
      'schema',
      'headers.x-a',
    );
    expectInvalid(
      await inPortal(server, portal, 'POST', endpoints, { url: 'http://169.254.169.254/latest' }),
      'connectivity',
    );
    const made = expectStatus(
      await inPortal(server, portal, 'POST', endpoints, {
        url: target.url,
        event_types: ['invoice.*'],
        description: 'Mine',
      }),
      201,
    ).json;
    expect(made).toMatchObject({ secret: null, public_key: null, event_types: ['invoice.*'] });
    expect(
      expectStatus(await inPortal(server, portal, 'POST', `${endpoints}/check`, { url: target.url }), 200).json.ok,
    ).toBe(true);
    expect(
      expectStatus(await inPortal(server, portal, 'POST', `${endpoints}/check`, { url: 'http://10.0.0.1/' }), 200).json
        .ok,
    ).toBe(false);
    expect(
      expectStatus(await inPortal(server, portal, 'POST', `${endpoints}/${made.id}/test`), 200).json.attempt.status,
    ).toBe(200);

    expectStatus(
      await server.api('PATCH', `${endpoints}/${made.id}`, {
        headers: { authorization: 'Bearer {{secrets.CRM}}', 'x-api-key': 'k1', 'x-plain': '1' },
        metadata: { plan: 'gold' },
      }),
      200,
    );
    const shown = expectStatus(await inPortal(server, portal, 'GET', `${endpoints}/${made.id}`), 200).json;
    expect(shown).toMatchObject({
      metadata: {},
      headers: { authorization: '(hidden)', 'x-api-key': '(hidden)', 'x-plain': '1' },
    });
    expectStatus(
      await inPortal(server, portal, 'PATCH', `${endpoints}/${made.id}`, {
        headers: { ...shown.headers, 'x-plain': '2' },
      }),
      200,
    );
    expect((await server.api('GET', `${endpoints}/${made.id}`)).json.headers).toEqual({
      authorization: 'Bearer {{secrets.CRM}}',
      'x-api-key': 'k1',
      'x-plain': '2',
    });
    // The value "(hidden)" keeps a header's stored value, so it is invalid for a new header.
    expectInvalid(
      await inPortal(server, portal, 'PATCH', `${endpoints}/${made.id}`, { headers: { 'x-new': '(hidden)' } }),
      'schema',
      'headers.x-new',
    );
    expectInvalid(
      await inPortal(server, portal, 'POST', endpoints, { url: target.url, headers: { 'x-api-key': '(hidden)' } }),
      'schema',
      'headers.x-api-key',
    );
    expectInvalid(
      await inPortal(server, portal, 'PATCH', `${endpoints}/${made.id}`, { url: 'http://127.0.0.1:9/elsewhere' }),
      'schema',
      'url',
    );
    expectStatus(
      await inPortal(server, portal, 'PATCH', `${endpoints}/${made.id}`, {
        url: `${target.url}/below`,
        status: 'disabled',
      }),
      200,
    );
    expect(
      expectStatus(
        await inPortal(server, portal, 'PATCH', `${endpoints}/${made.id}`, {
          url: 'http://127.0.0.1:9/elsewhere',
          headers: {},
        }),
        200,
      ).json.headers,
    ).toEqual({});

    for (let i = 0; i < 2; i += 1)
      expectStatus(await inPortal(server, portal, 'POST', endpoints, { url: target.url }), 201);
    expectRefusal(await inPortal(server, portal, 'POST', endpoints, { url: target.url }), 409);
    expectStatus(await server.api('POST', endpoints, { url: target.url }), 201);
    expectStatus(await inPortal(server, portal, 'DELETE', `${endpoints}/${made.id}`), 204);
  });

  it('secrets: shown and rotated only with that permission', async () => {
    const application = await applicationOf(server);
    const endpoint = await endpointAt(server, application, targets.open().url);
    const [may, mayNot] = [
      await openPortal(server, application, { permissions: ['secrets'] }),
      await openPortal(server, application, { permissions: ['manage', 'resend'] }),
    ];
    const path = `/v1/app/${application}/endpoints/${endpoint.id}/secret`;

    expect((await inPortal(server, may, 'GET', path)).json.secret).toBe(endpoint.secret);
    expect((await inPortal(server, may, 'POST', `${path}/rotate`, { grace_seconds: 60 })).json.secret).toMatch(
      /^whsec_/,
    );
    expectRefusal(await inPortal(server, mayNot, 'GET', path), 403);
    expect((await inPortal(server, mayNot, 'GET', '/v1/portal')).json.permissions).toEqual([
      'view',
      'manage',
      'resend',
    ]);
  });

  it('the audit log records its actions under its session; its token is neither in the log nor in the database', async () => {
    const application = await applicationOf(server);
    const portal = await openPortal(server, application);
    expectStatus(
      await inPortal(server, portal, 'POST', `/v1/app/${application}/endpoints`, { url: targets.open().url }),
      201,
    );
    const cookie = await cookieOf(server);
    const preview = expectStatus(await asked(server, cookie, 'POST', `/v1/app/${application}/portal/preview`, {}), 201)
      .json as OpenPortal;

    const [did] = (await server.api('GET', `/v1/audit?actor=${portal.id}`)).json.data;
    expect(did).toMatchObject({ actor: { kind: 'portal', id: portal.id }, action: 'POST /v1/app/:app/endpoints' });
    const [looked] = (await server.api('GET', '/v1/audit?action=POST%20/v1/app/:app/portal/preview')).json.data;
    expect(looked).toMatchObject({
      actor: { kind: 'key', session: expect.stringMatching(/^ses_/) },
      after: { made: preview.id },
    });
    const log = (await server.api('GET', '/v1/audit/export')).text;
    const rows =
      JSON.stringify(await sql.rows('select * from portal_sessions')) +
      JSON.stringify(await sql.rows('select * from idempotency_keys'));
    for (const { token } of [portal, preview])
      for (const text of [log, rows, server.logs()]) expect(text).not.toContain(token.slice(3, 40));
    expect((await inPortal(server, preview, 'GET', '/v1/portal')).json).toMatchObject({
      kind: 'preview',
      permissions: ['view'],
    });
  });

  it('a read key can preview a portal, but cannot open one for a customer', async () => {
    const application = await applicationOf(server);
    const { key } = await createKey(server, { scope: 'read' });

    expectStatus(await server.api('POST', `/v1/app/${application}/portal/preview`, {}, as(key)), 201);
    expectRefusal(await server.api('POST', `/v1/app/${application}/portal`, {}, as(key)), 403);
  });

  it('a preview has the given theme, and no other setting of a portal', async () => {
    const application = await applicationOf(server);
    const path = `/v1/app/${application}/portal/preview`;
    const theme = { scheme: 'dark', accent: '#0a58b5', font: 'serif' };
    const preview = expectStatus(await server.api('POST', path, { theme, locale: 'de' }), 201).json as OpenPortal;

    expect((await inPortal(server, preview, 'GET', '/v1/portal')).json).toMatchObject({
      kind: 'preview',
      permissions: ['view'],
      theme: expect.objectContaining(theme) as object,
      locale: 'de',
    });
    for (const field of ['permissions', 'expires_in', 'return_url'])
      expectInvalid(await server.api('POST', path, { [field]: null }), 'schema', field);
    expectInvalid(await server.api('POST', path, { theme: { accent: 'red' } }), 'schema', 'theme.accent');
  });

  it('422: an invalid theme, time or URL; none of it becomes CSS', async () => {
    const application = await applicationOf(server);
    const open = (body: object): Promise<ApiAnswer> => server.api('POST', `/v1/app/${application}/portal`, body);

    for (const accent of ['red', '#fff', '#12345g', 'url(//a.example)', '#0a58b5;--x:1'])
      expectInvalid(await open({ theme: { accent } }), 'schema', 'theme.accent');
    for (const logo of [
      'https://a.example/x.png',
      'data:text/html;base64,AAAA',
      'data:image/png;base64,A"A',
      'javascript:alert(1)',
    ])
      expectInvalid(await open({ theme: { logo } }), 'schema', 'theme.logo');
    for (const font of [
      'Comic Sans',
      'Serif',
      '',
      "x'; background: url(//a.example); '",
      'url(//a.example/x.woff2)',
      1,
    ])
      expectInvalid(await open({ theme: { font } }), 'schema', 'theme.font');
    for (const url of [
      'javascript:alert(1)',
      'http://app.example.com',
      'https://u:p@app.example.com',
      'data:text/html,x',
      'app',
    ])
      expectInvalid(await open({ return_url: url }), 'schema', 'return_url');
    for (const body of [
      { expires_in: 59 },
      { expires_in: 86_401 },
      { permissions: [] },
      { locale: 'english' },
      { theme: { radius: 99 } },
      { theme: { css: 'x' } },
    ])
      expect((await open(body)).status).toBe(422);
    const { expires_at: until } = expectStatus(await open({ expires_in: 60 }), 201).json as OpenPortal;
    expect(Date.parse(until) - Date.now()).toBeLessThan(70_000);
  });

  it('the portal gets the values of its theme, and null for those that an earlier version did not store', async () => {
    const application = await applicationOf(server);
    const theme = { scheme: 'dark', accent: '#0A58B5', radius: 0, font: 'serif' };
    const [branded, old] = [
      await openPortal(server, application, { theme }),
      await openPortal(server, application, { theme: { font: 'serif' } }),
    ];
    await sql.rows(`update portal_sessions set theme = theme - 'font' where id = $1`, [uuidOf(old.id)]);
    const themeOf = async (portal: OpenPortal): Promise<unknown> =>
      (await inPortal(server, portal, 'GET', '/v1/portal')).json.theme;

    expect(await themeOf(branded)).toEqual({ ...theme, accent: '#0a58b5', logo: null });
    expect(await themeOf(old)).toMatchObject({ scheme: 'system', font: null });
  });

  it('the page of a session can be framed by the origins of its environment only; other pages cannot be framed', async () => {
    const application = await applicationOf(server);
    expectStatus(
      await server.api('PATCH', '/v1/org', {
        portal_origins: ['https://app.example.com', 'https://b.example.com:8443'],
      }),
      200,
    );
    expectInvalid(
      await server.api('PATCH', '/v1/org', {
        portal_origins: ['https://app.example.com', "https://a.example; script-src 'unsafe-inline'"],
      }),
      'schema',
      'portal_origins.1',
    );
    expectInvalid(
      await server.api('PATCH', '/v1/org', { portal_origins: ['http://localhost:3000'] }),
      'schema',
      'portal_origins.0',
    );
    const { id, url } = await openPortal(server, application);
    const { id: preview } = expectStatus(await server.api('POST', `/v1/app/${application}/portal/preview`), 201)
      .json as OpenPortal;
    const policyOf = async (path: string): Promise<string> =>
      (await fetch(`${server.url}${path}`)).headers.get('content-security-policy') ?? '';

    expect(url).toMatch(/\/portal\/pls_[0-9A-Z]{26}#pt_[A-Za-z0-9_-]{43}$/);
    await until(
      () => policyOf(`/portal/${id}`),
      (policy) => policy.includes('frame-ancestors https://app.example.com https://b.example.com:8443;'),
      5_000,
    );
    expect(await policyOf(`/portal/${id}`)).not.toMatch(/unsafe-|\*/);
    expect(await policyOf(`/portal/${id}`)).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
    for (const path of [`/portal/${preview}`, `/portal/pls_${UNKNOWN}`, '/portal/nothing', '/console'])
      expect(await policyOf(path)).toContain("frame-ancestors 'none'");
    const answer = await fetch(`${server.url}/portal/${id}`);
    expect([
      answer.status,
      answer.headers.get('x-frame-options'),
      answer.headers.get('cache-control'),
      answer.headers.get('referrer-policy'),
    ]).toEqual([200, null, 'no-store', 'no-referrer']);
    const script = await fetch(`${server.url}/portal/embed.js`);
    expect([script.status, script.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    const live = expectStatus(await server.api('GET', '/v1/org'), 200).json;
    expect(live.portal_origins).toEqual(['https://app.example.com', 'https://b.example.com:8443']);
  });
});

describe('the quota of a portal', () => {
  it('429: the quota is per session, and does not affect other callers', async () => {
    const server = await startServer({ RATE_LIMIT_PORTAL: '3/3600' });
    try {
      const application = await applicationOf(server);
      const [first, second] = [await openPortal(server, application), await openPortal(server, application)];
      for (let i = 0; i < 3; i += 1) expectStatus(await inPortal(server, first, 'GET', '/v1/portal'), 200);

      expectRefusal(await inPortal(server, first, 'GET', '/v1/portal'), 429);
      expectStatus(await inPortal(server, second, 'GET', '/v1/portal'), 200);
      expectStatus(await server.api('GET', '/v1/app'), 200);
    } finally {
      await server.stop();
    }
  });
});
