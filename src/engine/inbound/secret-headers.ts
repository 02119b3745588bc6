import type { Scheme } from './scheme.js';

/** Returns lower-case names of headers that require scope `write` to read and that only a mirror forwards. */
export function secretHeaders(scheme: Scheme): ReadonlySet<string> {
  const names = new Set(['authorization', 'proxy-authorization', 'cookie']);
  if (scheme.kind === 'token' || scheme.kind === 'jwt') names.add(scheme.header.toLowerCase());
  if (scheme.kind === 'code') for (const name of scheme.secretHeaders) names.add(name);
  return names;
}
