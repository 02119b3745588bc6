import type { FastifyRequest } from 'fastify';
import { isIngestHost, originCalled } from '#http/forwarded.js';
import type { Config } from '#kernel/config/config.js';

/**
 * Query parameter set by a redirect to the host of BASE_URL. It prevents a redirect loop behind a proxy that hides the
 * host.
 */
const MOVED = 'moved';

/**
 * Returns the origin that serves a page: the origin of BASE_URL, or the called origin if BASE_URL is not set. Returns a
 * redirect if the request came to another host, and null on a host with customers' endpoints.
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
 * Returns the Content-Security-Policy of a page. Scripts and styles may come only from the built files. Tenants'
 * endpoints answer with arbitrary bytes on the same origin, and `'self'` would allow scripts from there. Trusted Types
 * prevent scripts from creating markup from text. `ancestors` may show the page in a frame.
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
