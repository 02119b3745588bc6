import type { FastifyRequest } from 'fastify';
import { isIngestHost, originCalled } from '#http/forwarded.js';
import type { Config } from '#kernel/config/config.js';

/** Query parameter set by a redirect to BASE_URL's host. Prevents a redirect loop if a proxy hides the host. */
const MOVED = 'moved';

/**
 * Returns the origin of BASE_URL, or the origin of the request if BASE_URL is not set. For a request to another host
 * than that of BASE_URL, returns the URL to redirect to, or null if the host serves customers' endpoints.
 */
export function originFor(request: FastifyRequest, config: Config): string | { elsewhere: string } | null {
  const { baseUrl, configuredBaseUrl } = config;
  const called = originCalled(request);
  if (configuredBaseUrl === null) return called ?? new URL(baseUrl).origin;
  const { origin, host } = new URL(configuredBaseUrl);
  if (request.host.toLowerCase() === host) return origin;
  if (isIngestHost(request, config)) return null;
  const [path = '', query = ''] = request.url.split('?', 2);
  const asked = new URLSearchParams(query);
  if (asked.has(MOVED)) return origin;
  asked.set(MOVED, '1');
  return { elsewhere: `${configuredBaseUrl}${path}?${asked.toString()}` };
}

/** Returns whether browsers treat an origin as potentially trustworthy (Secure Contexts, section 3.1). */
export function isTrustworthy(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return (
    protocol === 'https:' ||
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    /^127(?:\.\d+){3}$/.test(hostname) ||
    hostname === '[::1]'
  );
}

/**
 * Returns a page's Content-Security-Policy. `ancestors` may frame the page.
 *
 * Only the built files may be scripts and styles. `'self'` would also allow scripts of tenants, whose endpoints respond
 * with arbitrary bytes on the same origin. Trusted Types keep scripts from creating markup from text.
 */
export function policyOf(assets: string, ancestors: readonly string[] = []): string {
  return [
    "default-src 'none'",
    `script-src ${assets}`,
    `style-src ${assets}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'self'",
    `frame-ancestors ${ancestors.length === 0 ? "'none'" : ancestors.join(' ')}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
