import { type PosthornServer, startServer } from '../support/server.js';
import { as } from './answers.js';
import {
  authorizePath,
  browserOf,
  CALLBACK,
  codeFor,
  decide,
  form,
  hiddenFields,
  pkce,
  redirected,
  registered,
} from './oauth.js';
import { expectStatus } from './scene.js';
import { PlainBrowser } from './signing-in.js';

const OPERATOR_KEY = 'an-operator-key-of-more-than-32-characters';

/** Invalid parameters. RFC 6749 requires that the server reports these errors to the client, by a redirect. */
const FAULTS: [string, Record<string, string | null>][] = [
  ['response_type=token', { response_type: 'token' }],
  ['no response_type', { response_type: null }],
  ['no PKCE', { code_challenge: null, code_challenge_method: null }],
  ['plain PKCE', { code_challenge_method: 'plain' }],
  ['a malformed scope', { scope: 'read "write"' }],
  ['another resource', { resource: 'https://other.example.com/mcp' }],
  ['a long state', { state: 'x'.repeat(1_001) }],
];

/**
 * RFC 9700, section 4.11.2: the authorization server authenticates the user first. It redirects automatically only to
 * trusted redirect URIs.
 */
describe('/oauth/authorize is not an open redirector', () => {
  let server: PosthornServer;
  let person: PlainBrowser;
  let evil: string;

  beforeAll(async () => {
    server = await startServer({ OPERATOR_KEY, TRUST_PROXY: '127.0.0.0/8' });
    person = await browserOf(server);
    evil = await registered(server, { redirect_uris: ['https://evil.example.com/landing'] });
  });

  afterAll(() => server?.stop());

  const pathFor = (changes: Record<string, string | null>): string =>
    authorizePath(evil, pkce().challenge, { redirect_uri: 'https://evil.example.com/landing', ...changes });

  /** Approves a client, exchanges the code, and returns the access token. */
  async function tokenFor(browser: PlainBrowser, clientId: string): Promise<string> {
    const { verifier, challenge } = pkce();
    const code = await codeFor(browser, clientId, challenge);
    return (
      await form(server, '/oauth/token', {
        grant_type: 'authorization_code',
        client_id: clientId,
        redirect_uri: CALLBACK,
        code,
        code_verifier: verifier,
      })
    ).json.access_token as string;
  }

  it.each([
    ...FAULTS,
    ['nothing wrong', {}],
    ['prompt=none', { prompt: 'none' }],
    ['prompt=none and a fault', { prompt: 'none', response_type: 'token' }],
    ['no client', { client_id: null }],
    ['an unknown client', { client_id: 'AAAAAAAAAAAAAAAAAAAAAA' }],
  ])('303: an anonymous browser with %s is redirected to the sign-in page of Posthorn', async (_, changes) => {
    const answer = await new PlainBrowser(server).get(pathFor(changes));

    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      expect.stringMatching(/^\/signin\?return_to=%2Foauth%2Fauthorize%3F/),
    ]);
  });

  it.each(FAULTS)(
    '400: %s from an unapproved client is shown on a page of Posthorn, without a redirect',
    async (_, changes) => {
      const answer = await person.get(pathFor(changes));

      expect([answer.status, answer.headers.get('location'), answer.headers.get('content-type')]).toEqual([
        400,
        null,
        'text/html; charset=utf-8',
      ]);
      expect(answer.text).not.toContain('evil.example.com');
    },
  );

  it('400: the form of the consent page with a fault is not redirected either', async () => {
    const page = await person.get(pathFor({}));

    const answer = await person.post('/oauth/authorize', {
      ...hiddenFields(page.text.slice(0, page.text.indexOf('</form>'))),
      response_type: 'token',
      decision: 'deny',
    });

    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
  });

  it('400: after a sign-in that leads back to the faulty request, it is not redirected either', async () => {
    const browser = new PlainBrowser(server);
    const asked = await browser.get(pathFor({ response_type: 'token' }));
    const returnTo = new URL(asked.headers.get('location') ?? '', server.url).searchParams.get('return_to') ?? '';
    const signedIn = await browser.post('/signin/key', { key: server.apiKey, return_to: returnTo });

    const answer = await browser.get(signedIn.headers.get('location') ?? '');

    expect([signedIn.headers.get('location'), answer.status, answer.headers.get('location')]).toEqual([
      returnTo,
      400,
      null,
    ]);
  });

  it('302: a denial by the user is redirected to the client, even to an unapproved one', async () => {
    const { target, given } = redirected(await decide(person, pathFor({}), { decision: 'deny' }));

    expect([target, given['error']]).toEqual(['https://evil.example.com/landing', 'access_denied']);
  });

  it("a fault is redirected only to clients with a valid key of the user's own organization, not of another one and not after its revocation", async () => {
    const made = expectStatus(
      await server.api(
        'POST',
        '/v1/orgs',
        { slug: 'other', name: 'Other', admin: { email: 'eve@other.example' } },
        as(OPERATOR_KEY),
      ),
      201,
    ).json;
    const clientId = await registered(server, {});
    const faulty = authorizePath(clientId, pkce().challenge, { response_type: 'token' });
    await tokenFor(await browserOf(server, made.key as string), clientId);
    const approvedElsewhere = await person.get(faulty);
    const token = await tokenFor(person, clientId);

    const approved = await person.get(faulty);
    await form(server, '/oauth/revoke', { token });
    const revoked = await person.get(faulty);

    expect([approvedElsewhere.status, approved.status, revoked.status]).toEqual([400, 302, 400]);
    expect(redirected(approved)).toEqual({
      target: CALLBACK,
      given: {
        error: 'unsupported_response_type',
        error_description: expect.any(String),
        state: 'a state',
        iss: server.url,
      },
    });
  });

  it.each([
    '//evil.example.com',
    '/\\evil.example.com',
    '/..//evil.example.com',
    '/\r\nLocation: https://evil.example.com',
    'https://evil.example.com',
    '/in/acme/redirecting',
    '/%69n/acme/redirecting',
  ])('303: return_to=%j leads to a page of Posthorn after the sign-in', async (returnTo) => {
    const browser = new PlainBrowser(server);

    const answer = await browser.post('/signin/key', { key: server.apiKey, return_to: returnTo });
    const again = await browser.get(`/signin?return_to=${encodeURIComponent(returnTo)}`);

    expect([answer.status, answer.headers.get('location'), again.status]).toEqual([303, '/signin', 200]);
  });
});
