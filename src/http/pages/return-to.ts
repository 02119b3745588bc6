import { VERBATIM_PREFIX } from '../plain-url.js';

const LENGTH_MAX = 2_000;

/**
 * Where a person goes on after a page: a path of this service with its query, or null for everything else. Nobody is sent
 * to another site by a link that somebody gave him, however the address is written.
 */
export function ownPath(given: unknown, baseUrl: string): string | null {
  // Browsers read a backslash as a slash, and drop tabs and line ends wherever they stand.
  if (typeof given !== 'string' || given.length > LENGTH_MAX || !/^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(given))
    return null;
  const base = new URL(baseUrl);
  const target = URL.canParse(given, base.origin) ? new URL(given, base.origin) : null;
  const prefix = base.pathname.replace(/\/+$/, '');
  if (target === null || target.origin !== base.origin || target.pathname.startsWith('//')) return null;
  if (target.pathname !== prefix && !target.pathname.startsWith(`${prefix}/`)) return null;
  return isTenants(target.pathname.slice(prefix.length)) ? null : target.pathname + target.search;
}

/** Whether a path leads to a receive URL: a tenant configures the answers there, redirects to other sites among them. The router decodes before it matches. */
function isTenants(path: string): boolean {
  try {
    return decodeURIComponent(path).startsWith(VERBATIM_PREFIX);
  } catch {
    return true;
  }
}
