import {
  type Claims,
  compact,
  hmacSigned,
  namedKey,
  publicPem,
  ScriptedIdentityProvider,
  signed,
} from '../support/scripted-identity-provider.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { expectStatus } from './scene.js';
import { type PageAnswer, PlainBrowser } from './signing-in.js';

const ADA: Claims = { email: 'ada@customer.example', email_verified: true };
const CLIENT_SECRET = 'a-secret-of-the-client';

/** OpenID Connect Core, section 3.1.3.7, and RFC 8725 (JSON Web Token Best Current Practices). */
describe('the ID token of the identity provider', () => {
  const own = namedKey('own');
  const elliptic = namedKey('elliptic', 'ES256');
  const stranger = namedKey('own');
  const next = namedKey('next');
  let provider: ScriptedIdentityProvider;
  let server: PosthornServer;
  let pinned: PosthornServer;
  let unverifiable: PosthornServer;
  let withUserInfo: PosthornServer;

  beforeAll(async () => {
    provider = await ScriptedIdentityProvider.start();
    provider.metadata.set('unverifiable', { id_token_signing_alg_values_supported: ['HS256', 'none'] });
    provider.metadata.set('with-user-info', {
      userinfo_endpoint: `${provider.issuer('with-user-info')}/userinfo`,
      userinfo_signing_alg_values_supported: ['RS256', 'none'],
    });
    const env = { TRUST_PROXY: '127.0.0.0/8', OIDC_CLIENT_ID: 'posthorn', OIDC_CLIENT_SECRET: CLIENT_SECRET };
    [server, pinned, unverifiable, withUserInfo] = await Promise.all([
      startServer({ ...env, OIDC_ISSUER: provider.issuer('one') }),
      startServer({ ...env, OIDC_ISSUER: provider.issuer('pinned'), OIDC_SIGNING_ALGORITHMS: 'ES256' }),
      startServer({ ...env, OIDC_ISSUER: provider.issuer('unverifiable') }),
      startServer({ ...env, OIDC_ISSUER: provider.issuer('with-user-info') }),
    ]);
    for (const one of [server, pinned, unverifiable, withUserInfo])
      expectStatus(await one.api('POST', '/v1/members', { email: ADA.email, role: 'admin' }), 201);
  });

  afterAll(async () => {
    await Promise.all([server, pinned, unverifiable, withUserInfo].map((one) => one?.stop()));
    await provider?.stop();
  });

  beforeEach(() => {
    provider.keys = [own, elliptic];
    provider.failing.clear();
    provider.userInfo = null;
  });

  /** Signs in with the token that `forge` builds from valid claims. Returns the page that the browser gets. */
  async function signIn(
    forge: (claims: Claims) => string,
    { at = server, issuer = 'one', person = ADA } = {},
  ): Promise<PageAnswer> {
    const browser = new PlainBrowser(at);
    const begun = await browser.get('/signin/oidc');
    if (begun.status !== 303) return begun;
    const asked = new URL(begun.headers.get('location') ?? '');
    provider.expect(provider.claims(issuer, asked, person));
    provider.idToken = forge;
    return browser.get(
      `/signin/oidc/callback?${new URLSearchParams({ code: 'a-code', state: asked.searchParams.get('state') ?? '', iss: provider.issuer(issuer) }).toString()}`,
    );
  }

  const hasSession = ({ headers }: PageAnswer): boolean =>
    headers.getSetCookie().some((set) => /^(?:__Host-)?posthorn_session[^=]*=[\w-]+;/.test(set));

  it.each([
    ['RS256', own],
    ['ES256', elliptic],
  ])('303: %s with a key of the provider', async (_, key) => {
    const answer = await signIn((claims) => signed(key, claims));

    expect([answer.status, hasSession(answer)]).toEqual([303, true]);
  });

  it.each<[string, (claims: Claims) => string]>([
    ['alg none', (claims) => compact({ alg: 'none' }, claims, () => Buffer.alloc(0))],
    ['alg None', (claims) => compact({ alg: 'None' }, claims, () => Buffer.alloc(0))],
    ['HS256 with the public key as the secret', (claims) => hmacSigned(publicPem(own), claims)],
    ["HS256 with the client's secret", (claims) => hmacSigned(CLIENT_SECRET, claims)],
    ['RS256 with another key of the same id', (claims) => signed(stranger, claims)],
    ['RS256 with an unpublished key', (claims) => signed(next, claims)],
    [
      'RS256 with a key inside the token',
      (claims) =>
        signed(next, claims, { jwk: next.privateKey.export({ format: 'jwk' }), jku: 'https://evil.example/jwks' }),
    ],
    ['a truncated signature', (claims) => `${signed(own, claims).split('.').slice(0, 2).join('.')}.`],
    [
      'claims changed after signing',
      (claims) => {
        const [header, , signature] = signed(own, { ...claims, email: 'eve@customer.example' }).split('.');
        return [
          header,
          Buffer.from(JSON.stringify({ ...claims, email: ADA.email })).toString('base64url'),
          signature,
        ].join('.');
      },
    ],
    ['a critical extension (RFC 7515, section 4.1.11)', (claims) => signed(own, claims, { crit: ['x'], x: 1 })],
    ['an expiry in the past', (claims) => signed(own, { ...claims, exp: Math.floor(Date.now() / 1000) - 300 })],
    ['no expiry', (claims) => signed(own, { ...claims, exp: undefined })],
    ['another audience', (claims) => signed(own, { ...claims, aud: 'another-client' })],
    [
      'another authorized party',
      (claims) => signed(own, { ...claims, aud: ['posthorn', 'another-client'], azp: 'another-client' }),
    ],
    ['another issuer', (claims) => signed(own, { ...claims, iss: 'https://evil.example' })],
    ['another nonce', (claims) => signed(own, { ...claims, nonce: 'another' })],
    ['no nonce', (claims) => signed(own, { ...claims, nonce: undefined })],
    ['nothing at all', () => ''],
  ])('403: %s', async (_, forge) => {
    const answer = await signIn(forge, { person: { ...ADA, name: 'Ada' } });

    expect([answer.status, hasSession(answer)]).toEqual([403, false]);
  });

  it('the log contains the reason, and no token', async () => {
    await signIn((claims) => signed(stranger, claims));

    expect(server.logs()).toContain(
      'A response of the identity provider was rejected: JWT signature verification failed',
    );
    expect(server.logs()).not.toMatch(/eyJ|a-code|an-access-token/);
  });

  it('a rotation at the provider applies at once: 303 for the new key, 403 for the withdrawn one', async () => {
    await signIn((claims) => signed(own, claims));
    provider.keys = [next];

    const [rotated, withdrawn] = [
      await signIn((claims) => signed(next, claims)),
      await signIn((claims) => signed(own, claims)),
    ];

    expect([rotated.status, withdrawn.status]).toEqual([303, 403]);
  });

  it.each([
    ['jwks', 500],
    ['jwks', 503],
    ['token', 502],
  ])('503: /%s of the provider answers %i', async (place, status) => {
    provider.failing.set(place, status);

    const answer = await signIn((claims) => signed(own, claims));

    expect([answer.status, hasSession(answer)]).toEqual([503, false]);
  });

  it('403: the provider answers 404 for its keys', async () => {
    provider.failing.set('jwks', 404);

    expect((await signIn((claims) => signed(own, claims))).status).toBe(403);
  });

  it('OIDC_SIGNING_ALGORITHMS restricts tokens to the registered algorithm', async () => {
    const [elsewhere, registered] = [
      await signIn((claims) => signed(own, claims), { at: pinned, issuer: 'pinned' }),
      await signIn((claims) => signed(elliptic, claims), { at: pinned, issuer: 'pinned' }),
    ];

    expect([elsewhere.status, registered.status]).toEqual([403, 303]);
  });

  it('503: a provider that lists no public-key algorithm', async () => {
    const answer = await signIn((claims) => hmacSigned(CLIENT_SECRET, claims), {
      at: unverifiable,
      issuer: 'unverifiable',
    });

    expect(answer.status).toBe(503);
  });

  describe('signed user info (OpenID Connect Core, section 5.3.2)', () => {
    const only = { email: undefined, email_verified: undefined };
    const userInfo = (forge: (claims: Claims) => string): void => {
      provider.userInfo = {
        type: 'application/jwt',
        body: forge({ iss: provider.issuer('with-user-info'), aud: 'posthorn', sub: 'subject-1', ...ADA }),
      };
    };

    it.each<[number, string, (claims: Claims) => string]>([
      [303, 'a key of the provider', (claims) => signed(own, claims)],
      [403, 'another key', (claims) => signed(stranger, claims)],
      [403, 'no key', (claims) => compact({ alg: 'none' }, claims, () => Buffer.alloc(0))],
    ])('%i: by %s', async (status, _, forge) => {
      userInfo(forge);

      const answer = await signIn((claims) => signed(own, claims), {
        at: withUserInfo,
        issuer: 'with-user-info',
        person: only,
      });

      expect(answer.status).toBe(status);
    });
  });
});
