import type { Scheme } from './scheme.js';

/**
 * Returns the lower-case names of headers that carry the secret itself. In a raw request, only scope `write` may read
 * them. Only a mirror forwards them.
 */
export function secretHeaders(scheme: Scheme): ReadonlySet<string> {
  const names = new Set(['authorization', 'proxy-authorization', 'cookie']);
  if (scheme.kind === 'token' || scheme.kind === 'jwt') names.add(scheme.header.toLowerCase());
  return names;
}
