import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import * as oauth from 'oauth4webapi';
import { TLS } from '../support/egress.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { connectAgent } from './agent.js';
import { as, createKey } from './answers.js';
import { authorizePath, browserOf, CALLBACK, codeFor, decide, form, pkce, redirected, registered } from './oauth.js';
import { openSql, type Sql } from './scene.js';
import type { PlainBrowser } from './signing-in.js';

const HTTP = { [oauth.allowInsecureRequests]: true };
const CERTIFICATE = path.resolve(import.meta.dirname, '..', 'support', 'tls', 'localhost-cert.pem');

describe('OAuth', () => {
  let server: PosthornServer;
  let sql: Sql;
  let person: PlainBrowser;
  let documents: Server;
  let documentUrl: string;
  /** Responses for client metadata documents, by path. */
  const served = new Map<string, { status?: number; type?: string; headers?: Record<string, string>; body: string }>();
  let fetched: string[] = [];
  let clientId: string;
  let addresses = 0;

  beforeAll(async () => {
    documents = createServer({ cert: TLS.cert, key: TLS.key }, (request, response) => {
      fetched.push(request.url ?? '');
      const {
        status = 200,
        type = 'application/json',
        headers = {},
        body,
      } = served.get(request.url ?? '') ?? { status: 404, body: '' };
      response.writeHead(status, { 'content-type': type, ...headers }).end(body);
    });
    await new Promise<void>((resolve) => documents.listen(0, '127.0.0.1', resolve));
    documentUrl = `https://127.0.0.1:${(documents.address() as AddressInfo).port}`;
    server = await startServer({ TRUST_PROXY: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: CERTIFICATE });
    sql = openSql(server);
    person = await browserOf(server);
    clientId = await registered(server);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    documents?.closeAllConnections();
    await new Promise<void>((resolve) => void documents?.close(() => resolve()));
  });

  beforeEach(() => (fetched = []));

  /** Returns an unused client address, because registrations are counted per address. */
  const address = (): string => `203.0.113.${(addresses += 1)}`;
  const client = (): string => clientId;
  const exchange = (fields: Record<string, string>): ReturnType<typeof form> =>
    form(server, '/oauth/token', {
      grant_type: 'authorization_code',
      client_id: client(),
      redirect_uri: CALLBACK,
      ...fields,
    });

  async function tokenFor(browser = person): Promise<{ token: string; code: string; verifier: string }> {
    const { verifier, challenge } = pkce();
    const code = await codeFor(browser, client(), challenge);
    const { json } = await exchange({ code, code_verifier: verifier });
    return { token: json.access_token as string, code, verifier };
  }

  const use = async (token: string): Promise<number> =>
    (await server.api('GET', '/v1/events', undefined, as(token))).status;

  describe('a strict client', () => {
    it('completes discovery, registration, consent, exchange, a tool call and a revocation', async () => {
      const issuer = new URL(server.url);
      const refused = await fetch(`${server.url}/mcp`, { method: 'POST' });
      const resource = await oauth.processResourceDiscoveryResponse(
        new URL(`${server.url}/mcp`),
        await oauth.resourceDiscoveryRequest(new URL(`${server.url}/mcp`), HTTP),
      );
      const as_ = await oauth.processDiscoveryResponse(
        issuer,
        await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...HTTP }),
      );
      const registration = await oauth.dynamicClientRegistrationRequest(
        as_,
        { client_name: 'A strict client', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
        HTTP,
      );
      const known = await oauth.processDynamicClientRegistrationResponse(registration);
      const verifier = oauth.generateRandomCodeVerifier();
      const state = oauth.generateRandomState();
      const asked = new URL(as_.authorization_endpoint as string);
      for (const [name, value] of Object.entries({
        response_type: 'code',
        client_id: known.client_id,
        redirect_uri: CALLBACK,
        scope: 'read',
        state,
        resource: resource.resource,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }))
        asked.searchParams.set(name, value);
      const answered = await decide(person, asked.pathname + asked.search, { environment: 'live', lifetime: '7' });
      const parameters = oauth.validateAuthResponse(as_, known, new URL(answered.headers.get('location') ?? ''), state);
      const response = await oauth.authorizationCodeGrantRequest(
        as_,
        known,
        oauth.None(),
        parameters,
        CALLBACK,
        verifier,
        { additionalParameters: { resource: resource.resource }, ...HTTP },
      );
      const token = await oauth.processAuthorizationCodeResponse(as_, known, response);

      expect(refused.headers.get('www-authenticate')).toContain('/.well-known/oauth-protected-resource"');
      expect(known.client_secret).toBeUndefined();
      expect(token).toMatchObject({
        access_token: expect.stringMatching(/^ek_live_/),
        token_type: 'bearer',
        expires_in: 7 * 86_400,
        scope: 'read',
      });
      const agent = await connectAgent(server, token.access_token);
      expect((await agent.call('search_events')).isError).toBe(false);
      expect(await agent.tools()).not.toContain('send_webhook');
      await agent.close();

      await oauth.processRevocationResponse(
        await oauth.revocationRequest(as_, known, oauth.None(), token.access_token, HTTP),
      );

      expect(await use(token.access_token)).toBe(401);
    });

    it('the MCP client gets from 401 to a tool call without configuration', async () => {
      const { Client, StreamableHTTPClientTransport, UnauthorizedError } = await import('@modelcontextprotocol/client');
      const kept: { client?: object; tokens?: object; verifier?: string; location?: URL } = {};
      const authProvider = {
        redirectUrl: CALLBACK,
        clientMetadata: {
          client_name: 'An agent',
          redirect_uris: [CALLBACK],
          token_endpoint_auth_method: 'none',
          grant_types: ['authorization_code'],
          response_types: ['code'],
        },
        state: () => 'the state',
        clientInformation: () => kept.client,
        saveClientInformation: (given: object) => void (kept.client = given),
        tokens: () => kept.tokens,
        saveTokens: (given: object) => void (kept.tokens = given),
        redirectToAuthorization: (location: URL) => void (kept.location = location),
        saveCodeVerifier: (given: string) => void (kept.verifier = given),
        codeVerifier: () => kept.verifier ?? '',
      };
      const transport = (): InstanceType<typeof StreamableHTTPClientTransport> =>
        new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { authProvider: authProvider as never });
      const first = transport();
      await expect(new Client({ name: 'agent', version: '1' }).connect(first)).rejects.toThrow(UnauthorizedError);

      const { given } = redirected(
        await decide(person, (kept.location?.pathname ?? '') + (kept.location?.search ?? '')),
      );
      await first.finishAuth(new URLSearchParams(given));
      const agent = new Client({ name: 'agent', version: '1' });
      await agent.connect(transport());
      const { tools } = await agent.listTools();
      await agent.close();

      expect(tools.map(({ name }) => name)).toContain('search_events');
    });
  });

  describe('metadata', () => {
    it.each(['', '/mcp'])(
      '200: the metadata of the agent server, at both of its paths (%s), for pages of any origin',
      async (suffix) => {
        const response = await fetch(`${server.url}/.well-known/oauth-protected-resource${suffix}`);

        expect(await response.json()).toMatchObject({
          resource: `${server.url}/mcp`,
          authorization_servers: [server.url],
          scopes_supported: ['read'],
          bearer_methods_supported: ['header'],
        });
        expect([response.headers.get('access-control-allow-origin'), response.headers.get('cache-control')]).toEqual([
          '*',
          'public, max-age=300',
        ]);
      },
    );

    it('200: the metadata of the authorization server: only S256, no client secrets, iss', async () => {
      const { json } = await server.api('GET', '/.well-known/oauth-authorization-server');

      expect(json).toMatchObject({
        issuer: server.url,
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        response_types_supported: ['code'],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
      });
    });
  });

  describe('the authorization request', () => {
    it.each<[string, Record<string, string | null>]>([
      ['an unknown client', { client_id: 'AAAAAAAAAAAAAAAAAAAAAA' }],
      ['no client', { client_id: null }],
      ['another address', { redirect_uri: 'https://evil.example.com/callback' }],
      ['a redirect URI with the same beginning', { redirect_uri: `${CALLBACK}.evil.example.com` }],
      ['a redirect URI with additional text at the end', { redirect_uri: `${CALLBACK}?next=https://evil.example.com` }],
      ['no address', { redirect_uri: null }],
    ])('open redirect: %s is shown to the user, without a redirect', async (_, changes) => {
      const answer = await person.get(authorizePath(client(), pkce().challenge, changes));

      expect({ status: answer.status, location: answer.headers.get('location') }).toEqual({
        status: 400,
        location: null,
      });
      expect(answer.headers.get('content-type')).toContain('text/html');
      expect(answer.headers.get('x-frame-options')).toBe('DENY');
    });

    it.each<[string, Record<string, string | null>, string]>([
      ['no PKCE', { code_challenge: null, code_challenge_method: null }, 'invalid_request'],
      ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
      ['a short challenge', { code_challenge: 'abc' }, 'invalid_request'],
      ['an implicit grant', { response_type: 'token' }, 'unsupported_response_type'],
      ['a malformed scope', { scope: 'read "write"' }, 'invalid_scope'],
      ['another resource', { resource: 'https://other.example.com/mcp' }, 'invalid_target'],
    ])(
      '302: %s is reported to a client that has a key of the organization, with iss and state',
      async (_, changes, error) => {
        await tokenFor();

        const { target, given } = redirected(await person.get(authorizePath(client(), pkce().challenge, changes)));

        expect({ target, given }).toEqual({
          target: CALLBACK,
          given: { error, error_description: expect.any(String), state: 'a state', iss: server.url },
        });
      },
    );

    it.each(['read offline_access', 'read write', 'openid', 'write admin', '', 'read'])(
      'RFC 6749, section 3.3: of the scope %j the granted part is returned, and the rest ignored',
      async (scope) => {
        const { verifier, challenge } = pkce();
        const { given } = redirected(await decide(person, authorizePath(client(), challenge, { scope })));
        const { status, json } = await exchange({ code: given['code'] ?? '', code_verifier: verifier });

        expect([status, json.scope, given['error']]).toEqual([200, 'read', undefined]);
        expect((await server.api('POST', '/v1/send', {}, as(json.access_token))).status).toBe(403);
      },
    );

    it('RFC 8707: the resource can end with a slash, like the URL of the agent server', async () => {
      expect(
        (await person.get(authorizePath(client(), pkce().challenge, { resource: `${server.url}/mcp/` }))).status,
      ).toBe(200);
    });

    it('a repeated parameter is rejected, an unknown one is ignored', async () => {
      const address_ = authorizePath(client(), pkce().challenge);
      await tokenFor();

      expect(redirected(await person.get(`${address_}&scope=read&scope=read`)).given['error']).toBe('invalid_request');
      expect((await person.get(`${address_}&prompt=consent`)).status).toBe(200);
    });

    it("a program on the user's computer can choose its redirect port at startup", async () => {
      const native = await registered(server, { redirect_uris: ['http://127.0.0.1:1/cb'] }, address());

      const [other, elsewhere] = [
        await person.get(authorizePath(native, pkce().challenge, { redirect_uri: 'http://127.0.0.1:49152/cb' })),
        await person.get(authorizePath(native, pkce().challenge, { redirect_uri: 'http://127.0.0.1:49152/other' })),
      ];

      expect([other.status, elsewhere.status]).toEqual([200, 400]);
      expect(other.text).toContain('a program on the computer in front of you');
    });
  });

  describe('consent', () => {
    it('without a session: redirects to the sign-in, and back with the whole request', async () => {
      const { PlainBrowser: Browser } = await import('./signing-in.js');
      const stranger = new Browser(server);
      const wanted = authorizePath(client(), pkce().challenge);

      const answer = await stranger.get(wanted);

      const location = new URL(answer.headers.get('location') ?? '', server.url);
      expect([answer.status, location.pathname, location.searchParams.get('return_to')]).toEqual([
        303,
        '/signin',
        wanted,
      ]);
    });

    it('phishing: the page shows the full redirect target, that the name is unverified, who grants and for how long, and nothing supplied by the client', async () => {
      const name = '<img src=x onerror=alert(1)> Posthorn\u202e official';
      const phisher = await registered(
        server,
        {
          client_name: name,
          logo_uri: `${documentUrl}/logo.svg`,
          redirect_uris: ['https://phisher.example.com/long/path'],
        },
        address(),
      );

      const page = await person.get(
        authorizePath(phisher, pkce().challenge, { redirect_uri: 'https://phisher.example.com/long/path' }),
      );

      expect(page.text).toContain(
        '<strong>https://phisher.example.com</strong><br><span class="quiet">https://phisher.example.com/long/path</span>',
      );
      expect(page.text).toContain('“&lt;img src=x onerror=alert(1)&gt; Posthorn official”');
      expect(page.text).toContain('Nobody verified it.');
      expect(page.text).not.toMatch(/<script|<img|logo\.svg/);
    });

    it('clickjacking: the page forbids framing and scripts, and its form can only lead to Posthorn and the client', async () => {
      const page = await person.get(authorizePath(client(), pkce().challenge));

      expect(page.headers.get('content-security-policy')).toBe(
        `default-src 'none'; style-src 'self'; img-src data:; form-action 'self' https://client.example.com; base-uri 'none'; frame-ancestors 'none'`,
      );
      expect([page.headers.get('x-frame-options'), page.headers.get('cache-control')]).toEqual(['DENY', 'no-store']);
    });

    it('a CSP directive in a host: for a client registered before such hosts were rejected, no page is shown and nothing is redirected', async () => {
      const evil = 'https://a;script-src.example.com/cb';
      const old = await registered(server, {}, address());
      await sql.rows('update oauth_clients set redirect_uris = $1::text[] where id = $2', [[evil], old]);

      const answers = [
        await person.get(authorizePath(old, pkce().challenge, { redirect_uri: evil })),
        await person.get(authorizePath(old, pkce().challenge, { redirect_uri: evil, response_type: 'token' })),
      ];

      for (const answer of answers) {
        expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
        expect(answer.headers.get('content-security-policy')).not.toContain('script-src');
      }
    });

    it("CSRF: a form without the session's token, with another token, or from another site, grants nothing", async () => {
      const wanted = authorizePath(client(), pkce().challenge);
      const other = await browserOf(server);
      const { csrfOf } = await import('./oauth.js');
      const foreign = csrfOf((await other.get(wanted)).text);
      const before = await sql.rows('select hash from oauth_codes');

      const answers = [
        await decide(person, wanted, { csrf_token: '' }),
        await decide(person, wanted, { csrf_token: foreign }),
        await person.post(
          '/oauth/authorize',
          {},
          { origin: 'https://evil.example.com', 'sec-fetch-site': 'cross-site' },
        ),
      ];

      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
      expect(await sql.rows('select hash from oauth_codes')).toHaveLength(before.length);
    });

    it.each<[string, Record<string, string>]>([
      ['no environment', { environment: '' }],
      ['an unknown lifetime', { lifetime: '36500' }],
      ['no decision', { decision: '' }],
    ])('400: a decision with %s', async (_, choices) => {
      expect((await decide(person, authorizePath(client(), pkce().challenge), choices)).status).toBe(400);
    });

    it('users cannot grant access that they do not have: a session with the key of one environment grants nothing in the other', async () => {
      const { key } = await createKey(server, { scope: 'read', environment: 'test' });

      const answer = await decide(await browserOf(server, key), authorizePath(client(), pkce().challenge), {
        environment: 'live',
      });

      expect(answer.status).toBe(400);
    });

    it('a denial is reported to the client', async () => {
      const { given } = redirected(
        await decide(person, authorizePath(client(), pkce().challenge), { decision: 'deny' }),
      );

      expect(given).toEqual({
        error: 'access_denied',
        error_description: expect.any(String),
        state: 'a state',
        iss: server.url,
      });
    });

    it('mix-up: the response names its issuer, and contains each parameter once', async () => {
      const answer = await decide(person, authorizePath(client(), pkce().challenge));

      expect(answer.status).toBe(302);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect([...new URL(answer.headers.get('location') ?? '').searchParams].map(([name]) => name)).toEqual([
        'code',
        'state',
        'iss',
      ]);
      expect(redirected(answer).given['iss']).toBe(server.url);
    });

    it('consent is requested every time, even if the client has a key', async () => {
      await tokenFor();

      expect((await person.get(authorizePath(client(), pkce().challenge))).text).toContain('Allow access?');
    });
  });

  describe('the exchange', () => {
    it('200: an ordinary read-only key, listed with its client and granter, and revoked like any other', async () => {
      const { token } = await tokenFor();

      const { data } = (await server.api('GET', '/v1/keys')).json;
      const [key] = data;
      expect(key).toMatchObject({
        source: 'oauth',
        scope: 'read',
        client_id: client(),
        client_name: 'An assistant',
        granted_by: expect.stringMatching(/^the key "/),
        prefix: token.slice(0, 12),
      });
      expect(Date.parse(key.expires_at) - Date.parse(key.created_at)).toBeCloseTo(30 * 86_400_000, -3);
      expect(await use(token)).toBe(200);
      expect((await server.api('GET', '/v1/audit')).json.data).toContainEqual(
        expect.objectContaining({ action: 'oauth.granted' }),
      );
      expect((await server.api('POST', '/v1/send', {}, as(token))).status).toBe(403);
      await server.api('DELETE', `/v1/keys/${key.id}`);
      expect(await use(token)).toBe(401);
    });

    it('the response is not cacheable, and any page can read it', async () => {
      const { headers } = await exchange({ code: 'x', code_verifier: 'y' });

      expect([headers.get('cache-control'), headers.get('pragma'), headers.get('access-control-allow-origin')]).toEqual(
        ['no-store', 'no-cache', '*'],
      );
    });

    it('interception: another verifier, client or redirect URI gets nothing, and the code is used up', async () => {
      const other = await registered(server, {}, address());
      const thefts: Record<string, string>[] = [
        { code_verifier: pkce().verifier },
        { client_id: other },
        { redirect_uri: 'https://client.example.com/other' },
        { code_verifier: 'short' },
      ];
      for (const stolen of thefts) {
        const { verifier, challenge } = pkce();
        const code = await codeFor(person, client(), challenge);

        const [first, second] = [
          await exchange({ code, code_verifier: verifier, ...stolen }),
          await exchange({ code, code_verifier: verifier }),
        ];

        expect([first.status, first.json.error, second.json.error]).toEqual([400, 'invalid_grant', 'invalid_grant']);
      }
    });

    it('a code that is used again revokes the key issued for it', async () => {
      const { token, code, verifier } = await tokenFor();
      expect(await use(token)).toBe(200);

      const [again] = [
        await exchange({ code, code_verifier: verifier }),
        await exchange({ code, code_verifier: verifier }),
      ];

      expect([again.status, again.json.error]).toEqual([400, 'invalid_grant']);
      expect(await use(token)).toBe(401);
      const [entry, ...more] = (await server.api('GET', '/v1/audit?action=oauth.code_reused')).json.data;
      const key = (await server.api('GET', `/v1/keys/${entry.resource_id}`)).json;
      expect(entry).toMatchObject({
        actor: { kind: 'unknown', id: null },
        resource_type: 'keys',
        request_id: again.headers.get('x-request-id'),
        before: { client_id: client(), client_name: key.client_name, granted_by: key.granted_by },
      });
      expect([
        more.filter(({ resource_id }: { resource_id: string }) => resource_id === key.id),
        key.revoked_at,
      ]).toEqual([[], expect.any(String)]);
    });

    it('two concurrent exchanges of one code: no key stays valid', async () => {
      const { verifier, challenge } = pkce();
      const code = await codeFor(person, client(), challenge);

      const answers = await Promise.all([1, 2, 3].map(() => exchange({ code, code_verifier: verifier })));

      const won = answers.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      expect(await use(won[0]?.json.access_token)).toBe(401);
    });

    it('a code is valid for one minute', async () => {
      const { verifier, challenge } = pkce();
      const code = await codeFor(person, client(), challenge);
      const [row] = await sql.rows<{ seconds: number }>(
        'select extract(epoch from expires_at - created_at)::int as seconds from oauth_codes order by created_at desc limit 1',
      );
      await sql.rows(`update oauth_codes set expires_at = now() - interval '1 millisecond' where used_at is null`);

      const { json } = await exchange({ code, code_verifier: verifier });

      expect(row?.seconds).toBe(60);
      expect(json.error).toBe('invalid_grant');
    });

    it('an oracle: every invalid code gets the same response, and only its SHA-256 is stored', async () => {
      const { verifier, challenge } = pkce();
      const code = await codeFor(person, client(), challenge);

      const [unknown, wrong] = [
        await exchange({ code: pkce().verifier, code_verifier: verifier }),
        await exchange({ code, code_verifier: pkce().verifier }),
      ];

      expect(wrong.json).toEqual(unknown.json);
      const [row] = await sql.rows<{ text: string }>('select string_agg(c::text, chr(10)) as text from oauth_codes c');
      expect(row?.text).not.toContain(code);
      expect(server.logs()).not.toContain(code);
    });

    it.each<[string, Record<string, string>, Record<string, string>, number, string]>([
      ['a password grant', { grant_type: 'password' }, {}, 400, 'unsupported_grant_type'],
      ['no code', {}, {}, 400, 'invalid_request'],
      [
        'another resource',
        { code: 'x', code_verifier: 'y', resource: 'https://other.example.com' },
        {},
        400,
        'invalid_target',
      ],
      ['a secret', { client_secret: 'x' }, {}, 401, 'invalid_client'],
      ['a secret in the header', {}, { authorization: 'Basic eDp5' }, 401, 'invalid_client'],
    ])('%s is rejected in the error format of RFC 6749', async (_, fields, headers, status, error) => {
      const answer = await form(
        server,
        '/oauth/token',
        { grant_type: 'authorization_code', client_id: client(), redirect_uri: CALLBACK, ...fields },
        headers,
      );

      expect({ status: answer.status, json: answer.json }).toEqual({
        status,
        json: { error, error_description: expect.stringMatching(/^[\x20-\x7e]+$/) },
      });
    });

    it('JSON and a repeated field are rejected in this format too', async () => {
      const [json, twice] = [
        await fetch(`${server.url}/oauth/token`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"grant_type":"authorization_code"}',
        }),
        await fetch(`${server.url}/oauth/token`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: 'code=a&code=b',
        }),
      ];

      for (const response of [json, twice])
        expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([
          400,
          'invalid_request',
        ]);
    });

    it('passthrough: /mcp accepts a key of Posthorn and no foreign token', async () => {
      const call = async (token: string): Promise<number> =>
        (
          await server.api(
            'POST',
            '/mcp',
            { jsonrpc: '2.0', id: 1, method: 'tools/list' },
            { ...as(token), accept: 'application/json, text/event-stream' },
          )
        ).status;

      expect([await call('eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.'), await call((await tokenFor()).token)]).toEqual([
        401, 200,
      ]);
    });
  });

  describe('revocation', () => {
    it("200 for an unknown key, for another client's, and for one that was not granted by OAuth: the existing ones stay valid", async () => {
      const { token } = await tokenFor();
      const { key } = await createKey(server, { scope: 'read' });

      const given: Record<string, string>[] = [
        { token: 'nothing' },
        { token, client_id: await registered(server, {}, address()) },
        { token: key },
      ];
      for (const fields of given) expect((await form(server, '/oauth/revoke', fields)).status).toBe(200);

      expect([await use(token), await use(key)]).toEqual([200, 200]);
    });
  });

  describe('the audit log', () => {
    it('records the revocation by a client in the commit that revokes the key; a revocation without effect is not recorded', async () => {
      const { token } = await tokenFor();
      await form(server, '/oauth/revoke', { token: 'ek_live_nothing' });
      await form(server, '/oauth/revoke', { token, client_id: client() });
      await form(server, '/oauth/revoke', { token, client_id: client() });

      const entries = (
        (await server.api('GET', '/v1/audit?action=oauth.revoked')).json.data as {
          resource_id: string;
          before: { client_id: string };
          after: object | null;
        }[]
      ).filter(({ before }) => before.client_id === client());

      expect(entries).toEqual([
        expect.objectContaining({
          resource_type: 'keys',
          before: { client_id: client(), client_name: 'An assistant', granted_by: expect.any(String) },
          after: null,
        }),
      ]);
      expect((await server.api('GET', `/v1/keys/${entries[0]?.resource_id}`)).json).toMatchObject({
        source: 'oauth',
        revoked_at: expect.any(String),
      });
      expect(JSON.stringify(entries)).not.toContain(token);
      const [{ same } = { same: false }] = await sql.rows<{ same: boolean }>(
        `select k.xmin = a.xmin as same from api_keys k, audit_log a where a.action = 'oauth.revoked' and k.revoked_at is not null and k.xmin = a.xmin`,
      );
      expect(same).toBe(true);
    });
  });

  describe('a client identified by the URL of its metadata', () => {
    const describe_ = (name: string, document: object, more: object = {}): string => {
      const url = `${documentUrl}/${name}`;
      served.set(`/${name}`, {
        body: JSON.stringify({
          client_id: url,
          client_name: 'A documented client',
          redirect_uris: [CALLBACK],
          ...document,
        }),
        ...more,
      });
      return url;
    };

    it('is shown with this URL, and its document is fetched once', async () => {
      const url = describe_('client.json', {});

      const page = await person.get(authorizePath(url, pkce().challenge));
      await person.get(authorizePath(url, pkce().challenge));

      expect(page.status).toBe(200);
      expect(page.text).toContain(url);
      expect(fetched).toEqual(['/client.json']);
    });

    it.each<[string, object, object]>([
      ['another-id', { client_id: 'https://other.example.com/client' }, {}],
      ['large', { client_name: 'x'.repeat(6_000) }, {}],
      ['redirect', {}, { status: 302, headers: { location: '/client.json' } }],
      ['html', {}, { type: 'text/html' }],
      ['policy-in-host', { redirect_uris: ['https://a;script-src.example.com/'] }, {}],
      ['evil-target', { redirect_uris: ['javascript:alert(1)'] }, {}],
      ['failing', {}, { status: 500 }],
    ])('400 for an invalid metadata document: %s', async (name, document, more) => {
      const answer = await person.get(authorizePath(describe_(name, document, more), pkce().challenge));

      expect({ status: answer.status, location: answer.headers.get('location') }).toEqual({
        status: 400,
        location: null,
      });
      expect(fetched).toEqual([`/${name}`]);
    });

    it.each([
      'https://169.254.169.254/latest/client',
      'https://10.0.0.1/client',
      'https://localhost.localdomain/client',
      'https://[::ffff:10.0.0.1]/client',
      'https://user@127.0.0.1/client',
      'http://127.0.0.1/client',
      'https://127.0.0.1/',
    ])('SSRF: %s is not fetched', async (url) => {
      const answer = await person.get(authorizePath(url, pkce().challenge));

      expect(answer.status).toBe(400);
      expect(answer.text).not.toMatch(/ECONN|private|loopback/i);
      expect(fetched).toEqual([]);
    });
  });
});
