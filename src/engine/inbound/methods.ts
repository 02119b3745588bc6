/** The methods that endpoints can be told apart by: those of RFC 9110 but CONNECT, and what Node's parser takes besides. */
export const RECEIVED_METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'ACL',
  'BIND',
  'CHECKOUT',
  'COPY',
  'LINK',
  'LOCK',
  'M-SEARCH',
  'MERGE',
  'MKACTIVITY',
  'MKCALENDAR',
  'MKCOL',
  'MOVE',
  'NOTIFY',
  'PROPFIND',
  'PROPPATCH',
  'PURGE',
  'QUERY',
  'REBIND',
  'REPORT',
  'SEARCH',
  'SOURCE',
  'SUBSCRIBE',
  'UNBIND',
  'UNLINK',
  'UNLOCK',
  'UNSUBSCRIBE',
] as const;

/** One of them. */
export type ReceivedMethod = (typeof RECEIVED_METHODS)[number];

/** Whether an endpoint that takes `allowed` (null for any) takes a method. HEAD is no GET: a method is what it is named (RFC 9110, section 9). */
export function takesMethod(allowed: readonly string[] | null, method: string): boolean {
  return allowed === null || allowed.includes(method);
}
