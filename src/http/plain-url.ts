/** Below this path URLs are what providers were given. */
export const VERBATIM_PREFIX = '/in/';

/** RFC 3986, section 2.3: what means the same with and without an escape. */
const UNRESERVED = /%(?:2[de]|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/gi;

/**
 * A request's URL without needless escapes in its path (RFC 3986, section 6.2.2.2): `/%761/send` is `/v1/send`. The router
 * decodes before it matches, so everything that looks at a path, such as the scope of an idempotency key, must see what
 * the router sees. URLs of providers stay as they came, to the very characters; what merely decodes to one is none.
 */
export function plainUrl(url: string): string {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  if (!path.includes('%') || path.startsWith(VERBATIM_PREFIX)) return url;
  const plain = path.replace(UNRESERVED, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)));
  return plain.startsWith(VERBATIM_PREFIX) ? url : plain + (mark < 0 ? '' : url.slice(mark));
}
