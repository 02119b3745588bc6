import type { Scheme } from './scheme.js';

/** Lower-case names. In a raw request, only scope `write` may read these headers. Only a mirror forwards them. */
export function secretHeaders(scheme: Scheme): ReadonlySet<string> {
  const names = new Set(['authorization', 'proxy-authorization', 'cookie']);
  if (scheme.kind === 'token' || scheme.kind === 'jwt') names.add(scheme.header.toLowerCase());
  return names;
}
