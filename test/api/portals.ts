import { createHash } from 'node:crypto';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { expectStatus, type Sql } from './scene.js';

/** A portal that was opened. */
export interface OpenPortal {
  id: string;
  token: string;
  url: string;
  expires_at: string;
}

/** Opens the portal of an application with the server's key, or another one's headers. */
export async function openPortal(
  server: PosthornServer,
  application: string,
  fields: object = {},
  headers: Record<string, string> = {},
): Promise<OpenPortal> {
  return expectStatus(await server.api('POST', `/v1/app/${application}/portal`, fields, headers), 201)
    .json as OpenPortal;
}

/** A call as the page of a portal makes it. */
export const inPortal = (
  server: Pick<PosthornServer, 'api'>,
  { token }: { token: string },
  method: string,
  path: string,
  body?: unknown,
): Promise<ApiAnswer> => server.api(method, path, body, { authorization: `Bearer ${token}` });

/** Moves the end of a portal into the past. */
export async function expire(sql: Sql, { token }: { token: string }): Promise<void> {
  await sql.rows(`update portal_sessions set expires_at = now() - interval '1 second' where hash = $1::bytea`, [
    createHash('sha256').update(token).digest(),
  ]);
  await sql.rows(`select pg_notify('posthorn', 'portal:' || $1)`, [createHash('sha256').update(token).digest('hex')]);
}
