import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type PosthornServer, startServer } from '../support/server.js';
import { as, createKey, expectRefusal } from './answers.js';

const ORIGIN = 'https://agents.example.com';
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
const ACCEPT = { accept: 'application/json, text/event-stream' };

/** Returns JSON that is nested too deeply for a recursive algorithm. */
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** Requests to /mcp from pages of other origins, with deeply nested bodies, or with a trailing slash in the path. */
describe('/mcp from a page', () => {
  let server: PosthornServer;
  let busy: PosthornServer;
  let readKey: string;

  beforeAll(async () => {
    [server, busy] = await Promise.all([
      startServer({ MCP_ALLOWED_ORIGINS: ORIGIN }),
      startServer({ MCP_ALLOWED_ORIGINS: ORIGIN, RATE_LIMIT_KEY: '1/3600' }),
    ]);
    readKey = (await createKey(server, { scope: 'read' })).key;
  });

  afterAll(() => Promise.all([server?.stop(), busy?.stop()]));

  interface Asked {
    method?: string;
    key?: string | null;
    body?: string;
    type?: string;
    origin?: string;
    path?: string;
    at?: PosthornServer;
  }

  function ask({
    method = 'POST',
    key = readKey,
    body = JSON.stringify(LIST),
    type = 'application/json',
    origin = ORIGIN,
    path = '/mcp',
    at = server,
  }: Asked = {}): Promise<Response> {
    const hasBody = method === 'POST' || method === 'PUT';
    return fetch(at.url + path, {
      method,
      headers: { ...ACCEPT, origin, ...(key !== null && as(key)), ...(hasBody && { 'content-type': type }) },
      ...(hasBody && { body }),
    });
  }

  const write = JSON.stringify({
    ...LIST,
    method: 'tools/call',
    params: { name: 'replay_event', arguments: { event_id: 'evt_1' } },
  });

  it.each<[number, string, Asked]>([
    [200, 'an answer', {}],
    [204, 'a preflight request', { method: 'OPTIONS', key: null }],
    [400, 'no JSON', { body: '{' }],
    [400, 'a key in the URL', { path: '/mcp?access_token=x' }],
    [400, 'a body that is nested too deeply', { body: nested(100_000) }],
    [400, 'a body with too many fields', { body: JSON.stringify({ ...LIST, params: { a: Array(20_000).fill('') } }) }],
    [401, 'no key', { key: null }],
    [401, 'an invalid key', { key: 'ek_live_nothing' }],
    [403, 'a tool that requires write', { body: write }],
    [405, 'GET', { method: 'GET' }],
    [405, 'GET without a key', { method: 'GET', key: null }],
    [405, 'DELETE', { method: 'DELETE' }],
    [405, 'PUT', { method: 'PUT' }],
    [413, 'a body that is too large', { body: JSON.stringify('x'.repeat(1_100_000)) }],
    [415, 'a body of another content type', { type: 'text/plain' }],
  ])(
    '%i: %s can be read by a page that MCP_ALLOWED_ORIGINS lists, at both paths, and by no other page',
    async (status, _, asked) => {
      for (const path of [asked.path ?? '/mcp', (asked.path ?? '/mcp').replace('/mcp', '/mcp/')]) {
        const [allowed, foreign] = [
          await ask({ ...asked, path }),
          await ask({ ...asked, path, origin: 'https://evil.example.com' }),
        ];

        expect([
          allowed.status,
          allowed.headers.get('access-control-allow-origin'),
          allowed.headers.get('vary'),
        ]).toEqual([status, ORIGIN, expect.stringContaining('origin')]);
        expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
        if (status !== 204) expect(allowed.headers.get('access-control-expose-headers')).toContain('www-authenticate');
      }
    },
  );

  it('429: a listed page can also read the quota error', async () => {
    await ask({ at: busy, key: busy.apiKey });

    const answer = await ask({ at: busy, key: busy.apiKey });

    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([429, ORIGIN]);
    expect(answer.headers.get('access-control-expose-headers')).toContain('retry-after');
  });

  it('other paths of the API cannot be read by a page of another origin', async () => {
    const answer = await fetch(`${server.url}/v1/events`, { headers: { origin: ORIGIN } });

    expect([
      answer.status,
      answer.headers.get('access-control-allow-origin'),
      answer.headers.get('www-authenticate'),
    ]).toEqual([401, null, 'Bearer']);
  });

  it('403 names only scopes that the sign-in can grant (RFC 6750, section 3)', async () => {
    const challenge = (await ask({ body: write })).headers.get('www-authenticate') ?? '';
    const { scopes_supported: granted } = (await server.api('GET', '/.well-known/oauth-authorization-server')).json;

    expect(challenge).toContain('error="insufficient_scope"');
    const named = /scope="([^"]*)"/.exec(challenge)?.[1]?.split(' ') ?? [];
    expect(named.filter((scope) => !granted.includes(scope))).toEqual([]);
  });

  it.each([501, 5_000, 100_000, 400_000])('400: %i nesting levels, anywhere in the body', async (levels) => {
    const bodies = [
      nested(levels),
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_events","arguments":{"type":${nested(levels)},"n":12345678901234567890}}}`,
      `{"a":`.repeat(Math.min(levels, 150_000)) + '1' + '}'.repeat(Math.min(levels, 150_000)),
    ];

    for (const body of bodies)
      expectRefusal(await server.api('POST', '/mcp', body, { ...ACCEPT, 'content-type': 'application/json' }), 400);
  });

  it('a payload with the maximum nesting is accepted', async () => {
    const answer = await server.api(
      'POST',
      '/mcp',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_events","arguments":{"type":${nested(490)}}}}`,
      { ...ACCEPT, 'content-type': 'application/json' },
    );

    expect(answer.status).toBe(200);
  });

  it('the official client also connects at /mcp/', async () => {
    const client = new Client({ name: 'test agent', version: '1' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${server.url}/mcp/`), { requestInit: { headers: as(readKey) } }),
    );

    const { tools } = await client.listTools();
    await client.close();

    expect(tools.map(({ name }) => name)).toContain('search_events');
  });
});
