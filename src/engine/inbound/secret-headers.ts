import type { Scheme } from './scheme.js';

/** Headers of a request that are the secret itself, in lower case: only scope `write` sees them in a raw request, and only a mirror sends them on. */
export function secretHeaders(scheme: Scheme): ReadonlySet<string> {
  const names = new Set(['authorization', 'proxy-authorization', 'cookie']);
  if (scheme.kind === 'token' || scheme.kind === 'jwt') names.add(scheme.header.toLowerCase());
  return names;
}
