import { followFrom, type ProvidedAccount, TestIdentityProvider } from '../support/identity-provider.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { expectStatus } from './scene.js';
import { type PageAnswer, PlainBrowser } from './signing-in.js';

describe('sign-in through the identity provider', () => {
  let provider: TestIdentityProvider;
  let server: PosthornServer;

  beforeAll(async () => {
    provider = await TestIdentityProvider.start();
    server = await startServer({
      TRUST_PROXY: '127.0.0.0/8',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: 'posthorn',
      OIDC_CLIENT_SECRET: 'a-secret-of-the-client',
      OIDC_ROLES: 'admins=admin,developers=write',
      OIDC_DOMAINS: 'customer.example,partner.example',
    });
  });

  afterAll(async () => {
    await server?.stop();
    await provider?.stop();
  });

  /** Signs in at the provider and returns the callback URL without opening it. */
  async function throughProvider(
    browser: PlainBrowser,
    who: ProvidedAccount | null,
    returnTo = '/signin',
  ): Promise<string> {
    provider.current = who;
    const begun = await browser.get(`/signin/oidc?return_to=${encodeURIComponent(returnTo)}`);
    expect(begun.status).toBe(303);
    return followFrom(begun.headers.get('location') ?? '', `${server.url}/signin/oidc/callback`);
  }

  async function signIn(
    who: ProvidedAccount | null,
    returnTo?: string,
  ): Promise<{ browser: PlainBrowser; answer: PageAnswer }> {
    const browser = new PlainBrowser(server);
    const callback = await throughProvider(browser, who, returnTo);
    return { browser, answer: await browser.get(new URL(callback).pathname + new URL(callback).search) };
  }

  const memberOf = async (email: string) =>
    (await server.api('GET', '/v1/members?limit=100')).json.data.find(
      (member: { email: string }) => member.email === email,
    );

  it('503: an unavailable provider gives a page with a link to try again', async () => {
    const answer = await new PlainBrowser(server).get('/signin/oidc');

    expect([answer.status, answer.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
    expect(answer.text).toContain('does not answer');
    expect(answer.text).toContain('href="/signin"');
  });

  describe('once the provider is available', () => {
    beforeAll(() => provider.register(`${server.url}/signin/oidc/callback`));

    it('303: a group admits a new member with its role, and returns to the requested page', async () => {
      const { answer, browser } = await signIn(
        { email: 'Grace@customer.example', email_verified: true, name: 'Grace', groups: ['developers', 'others'] },
        '/signin?a=b',
      );

      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/signin?a=b']);
      expect(await memberOf('grace@customer.example')).toMatchObject({ name: 'Grace', role: 'write' });
      browser.cookie =
        (answer.headers.getSetCookie().find((set) => set.startsWith('posthorn_session_')) ?? '').split(';', 1)[0] ?? '';
      expect((await browser.get('/signin')).text).toContain('grace@customer.example');
    });

    it('the role follows the groups at the next sign-in, and the highest one counts', async () => {
      await signIn({ email: 'role@customer.example', email_verified: true, groups: ['admins', 'developers'] });
      expect(await memberOf('role@customer.example')).toMatchObject({ role: 'admin' });
      await signIn({ email: 'second@customer.example', email_verified: true, groups: ['admins'] });

      await signIn({ email: 'role@customer.example', email_verified: true, groups: ['developers'] });

      expect(await memberOf('role@customer.example')).toMatchObject({ role: 'write' });
    });

    it('the audit log records members created and roles changed by the provider, but no sign-in without a change', async () => {
      const come = (groups: string[]): Promise<unknown> =>
        signIn({ email: 'noted@customer.example', email_verified: true, groups });
      await come(['developers']);
      await come(['developers']);
      await come(['admins']);

      const { id } = await memberOf('noted@customer.example');
      const entries = (await server.api('GET', `/v1/audit?resource=${id}`)).json.data as object[];

      const by = { kind: 'member', id, name: 'noted@customer.example' };
      expect(entries).toMatchObject([
        {
          action: 'member.role_followed',
          actor: by,
          resource_type: 'members',
          before: { role: 'write' },
          after: { role: 'admin' },
          ip: expect.any(String),
        },
        {
          action: 'member.provisioned',
          actor: by,
          resource_type: 'members',
          before: null,
          after: { email: 'noted@customer.example', role: 'write' },
        },
      ]);
      expect(entries).toHaveLength(2);
    });

    it('303: an existing member is signed in without any group', async () => {
      expectStatus(await server.api('POST', '/v1/members', { email: 'known@partner.example', role: 'read' }), 201);

      const { answer } = await signIn({ email: 'known@partner.example', email_verified: true });

      expect(answer.status).toBe(303);
    });

    it.each<[string, ProvidedAccount | null]>([
      [
        'a person without an admitted group',
        { email: 'stranger@customer.example', email_verified: true, groups: ['others'] },
      ],
      ['an address of another domain', { email: 'admin@evil.example', email_verified: true, groups: ['admins'] }],
      [
        'an address that is not verified',
        { email: 'grace@customer.example', email_verified: false, groups: ['admins'] },
      ],
      [
        'an address that the provider does not declare verified',
        { email: 'grace@customer.example', groups: ['admins'] },
      ],
      ['a person who cancelled', null],
    ])('403: %s', async (_case, who) => {
      const { answer } = await signIn(who);

      expect([answer.status, answer.headers.getSetCookie().some((set) => set.startsWith('posthorn_session_'))]).toEqual(
        [403, false],
      );
      expect(answer.text).toContain('role="alert"');
    });

    it('403: a sign-in started in one browser cannot be completed in another', async () => {
      const callback = new URL(
        await throughProvider(new PlainBrowser(server), {
          email: 'grace@customer.example',
          email_verified: true,
          groups: ['admins'],
        }),
      );

      const answer = await new PlainBrowser(server).get(callback.pathname + callback.search);

      expect([answer.status, answer.headers.getSetCookie().some((set) => set.startsWith('posthorn_session_'))]).toEqual(
        [403, false],
      );
    });

    it('403: another state, and a code of another sign-in', async () => {
      const browser = new PlainBrowser(server);
      const first = new URL(
        await throughProvider(browser, { email: 'grace@customer.example', email_verified: true, groups: ['admins'] }),
      );
      const state = new URL(first);
      state.searchParams.set('state', 'another');
      expect((await browser.get(state.pathname + state.search)).status).toBe(403);

      const other = new PlainBrowser(server);
      const second = new URL(
        await throughProvider(other, { email: 'grace@customer.example', email_verified: true, groups: ['admins'] }),
      );
      second.searchParams.set('code', first.searchParams.get('code') ?? '');
      const answer = await other.get(second.pathname + second.search);

      expect(answer.status).toBe(403);
      expect(answer.text).not.toContain('stack');
    });

    it("fetches the provider's metadata once, not at every sign-in", async () => {
      const asked = (): number => provider.requests.filter((line) => line.includes('/.well-known/')).length;
      await signIn({ email: 'grace@customer.example', email_verified: true, groups: ['developers'] });
      const before = asked();

      await signIn({ email: 'grace@customer.example', email_verified: true, groups: ['developers'] });

      expect(asked()).toBe(before);
    });

    it("no log contains the client's secret or a code", () => {
      expect(server.logs()).not.toMatch(/a-secret-of-the-client|code=/);
    });
  });
});
