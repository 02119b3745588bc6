const NAME = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const OWN_COMPUTER: ReadonlySet<string> = new Set(['localhost', '127.0.0.1']);

/**
 * Returns the fault of an origin, or null. The origin becomes part of a Content Security Policy (`frame-ancestors`), so
 * it must have no path, no wildcard, and an ASCII host name. Plain http is accepted only for localhost in the test
 * environment.
 */
export function frameOriginFault(text: string, mode: 'live' | 'test'): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.origin !== text || !NAME.test(url.hostname))
    return 'is an origin such as https://app.example.com: no path, and no slash at its end';
  if (url.protocol === 'https:') return null;
  if (url.protocol === 'http:' && mode === 'test' && OWN_COMPUTER.has(url.hostname)) return null;
  return mode === 'test' ? 'begins with https://, or is http://localhost or http://127.0.0.1' : 'begins with https://';
}
