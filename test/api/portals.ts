import { createHash } from 'node:crypto';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { expectStatus, type Sql } from './scene.js';

export interface OpenPortal {
  id: string;
  token: string;
  url: string;
  expires_at: string;
}

/** Opens an application's portal with the server's key, or with other headers. */
export async function openPortal(
  server: PosthornServer,
  application: string,
  fields: object = {},
  headers: Record<string, string> = {},
): Promise<OpenPortal> {
  return expectStatus(await server.api('POST', `/v1/app/${application}/portal`, fields, headers), 201)
    .json as OpenPortal;
}

/** Makes a call as the portal page does. */
export const inPortal = (
  server: Pick<PosthornServer, 'api'>,
  { token }: { token: string },
  method: string,
  path: string,
  body?: unknown,
): Promise<ApiAnswer> => server.api(method, path, body, { authorization: `Bearer ${token}` });

/** Moves the expiry of a portal session into the past. */
export async function expire(sql: Sql, { token }: { token: string }): Promise<void> {
  await sql.rows(`update portal_sessions set expires_at = now() - interval '1 second' where hash = $1::bytea`, [
    createHash('sha256').update(token).digest(),
  ]);
  await sql.rows(`select pg_notify('posthorn', 'portal:' || $1)`, [createHash('sha256').update(token).digest('hex')]);
}
