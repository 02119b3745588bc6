import type { Scheme } from './scheme.js';

/** Headers of a request that are the secret itself, in lower case: they are shown to nobody and sent on by nobody but a mirror. */
export function secretHeaders(scheme: Scheme): ReadonlySet<string> {
  const names = new Set(['authorization', 'proxy-authorization', 'cookie']);
  if (scheme.kind === 'token' || scheme.kind === 'jwt') names.add(scheme.header.toLowerCase());
  return names;
}
