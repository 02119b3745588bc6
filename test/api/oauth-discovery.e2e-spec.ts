import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import * as oauth from 'oauth4webapi';
import { freePort } from '../durability/processes.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { CALLBACK, decide, redirected } from './oauth.js';
import { PlainBrowser } from './signing-in.js';

const HTTP = { [oauth.allowInsecureRequests]: true };
const PREFIX = '/eu/hooks';

/** RFC 8414, section 3.1, RFC 9728, section 3.1, and OpenID Connect Discovery, section 4, for an issuer with a path. */
describe('discovery with a path in BASE_URL', () => {
  let proxy: Server;
  let server: PosthornServer;
  let origin: string;
  let base: string;
  /** True if the proxy also forwards the host's `/.well-known`, and not only the URLs below the path. */
  let passesWellKnown = true;

  beforeAll(async () => {
    const port = await freePort();
    proxy = createServer((request, response) => {
      const path = request.url ?? '/';
      const isBelow = path.startsWith(`${PREFIX}/`);
      if (!isBelow && !(passesWellKnown && path.startsWith('/.well-known/'))) return void response.writeHead(404).end();
      const onward = forward(
        {
          host: '127.0.0.1',
          port,
          method: request.method,
          path: isBelow ? path.slice(PREFIX.length) : path,
          headers: request.headers,
        },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        },
      );
      onward.on('error', () => response.destroy());
      request.pipe(onward);
    });
    await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    base = origin + PREFIX;
    server = await startServer({ BASE_URL: base, PORT: String(port) });
  });

  afterAll(async () => {
    proxy?.closeAllConnections();
    proxy?.close();
    await server?.stop();
  });

  beforeEach(() => (passesWellKnown = true));

  const get = async (path: string): Promise<{ status: number; headers: Headers; json: Record<string, unknown> }> => {
    const response = await fetch(origin + path, { headers: { origin: 'https://page.example.com' } });
    return {
      status: response.status,
      headers: response.headers,
      json: (await response.json().catch(() => ({}))) as Record<string, unknown>,
    };
  };

  it.each([
    `/.well-known/oauth-authorization-server${PREFIX}`,
    `/.well-known/openid-configuration${PREFIX}`,
    `${PREFIX}/.well-known/openid-configuration`,
    `${PREFIX}/.well-known/oauth-authorization-server`,
    `/.well-known/oauth-authorization-server${PREFIX}/`,
  ])('200: %s returns the metadata of the authorization server', async (path) => {
    const { status, headers, json } = await get(path);

    expect([status, json['issuer'], headers.get('access-control-allow-origin'), headers.get('cache-control')]).toEqual([
      200,
      base,
      '*',
      'public, max-age=300',
    ]);
    expect(json).toMatchObject({
      token_endpoint: `${base}/oauth/token`,
      registration_endpoint: `${base}/oauth/register`,
      code_challenge_methods_supported: ['S256'],
    });
  });

  it.each([
    `/.well-known/oauth-protected-resource${PREFIX}/mcp`,
    `/.well-known/oauth-protected-resource${PREFIX}`,
    `${PREFIX}/.well-known/oauth-protected-resource`,
    `${PREFIX}/.well-known/oauth-protected-resource/mcp`,
  ])('200: %s returns the metadata of the protected resource, the agent server', async (path) => {
    expect(await get(path)).toMatchObject({
      status: 200,
      json: { resource: `${base}/mcp`, authorization_servers: [base], scopes_supported: ['read'] },
    });
  });

  it.each([
    '/.well-known/oauth-authorization-server/other',
    '/.well-known/oauth-protected-resource/other/mcp',
    `/.well-known/openid-configuration${PREFIX}x`,
    '/.well-known/oauth-authorization-server/eu',
    `/.well-known/oauth-authorization-server${PREFIX}/mcp`,
    `/.well-known/oauth-authorization-server${PREFIX}/../other`,
  ])('404: %s belongs to another service', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  it.each([
    `/.well-known/oauth-authorization-server${PREFIX}`,
    `/.well-known/oauth-protected-resource${PREFIX}/mcp`,
    `${PREFIX}/.well-known/openid-configuration`,
  ])('204: a page of any origin can request %s with custom headers', async (path) => {
    const answer = await fetch(origin + path, {
      method: 'OPTIONS',
      headers: { origin: 'https://page.example.com', 'access-control-request-headers': 'mcp-protocol-version' },
    });

    expect([
      answer.status,
      answer.headers.get('access-control-allow-origin'),
      answer.headers.get('access-control-allow-headers'),
    ]).toEqual([204, '*', expect.stringContaining('mcp-protocol-version')]);
  });

  it('the key set is empty, because no ID token is issued', async () => {
    const { json } = await get(`${PREFIX}/.well-known/openid-configuration`);

    expect(json).toMatchObject({ id_token_signing_alg_values_supported: [], subject_types_supported: ['public'] });
    expect((await get(new URL(String(json['jwks_uri'])).pathname)).json).toEqual({ keys: [] });
  });

  it.each(['oauth2', 'oidc'] as const)(
    'a strict client discovers the issuer by %s, and the resource by its path',
    async (algorithm) => {
      const issuer = new URL(base);
      const found = await oauth.processDiscoveryResponse(
        issuer,
        await oauth.discoveryRequest(issuer, { algorithm, ...HTTP }),
      );
      const resource = await oauth.processResourceDiscoveryResponse(
        new URL(`${base}/mcp`),
        await oauth.resourceDiscoveryRequest(new URL(`${base}/mcp`), HTTP),
      );

      expect([found.issuer, resource.resource]).toEqual([base, `${base}/mcp`]);
    },
  );

  it.each([
    ["the whole path and the host's /.well-known", true],
    ['only the path', false],
  ])('the MCP client gets from 401 to a tool call behind a proxy that forwards %s', async (_, passes) => {
    passesWellKnown = passes;
    const kept: { client?: object; tokens?: object; verifier?: string; location?: URL } = {};
    const authProvider = {
      redirectUrl: CALLBACK,
      clientMetadata: {
        client_name: 'An agent',
        redirect_uris: [CALLBACK],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        scope: 'read offline_access',
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
    const transport = (): StreamableHTTPClientTransport =>
      new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { authProvider: authProvider as never });
    const first = transport();
    await expect(new Client({ name: 'agent', version: '1' }).connect(first)).rejects.toThrow(UnauthorizedError);
    const browser = new PlainBrowser({ url: origin });
    expect((await browser.post(`${PREFIX}/signin/key`, { key: server.apiKey })).status).toBe(303);

    // `decide` posts to the URL without the path prefix, so this browser adds the prefix.
    const below = {
      get: (path: string) => browser.get(path),
      post: (path: string, fields: Record<string, string>) => browser.post(PREFIX + path, fields),
    } as PlainBrowser;
    const { given } = redirected(await decide(below, (kept.location?.pathname ?? '') + (kept.location?.search ?? '')));
    await first.finishAuth(new URLSearchParams(given));
    const agent = new Client({ name: 'agent', version: '1' });
    await agent.connect(transport());
    const { tools } = await agent.listTools();
    await agent.close();

    expect(tools.map(({ name }) => name)).toContain('search_events');
    expect(kept.tokens).toMatchObject({ scope: 'read' });
  });
});
