import type { FastifyRequest } from 'fastify';
import type { Config } from '#kernel/config/config.js';

const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f:.]*:[0-9a-f:.]*)$/i;
const WITH_PORT = /^(?:(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}|\[([0-9a-f:.]+)\](?::\d{1,5})?)$/i;
const HOST = /^[a-z0-9.-]{1,253}(?::\d{1,5})?$|^\[[0-9a-f:.]+\](?::\d{1,5})?$/i;

/**
 * Cleans X-Forwarded-For. Removes ports, which some load balancers add. Drops all entries before an invalid one,
 * because no trusted proxy wrote them. Fastify then uses the last address that is not a trusted proxy.
 */
export function tidyForwardedFor({ raw }: FastifyRequest): void {
  const given = raw.headers['x-forwarded-for'];
  if (given === undefined) return;
  const entries = String(given)
    .split(',')
    .map((entry) => entry.trim())
    .map((entry) => {
      const [, v4, v6] = WITH_PORT.exec(entry) ?? [];
      return v4 ?? v6 ?? entry;
    });
  const bad = entries.findLastIndex((entry) => !ADDRESS.test(entry));
  raw.headers['x-forwarded-for'] = entries.slice(bad + 1).join(', ');
  if (bad === entries.length - 1) delete raw.headers['x-forwarded-for'];
}

/**
 * Returns whether a request was sent to PLATFORM_DOMAIN, the host of customers' endpoints, while BASE_URL has another
 * host.
 */
export function isIngestHost({ hostname }: FastifyRequest, { configuredBaseUrl, platformDomain }: Config): boolean {
  if (configuredBaseUrl === null) return false;
  return hostname.toLowerCase() === platformDomain && platformDomain !== new URL(configuredBaseUrl).hostname;
}

/** Returns the origin of a request, from a trusted proxy's headers or the Host header. Null if neither is valid. */
export function originCalled({ protocol, host }: FastifyRequest): string | null {
  return HOST.test(host) && (protocol === 'http' || protocol === 'https')
    ? `${protocol}://${host.toLowerCase()}`
    : null;
}
