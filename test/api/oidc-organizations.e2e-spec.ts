import { run } from '../support/program.js';
import { type Claims, namedKey, ScriptedIdentityProvider, signed } from '../support/scripted-identity-provider.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { as, expectRefusal } from './answers.js';
import { expectStatus } from './scene.js';
import { fieldOf, type PageAnswer, PlainBrowser } from './signing-in.js';

const OPERATOR_KEY = 'an-operator-key-of-more-than-32-characters';

describe('the identity provider of one of several organizations', () => {
  const key = namedKey('own');
  let provider: ScriptedIdentityProvider;
  /**
   * Three processes share one database. `acme` uses the identity provider of the organization "acme". The second
   * process uses the identity provider of the installation. The third process has no OIDC_DOMAINS.
   */
  let acme: PosthornServer;
  let whole: PosthornServer;
  let early: PosthornServer;
  const keys: Record<string, string> = {};

  beforeAll(async () => {
    provider = await ScriptedIdentityProvider.start();
    provider.keys = [key];
    provider.idToken = (claims) => signed(key, claims);
    const oidc = (name: string): Record<string, string> => ({
      OIDC_ISSUER: provider.issuer(name),
      OIDC_CLIENT_ID: 'posthorn',
      OIDC_ROLES: 'admins=admin',
    });
    early = await startServer({ OPERATOR_KEY, TRUST_PROXY: '127.0.0.0/8', ...oidc('early') });
    const { OIDC_ISSUER: _issuer, OIDC_CLIENT_ID: _client, OIDC_ROLES: _roles, ...base } = early.env;
    const founding = await startServer(base);
    for (const slug of ['acme', 'other']) {
      const made = expectStatus(
        await founding.api(
          'POST',
          '/v1/orgs',
          { slug, name: `The ${slug}`, admin: { email: `admin@${slug}.example` } },
          as(OPERATOR_KEY),
        ),
        201,
      ).json;
      keys[slug] = made.key as string;
      expectStatus(
        await founding.api('POST', '/v1/members', { email: 'both@acme.example', role: 'read' }, as(made.key as string)),
        201,
      );
    }
    await founding.stop();
    const domains = { OIDC_DOMAINS: 'acme.example,other.example' };
    [acme, whole] = await Promise.all([
      startServer({ ...base, ...oidc('acme'), ...domains, OIDC_ORGANIZATION: 'acme' }),
      startServer({ ...base, ...oidc('whole'), ...domains }),
    ]);
  });

  afterAll(async () => {
    await Promise.all([acme, whole].map((one) => one?.stop()));
    await early?.stop();
    await provider?.stop();
  });

  async function begin(
    server: PosthornServer,
    issuer: string,
    person: Claims,
  ): Promise<{ browser: PlainBrowser; answer: PageAnswer }> {
    const browser = new PlainBrowser(server);
    const asked = new URL((await browser.get('/signin/oidc?return_to=%2Fsignin%3Fback')).headers.get('location') ?? '');
    provider.expect(provider.claims(issuer, asked, { email_verified: true, ...person }));
    const answer = await browser.get(
      `/signin/oidc/callback?${new URLSearchParams({ code: 'a-code', state: asked.searchParams.get('state') ?? '' }).toString()}`,
    );
    return { browser, answer };
  }

  const sessionIn = ({ headers }: PageAnswer): string | null =>
    headers
      .getSetCookie()
      .map((set) => set.split(';', 1)[0] ?? '')
      .find((pair) => /^posthorn_session[^=]*=./.test(pair)) ?? null;

  /** Returns the slug of the organization whose session the response opened, or null. */
  async function openedBy(server: PosthornServer, answer: PageAnswer): Promise<string | null> {
    const cookie = sessionIn(answer);
    if (cookie === null) return null;
    return (await server.api('GET', '/v1/session', undefined, { authorization: '', cookie, 'x-posthorn-console': '1' }))
      .json.organization.slug as string;
  }

  it('403: OIDC_ORGANIZATION opens no session in another organization, whatever address its provider asserts', async () => {
    const { answer } = await begin(acme, 'acme', { email: 'admin@other.example' });

    expect([answer.status, sessionIn(answer)]).toEqual([403, null]);
    expect(answer.text).toContain('admin@other.example is not a member');
  });

  it('groups create members of its own organization, and change no member of another one', async () => {
    const { answer } = await begin(acme, 'acme', { email: 'admin@other.example', groups: ['admins'] });

    expect([answer.status, await openedBy(acme, answer)]).toEqual([303, 'acme']);
    expect((await acme.api('GET', '/v1/members', undefined, as(keys['other'] ?? ''))).json.data).toHaveLength(2);
  });

  it('303: a member of both organizations is signed in to its organization, without a choice', async () => {
    const { answer } = await begin(acme, 'acme', { email: 'BOTH@acme.example' });

    expect([answer.status, await openedBy(acme, answer)]).toEqual([303, 'acme']);
  });

  it('200: with the provider of the installation, a member of several organizations chooses one, and returns to the requested page', async () => {
    const { browser, answer } = await begin(whole, 'whole', { email: 'both@acme.example' });
    expect([answer.status, sessionIn(answer)]).toEqual([200, null]);
    const choices = [...answer.text.matchAll(/name="member" value="([^"]+)" required> ([^<]+)</g)].map(
      ([, id = '', name = '']) => ({ id, name }),
    );
    expect(choices.map(({ name }) => name)).toEqual(['The acme', 'The other']);
    expect(fieldOf(answer.text, 'return_to')).toBe('');

    const chosen = await browser.post('/signin/oidc/organization', { member: choices[1]?.id ?? '' });

    expect([chosen.status, chosen.headers.get('location'), await openedBy(whole, chosen)]).toEqual([
      303,
      '/signin?back',
      'other',
    ]);
    expect(chosen.headers.getSetCookie().some((set) => /^posthorn_oidc_[0-9a-f]{8}=;/.test(set))).toBe(true);
  });

  it('403: an organization cannot be chosen without a response of the provider, in another browser, from another site, or before the response', async () => {
    const { browser } = await begin(whole, 'whole', { email: 'both@acme.example' });
    const begun = new PlainBrowser(whole);
    await begun.get('/signin/oidc');

    const answers = [
      await new PlainBrowser(whole).post('/signin/oidc/organization', { member: 'x' }),
      await begun.post('/signin/oidc/organization', { member: 'x' }),
      await browser.post(
        '/signin/oidc/organization',
        { member: 'x' },
        { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      ),
    ];

    expect(answers.map((answer) => [answer.status, sessionIn(answer)])).toEqual([
      [403, null],
      [403, null],
      [403, null],
    ]);
  });

  it("another person's membership cannot be chosen", async () => {
    const members = (await whole.api('GET', '/v1/members', undefined, as(keys['other'] ?? ''))).json.data as {
      id: string;
      email: string;
    }[];
    const { browser } = await begin(whole, 'whole', { email: 'both@acme.example' });

    const answer = await browser.post('/signin/oidc/organization', {
      member: members.find(({ email }) => email === 'admin@other.example')?.id ?? '',
    });

    expect([answer.status, sessionIn(answer)]).toEqual([200, null]);
  });

  it.each<[string, Claims]>([
    ['an address of a domain that is not listed', { email: 'admin@evil.example' }],
    ['an address that is not verified', { email: 'admin@other.example', email_verified: false }],
    ['the Kelvin sign, whose lower case is k', { email: 'bo\u212ath@acme.example' }],
    ['a list of addresses', { email: ['admin@other.example'] }],
    ['two at signs', { email: 'admin@other.example@acme.example' }],
  ])('403: %s', async (_, person) => {
    const { answer } = await begin(whole, 'whole', person);

    expect([answer.status, sessionIn(answer)]).toEqual([403, null]);
  });

  it('the case of addresses is folded for ASCII letters only', async () => {
    expectStatus(
      await whole.api('POST', '/v1/members', { email: 'kim@other.example', role: 'read' }, as(keys['other'] ?? '')),
      201,
    );

    const [kim, kelvin] = [
      await begin(whole, 'whole', { email: 'KIM@Other.Example' }),
      await begin(whole, 'whole', { email: '\u212aim@other.example' }),
    ];

    expect([kim.answer.status, kelvin.answer.status]).toEqual([303, 403]);
  });

  describe('without OIDC_DOMAINS', () => {
    const LINE = /OIDC_DOMAINS is required with OIDC_ISSUER where there is more than one organization/;

    it.each([
      ['with', { OIDC_ORGANIZATION: 'acme' }],
      ['without', {}],
    ])('the startup fails with a one-line message, %s OIDC_ORGANIZATION', async (_, more) => {
      const failure = await startServer({ ...early.env, ...more }).then(
        (started) => started.stop(),
        (error: unknown) => error,
      );

      expect(String(failure)).toMatch(LINE);
    });

    it('409: a second organization cannot be created, over HTTP or by the command', async () => {
      const single = await startServer({
        OPERATOR_KEY,
        OIDC_ISSUER: provider.issuer('single'),
        OIDC_CLIENT_ID: 'posthorn',
      });

      const answer = await single.api(
        'POST',
        '/v1/orgs',
        { slug: 'second', name: 'Second', admin: { email: 'a@b.example' } },
        as(OPERATOR_KEY),
      );
      const command = await run('orgs', { ...single.env }, [
        'create',
        '--slug',
        'second',
        '--name',
        'Second',
        '--admin-email',
        'a@b.example',
      ]);
      const { data } = (await single.api('GET', '/v1/orgs', undefined, as(OPERATOR_KEY))).json;
      await single.stop();

      expectRefusal(answer, 409);
      expect(answer.json.error.message).toMatch(LINE);
      expect([command.code, command.err]).toEqual([1, expect.stringMatching(LINE)]);
      expect(data).toHaveLength(1);
    });

    it('503: a process that started with one organization stops signing in', async () => {
      const { answer } = await begin(early, 'early', { email: 'admin@other.example', groups: ['admins'] });

      expect([answer.status, sessionIn(answer)]).toEqual([503, null]);
      expect(answer.text).toMatch(LINE);
    });
  });
});
