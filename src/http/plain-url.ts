/** Path prefix of the URLs of webhook providers. Escapes in these URLs stay unchanged. */
export const VERBATIM_PREFIX = '/in/';

/** Pattern of escaped unreserved characters (RFC 3986, section 2.3), which need no escape. */
const UNRESERVED = /%(?:2[de]|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/gi;

/**
 * Returns a request's URL without needless escapes in its path (RFC 3986, section 6.2.2.2), for example `/v1/send` for
 * `/%761/send`.
 *
 * The router decodes paths before it matches them. All other code that uses the path, such as the scope of an
 * idempotency key, must see the same path.
 *
 * URLs whose path starts with `VERBATIM_PREFIX`, as sent or after this decoding, stay unchanged.
 */
export function plainUrl(url: string): string {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  if (!path.includes('%') || path.startsWith(VERBATIM_PREFIX)) return url;
  const plain = path.replace(UNRESERVED, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)));
  return plain.startsWith(VERBATIM_PREFIX) ? url : plain + (mark < 0 ? '' : url.slice(mark));
}
