import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { expectStatus, type Sql } from './scene.js';
import { PlainBrowser } from './signing-in.js';

/** Returns the headers that Posthorn's own pages send with their cookie. */
export function asPage(
  cookie: string,
  environment: string | null = 'live',
  more: Record<string, string> = {},
): Record<string, string> {
  return {
    authorization: '',
    cookie,
    'x-posthorn-console': '1',
    ...(environment !== null && { 'x-posthorn-environment': environment }),
    ...more,
  };
}

/** Makes a call as one of Posthorn's own pages, in the live environment. */
export const asked = (
  server: Pick<PosthornServer, 'api'>,
  cookie: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<ApiAnswer> => server.api(method, path, body, asPage(cookie));

export async function cookieOf(server: PosthornServer, key = server.apiKey): Promise<string> {
  const browser = new PlainBrowser(server);
  const { status } = await browser.post('/signin/key', { key });
  if (status !== 303) throw new Error(`The sign-in answered ${status}.`);
  return browser.cookie;
}

const names = new Map<string, Promise<string>>();

/** Returns the name of the installation's session cookie. It ends with an id that the service generates. */
export function sessionCookieName(server: PosthornServer): Promise<string> {
  const { url } = server;
  const known = names.get(url) ?? cookieOf(server).then((cookie) => cookie.split('=', 1)[0] ?? '');
  names.set(url, known);
  return known;
}

/** Creates a member with an open session, without an emailed sign-in code. Returns the member. */
export async function signedInMember(
  server: PosthornServer,
  sql: Sql,
  role: 'read' | 'write' | 'admin',
): Promise<{ id: string; email: string; cookie: string }> {
  const email = `${randomUUID()}@customer.example`;
  const { id } = expectStatus(await server.api('POST', '/v1/members', { email, role }), 201).json as { id: string };
  return { id, email, cookie: await openSession(server, sql, email) };
}

/** Opens another session of a member, and returns its cookie. */
export async function openSession(server: PosthornServer, sql: Sql, email: string): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await sql.rows(
    `insert into sessions (organization_id, id, hash, member_id, how, network, user_agent, created_at, last_seen_at, expires_at)
     select organization_id, $1::uuid, $2::bytea, id, 'code', '198.51.100.7', 'test', now(), now(), now() + interval '7 days' from members where email = $3`,
    [randomUUID(), createHash('sha256').update(token).digest(), email],
  );
  return `${await sessionCookieName(server)}=${token}`;
}
