import { VERBATIM_PREFIX } from '../plain-url.js';

const LENGTH_MAX = 2_000;

/** Returns the path and query to redirect to. Null for the URL of another service, to prevent open redirects. */
export function ownPath(given: unknown, baseUrl: string): string | null {
  // Browsers treat a backslash as a slash, and drop tabs and line breaks in URLs.
  if (typeof given !== 'string' || given.length > LENGTH_MAX || !/^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(given))
    return null;
  const base = new URL(baseUrl);
  const target = URL.canParse(given, base.origin) ? new URL(given, base.origin) : null;
  const prefix = base.pathname.replace(/\/+$/, '');
  if (target === null || target.origin !== base.origin || target.pathname.startsWith('//')) return null;
  if (target.pathname !== prefix && !target.pathname.startsWith(`${prefix}/`)) return null;
  return isTenants(target.pathname.slice(prefix.length)) ? null : target.pathname + target.search;
}

/**
 * Returns whether a path is the URL of a webhook endpoint. Its response may be a redirect that a tenant configured.
 * Decodes the path as the router does.
 */
function isTenants(path: string): boolean {
  try {
    return decodeURIComponent(path).startsWith(VERBATIM_PREFIX);
  } catch {
    return true;
  }
}
