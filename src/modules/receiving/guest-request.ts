import { jsonOf } from '#engine/inbound/body.js';
import type { ReceivedRequest, Verification } from '#engine/inbound/request.js';

/** A request as customers' code sees it. */
export interface GuestRequest {
  method: string;
  path: string;
  /** The first value of each. */
  query: Record<string, string>;
  /** Lower-case names, repeated ones joined. */
  headers: Record<string, string>;
  /** Without its content encoding: parsed when it is JSON, the text otherwise, base64 when it is no text. */
  body: unknown;
  verification: Verification;
}

/** What code in the sandbox is given of a request whose body is unpacked. */
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
