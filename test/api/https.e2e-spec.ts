import { freePort } from '../durability/processes.js';
import { followFrom, TestIdentityProvider } from '../support/identity-provider.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { TlsTerminator } from '../support/tls-terminator.js';
import { asPage } from './sessions.js';
import { fieldOf, PlainBrowser } from './signing-in.js';

const TOKEN = '[A-Za-z0-9_-]{43}';
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Lax; Secure';

/** Pages and cookies as in production: at an https address behind a proxy that terminates TLS. */
describe('a service with an https address', () => {
  let provider: TestIdentityProvider;
  let server: PosthornServer;
  let door: TlsTerminator;

  beforeAll(async () => {
    const [port, outside] = [await freePort(), await freePort()];
    provider = await TestIdentityProvider.start();
    server = await startServer({
      PORT: String(port),
      BASE_URL: `https://localhost:${outside}`,
      TRUST_PROXY: '127.0.0.0/8',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: 'posthorn',
      OIDC_CLIENT_SECRET: 'a-secret-of-the-client',
      OIDC_ROLES: '*=read',
    });
    door = await TlsTerminator.start(outside, port);
    provider.register(`${door.url}/signin/oidc/callback`);
  });

  afterAll(async () => {
    await door?.stop();
    await server?.stop();
    await provider?.stop();
  });

  const browser = (): PlainBrowser => new PlainBrowser(door, undefined, door.fetch);
  const call = (method: string, path: string, headers: Record<string, string>): Promise<Response> =>
    door.fetch(door.url + path, { method, headers });

  async function signedIn(): Promise<PlainBrowser> {
    const there = browser();
    expect((await there.post('/signin/key', { key: server.apiKey })).status).toBe(303);
    return there;
  }

  it('the session cookie is bound to the host and to TLS: named __Host-, Secure, for every path, without a domain', async () => {
    const there = browser();

    const answer = await there.post('/signin/key', { key: server.apiKey });

    expect(answer.status).toBe(303);
    expect(answer.headers.get('set-cookie')).toMatch(
      new RegExp(`^__Host-posthorn_session_[0-9a-f]{8}=${TOKEN}; Max-Age=604800; ${ATTRIBUTES}$`),
    );
    expect((await there.get('/signin')).text).toContain('You are signed in');
  });

  it('the cookie authenticates API calls as the console makes them; the same token under the name without __Host- does not', async () => {
    const { cookie } = await signedIn();
    const origin = door.url;

    expect(
      (await call('GET', '/v1/events', asPage(cookie, 'live', { origin, 'sec-fetch-site': 'same-origin' }))).status,
    ).toBe(200);
    expect((await call('GET', '/v1/events', asPage(cookie.replace('__Host-', ''), 'live', { origin }))).status).toBe(
      401,
    );
    expect(
      (await call('GET', '/v1/events', asPage(cookie, 'live', { origin: origin.replace('https:', 'http:') }))).status,
    ).toBe(401);
    expect((await call('GET', '/console', { cookie })).status).toBe(200);
  });

  it.each(['the API', 'the page'])(
    'signing out by %s deletes the cookie with the attributes it was set with, and invalidates the token',
    async (way) => {
      const there = await signedIn();
      const { cookie } = there;

      const answer =
        way === 'the API'
          ? await call('DELETE', '/v1/session', asPage(cookie, null, { origin: door.url }))
          : await there.post('/signout', { csrf_token: fieldOf((await there.get('/signin')).text, 'csrf_token') });

      expect(answer.headers.get('set-cookie')).toBe(`${cookie.split('=', 1)[0]}=; Max-Age=0; ${ATTRIBUTES}`);
      expect((await call('GET', '/v1/session', asPage(cookie, null))).status).toBe(401);
    },
  );

  it('a sign-in at the identity provider uses a cookie with the same attributes, and creates a session', async () => {
    provider.current = { email: 'ada@customer.example', email_verified: true };
    const there = browser();

    const begun = await there.get('/signin/oidc');
    expect(begun.headers.get('set-cookie')).toMatch(
      new RegExp(`^__Host-posthorn_oidc_[0-9a-f]{8}=[A-Za-z0-9_-]+; Max-Age=600; ${ATTRIBUTES}$`),
    );
    const callback = new URL(await followFrom(begun.headers.get('location') ?? '', `${door.url}/signin/oidc/callback`));
    const answer = await there.get(callback.pathname + callback.search);

    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/signin']);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        new RegExp(`^__Host-posthorn_session_[0-9a-f]{8}=${TOKEN}; Max-Age=604800; ${ATTRIBUTES}$`),
      ),
      expect.stringMatching(new RegExp(`^__Host-posthorn_oidc_[0-9a-f]{8}=; Max-Age=0; ${ATTRIBUTES}$`)),
    ]);
  });
});
