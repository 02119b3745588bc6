const LENGTH_MAX = 2_000;

/**
 * Where a person goes on after a page: a path of this service with its query, or null for everything else. Nobody is sent
 * to another site by a link that somebody gave him, however the address is written.
 */
export function ownPath(given: unknown, baseUrl: string): string | null {
  // Browsers read a backslash as a slash, and drop tabs and line ends wherever they stand.
  if (typeof given !== 'string' || given.length > LENGTH_MAX || !/^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(given)) return null;
  const base = new URL(baseUrl);
  const target = URL.canParse(given, base.origin) ? new URL(given, base.origin) : null;
  const prefix = base.pathname.replace(/\/+$/, '');
  if (target === null || target.origin !== base.origin || target.pathname.startsWith('//')) return null;
  return target.pathname === prefix || target.pathname.startsWith(`${prefix}/`) ? target.pathname + target.search : null;
}
