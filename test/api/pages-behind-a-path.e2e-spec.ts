import { once } from 'node:events';
import { createServer, request as forward, type Server } from 'node:http';
import { freePort } from '../durability/processes.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { authorizePath, CALLBACK, decide, form, pkce, redirected, registered } from './oauth.js';
import { until } from './polling.js';
import { asPage } from './sessions.js';
import { fieldOf, PlainBrowser } from './signing-in.js';

const PREFIX = '/hooks';

/**
 * Pages that a proxy serves below a path of its host. The service runs as separate processes: `ROLE=api` behind the
 * proxy, and `ROLE=worker`.
 */
describe('pages behind a path, with separate roles', () => {
  let proxy: Server;
  let api: PosthornServer;
  let worker: PosthornServer;
  let origin: string;
  let site: { url: string };

  beforeAll(async () => {
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    site = { url: origin };
    api = await startServer({ ROLE: 'api', BASE_URL: origin + PREFIX, PORT: String(await freePort()) });
    worker = await startServer({ ...api.env, ROLE: 'worker', PORT: String(await freePort()) });
    // Strips the path prefix, as proxies do.
    proxy = createServer((request, response) => {
      const path = request.url ?? '/';
      if (!path.startsWith(`${PREFIX}/`)) return void response.writeHead(404).end();
      const onward = forward(
        {
          host: '127.0.0.1',
          port: api.env['PORT'],
          method: request.method,
          path: path.slice(PREFIX.length),
          headers: request.headers,
        },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        },
      );
      onward.on('error', () => response.destroy());
      request.pipe(onward);
    }).listen(port, '127.0.0.1');
    await once(proxy, 'listening');
  });

  afterAll(async () => {
    proxy?.close();
    await worker?.stop();
    await api?.stop();
  });

  const call = (method: string, path: string, headers: Record<string, string>): Promise<Response> =>
    fetch(origin + PREFIX + path, { method, headers });

  async function signedIn(): Promise<PlainBrowser> {
    const browser = new PlainBrowser(site);
    expect((await browser.post(`${PREFIX}/signin/key`, { key: api.apiKey })).status).toBe(303);
    return browser;
  }

  it('every URL on the sign-in page, and every redirect from it, is below the path', async () => {
    const browser = new PlainBrowser(site);
    const page = await browser.get(`${PREFIX}/signin?return_to=${encodeURIComponent(`${PREFIX}/docs`)}`);
    const addresses = [...page.text.matchAll(/(?:href|action|src)="([^"]*)"/g)].map(([, address = '']) => address);

    expect(addresses.length).toBeGreaterThan(1);
    // The icon is a data URL.
    expect(addresses.filter((address) => !/^data:image\//.test(address) && !address.startsWith(`${PREFIX}/`))).toEqual(
      [],
    );
    const answer = await browser.post(`${PREFIX}/signin/key`, { key: api.apiKey, return_to: `${PREFIX}/docs` });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `${PREFIX}/docs`]);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^posthorn_session_[0-9a-f]{8}=[A-Za-z0-9_-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    for (const outside of ['/elsewhere', '/hooksy/x', `${PREFIX}/../x`, `${PREFIX}/..//evil.example`]) {
      expect(
        (
          await new PlainBrowser(site).post(`${PREFIX}/signin/key`, { key: api.apiKey, return_to: outside })
        ).headers.get('location'),
      ).toBe(`${PREFIX}/signin`);
    }
  });

  it('302: the root redirects browsers to the console below the path, and programs to the OpenAPI document there', async () => {
    const leads = async (accept: string): Promise<string | null> =>
      (await fetch(`${origin}${PREFIX}/`, { headers: { accept }, redirect: 'manual' })).headers.get('location');

    expect([await leads('text/html'), await leads('application/json')]).toEqual([
      `${PREFIX}/console`,
      `${PREFIX}/openapi.json`,
    ]);
    expect((await fetch(`${origin}${PREFIX}/`, { headers: { accept: 'text/html' } })).status).toBe(200);
  });

  it('302: with CONSOLE=off the root redirects browsers to the Swagger UI', async () => {
    const without = await startServer({ ...api.env, CONSOLE: 'off', PORT: '0' });
    try {
      const root = await fetch(
        `http://127.0.0.1:${/listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(without.logs())?.[1]}/`,
        { headers: { accept: 'text/html' }, redirect: 'manual' },
      );

      expect([root.status, root.headers.get('location')]).toEqual([302, `${PREFIX}/docs`]);
    } finally {
      await without.stop();
    }
  });

  it('a session calls the API below the path, from the origin of the path, and signs out', async () => {
    const { cookie } = await signedIn();

    expect((await call('GET', '/v1/events', asPage(cookie, 'live', { origin }))).status).toBe(200);
    expect((await call('GET', '/v1/events', asPage(cookie, 'live', { origin: 'http://127.0.0.1:1' }))).status).toBe(
      401,
    );
    // The service's own port is not a public address, so its origin is rejected.
    expect((await call('GET', '/v1/events', asPage(cookie, 'live', { origin: api.url }))).status).toBe(401);
    expect(
      (await call('GET', '/v1/events/stream?environment=live&follow=false', { cookie, accept: 'text/event-stream' }))
        .status,
    ).toBe(200);
    const out = await call('DELETE', '/v1/session', asPage(cookie, null, { origin }));
    expect([out.status, out.headers.get('set-cookie')]).toEqual([
      204,
      `${cookie.split('=', 1)[0]}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax`,
    ]);
    expect((await call('GET', '/v1/session', asPage(cookie, null))).status).toBe(401);
  });

  it('an OAuth client uses URLs below the path: sign-in, consent, code and key', async () => {
    const below = { url: origin + PREFIX };
    const clientId = await registered(below);
    const { verifier, challenge } = pkce();
    const path = PREFIX + authorizePath(clientId, challenge);
    const stranger = await new PlainBrowser(site).get(path);
    const back = new URL(stranger.headers.get('location') ?? '', origin);
    expect([stranger.status, back.pathname, back.searchParams.get('return_to')]).toEqual([
      303,
      `${PREFIX}/signin`,
      path,
    ]);
    const browser = await signedIn();
    const consent = await browser.get(path);
    expect([...consent.text.matchAll(/action="([^"]*)"/g)].map(([, action]) => action)).toEqual([
      `${PREFIX}/oauth/authorize`,
      `${PREFIX}/signout`,
    ]);

    // The test helper posts to the URL without the path prefix, so this browser adds the prefix.
    const answer = await decide(
      {
        get: (at: string) => browser.get(at),
        post: (at: string, fields: Record<string, string>) => browser.post(PREFIX + at, fields),
      } as PlainBrowser,
      path,
    );
    const { given } = redirected(answer);

    expect(given['iss']).toBe(origin + PREFIX);
    const { json } = await form(below, '/oauth/token', {
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: CALLBACK,
      code: given['code'] ?? '',
      code_verifier: verifier,
    });
    expect((await call('GET', '/v1/events', { authorization: `Bearer ${json.access_token as string}` })).status).toBe(
      200,
    );
    const device = (await form(below, '/oauth/device', { client_id: 'posthorn-cli' })).json;
    expect(device.verification_uri).toBe(`${origin}${PREFIX}/oauth/device`);
    const asked = await browser.get(`${PREFIX}/oauth/device`);
    expect(
      (
        await browser.post(`${PREFIX}/oauth/device/code`, {
          csrf_token: fieldOf(asked.text, 'csrf_token'),
          user_code: device.user_code,
        })
      ).text,
    ).toContain(`action="${PREFIX}/oauth/device/decision"`);
  });

  it('a session that ends on the api process ends on every process', async () => {
    const { cookie } = await signedIn();
    const at = async (): Promise<number> =>
      (await fetch(`${worker.url}/v1/session`, { headers: asPage(cookie, null) })).status;
    const first = await at();
    await call('DELETE', '/v1/session', asPage(cookie, null));

    // A worker process may lack this route and answer 404. If it has the route, the route must reject the ended
    // session.
    expect([200, 404]).toContain(first);
    await until(at, (status) => status !== 200, 5_000);
  });
});
