import { jsonOf } from '#engine/inbound/body.js';
import type { ReceivedRequest, Verification } from '#engine/inbound/request.js';

export interface GuestRequest {
  method: string;
  path: string;
  /** Query parameters, each with its first value. */
  query: Record<string, string>;
  /** Headers with lower-case names. Repeated headers are joined. */
  headers: Record<string, string>;
  /** Body without its content encoding: parsed if it is JSON, otherwise text, or base64 if it is not text. */
  body: unknown;
  verification: Verification;
}

export function guestRequest(
  { method, path, query, headers, body }: ReceivedRequest,
  verification: Verification,
): GuestRequest {
  const named = new Map<string, string>();
  for (const [name, value] of headers) named.set(name, named.has(name) ? `${named.get(name)}, ${value}` : value);
  const first = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) if (!first.has(name)) first.set(name, value);
  return {
    method,
    path,
    query: Object.fromEntries(first),
    headers: Object.fromEntries(named),
    body: guestBody(body),
    verification,
  };
}

function guestBody(body: Buffer): unknown {
  const json = jsonOf({ body });
  if (json !== undefined) return json;
  const text = body.toString();
  return Buffer.from(text).equals(body) ? text : body.toString('base64');
}
