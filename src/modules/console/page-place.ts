import type { FastifyRequest } from 'fastify';
import { isIngestHost, originCalled } from '#http/forwarded.js';
import type { Config } from '#kernel/config/config.js';

/** Stands in the query after one redirect to the host of BASE_URL: a proxy that hides the host must not turn people round in a circle. */
const MOVED = 'moved';

/**
 * The origin that a page is shown under: that of BASE_URL, or without one whatever was called. Another place for people who came
 * by another host, and null on the host where customers' endpoints are.
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

/** Whether browsers take an origin for one that nobody in between can speak for (Secure Contexts, section 3.1). */
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
 * Scripts and styles come from the built files alone: tenants' endpoints answer with bytes of their own choice on this very origin,
 * and `'self'` would run them. No script makes markup of texts (Trusted Types). `ancestors` may show the page in a frame.
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
