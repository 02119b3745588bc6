import { createHash, randomBytes } from 'node:crypto';
import type { PosthornServer } from '../support/server.js';
import { fieldOf, type PageAnswer, PlainBrowser } from './signing-in.js';

/** Redirect URI without a server: tests read the redirect itself. */
export const CALLBACK = 'https://client.example.com/callback';

/** Posts a form as OAuth clients do, and returns the response. */
export async function form(
  server: Pick<PosthornServer, 'url'>,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<{
  status: number;
  headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each test asserts the fields that it reads
  json: any;
}> {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text === '' ? null : JSON.parse(text) };
}

/** Registers a client and returns its id. */
export async function registered(
  server: Pick<PosthornServer, 'url'>,
  metadata: Record<string, unknown> = {},
  address?: string,
): Promise<string> {
  const response = await fetch(`${server.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(address !== undefined && { 'x-forwarded-for': address }) },
    body: JSON.stringify({ client_name: 'An assistant', redirect_uris: [CALLBACK], ...metadata }),
  });
  const json = (await response.json()) as { client_id: string };
  if (response.status !== 201) throw new Error(`Not registered: ${JSON.stringify(json)}`);
  return json.client_id;
}

export function pkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** Returns the path of an authorization request. Null removes a parameter. */
export function authorizePath(
  clientId: string,
  challenge: string,
  changes: Record<string, string | null> = {},
): string {
  const all: Record<string, string | null> = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: CALLBACK,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state: 'a state',
    ...changes,
  };
  return `/oauth/authorize?${new URLSearchParams(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null)).toString()}`;
}

export async function browserOf(server: PosthornServer, key = server.apiKey): Promise<PlainBrowser> {
  const browser = new PlainBrowser(server);
  const answer = await browser.post('/signin/key', { key });
  if (answer.status !== 303) throw new Error(`Not signed in: ${answer.status} ${answer.text}`);
  return browser;
}

export function hiddenFields(page: string): Record<string, string> {
  const found = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)].map(
    ([, name = '', value = '']) => [name, decoded(value)],
  );
  return Object.fromEntries(found) as Record<string, string>;
}

/** Opens the consent page, submits a decision, and returns the response. */
export async function decide(
  browser: PlainBrowser,
  path: string,
  choices: Record<string, string> = {},
): Promise<PageAnswer> {
  const page = await browser.get(path);
  if (page.status !== 200) return page;
  return browser.post('/oauth/authorize', {
    ...hiddenFields(consentForm(page.text)),
    environment: 'live',
    lifetime: '30',
    decision: 'allow',
    ...choices,
  });
}

/** Returns the target of a redirect and its query parameters. */
export function redirected(answer: PageAnswer): { target: string; given: Record<string, string> } {
  const url = new URL(answer.headers.get('location') ?? 'about:blank');
  return { target: url.origin + url.pathname, given: Object.fromEntries(url.searchParams) };
}

/** Returns an authorization code for a client, granted by the user of the browser. */
export async function codeFor(
  browser: PlainBrowser,
  clientId: string,
  challenge: string,
  choices: Record<string, string> = {},
): Promise<string> {
  const { given } = redirected(await decide(browser, authorizePath(clientId, challenge), choices));
  if (given['code'] === undefined) throw new Error(`No code: ${JSON.stringify(given)}`);
  return given['code'];
}

export const csrfOf = (page: string): string => fieldOf(page, 'csrf_token');

/** Returns the consent form of a page. The sign-out form below it also has a token. */
function consentForm(page: string): string {
  return page.slice(page.indexOf('action="'), page.indexOf('</form>'));
}

function decoded(value: string): string {
  return value
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&');
}
