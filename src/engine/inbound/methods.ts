/**
 * Methods that endpoints can filter by: the methods of RFC 9110 without CONNECT, and further methods that Node's parser
 * accepts.
 */
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

export type ReceivedMethod = (typeof RECEIVED_METHODS)[number];

/** Returns whether a method is allowed. Null allows all. GET does not include HEAD (RFC 9110, section 9). */
export function takesMethod(allowed: readonly string[] | null, method: string): boolean {
  return allowed === null || allowed.includes(method);
}
