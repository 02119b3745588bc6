import { isForwardable } from '../headers.js';

/** Headers of connections, proxies and browsers: they describe the caller, and services would trust them. */
const CONNECTION_NAMES: ReadonlySet<string> = new Set([
  'authorization',
  'forwarded',
  'via',
  'origin',
  'referer',
  'accept',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'x-cluster-client-ip',
  'x-request-id',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'upgrade-insecure-requests',
]);
const CONNECTION_PREFIXES = [
  'x-forwarded-',
  'x-original-',
  'x-rewrite-',
  'x-envoy-',
  'x-amzn-',
  'x-vercel-',
  'accept-',
  'sec-',
  'cf-',
  'cdn-',
  'fastly-',
  'if-',
];
const HEADERS_MAX = 48;
const VALUE_LENGTH_MAX = 2_048;
const TOTAL_LENGTH_MAX = 16 * 1024;

/** Counts how often an event has passed through this service, as a delivery or a received request. */
export const HOPS_HEADER = 'posthorn-hops';
export const HOPS_MAX = 8;

/**
 * Returns the content type and the provider's metadata about the event, for its deliveries. Excludes headers that
 * authenticate (also those in `secret`) or describe the connection. Keeps the first 48 headers and 16 KB, and joins
 * repeated names.
 */
export function forwardedFrom(
  headers: readonly (readonly [string, string])[],
  secret: ReadonlySet<string> = new Set(),
): Record<string, string> {
  const forwarded = new Map<string, string>([['content-type', 'application/octet-stream']]);
  let length = 0;
  let isFull = false;
  for (const [name, value] of headers) {
    if (name === 'content-type' || name === 'content-encoding') {
      forwarded.set(name, value.slice(0, VALUE_LENGTH_MAX));
      continue;
    }
    if (isFull || value.length > VALUE_LENGTH_MAX || !goesOn(name) || secret.has(name)) continue;
    length += name.length + value.length;
    // The loop continues, because headers that describe the body may still follow.
    isFull = length > TOTAL_LENGTH_MAX || forwarded.size >= HEADERS_MAX;
    if (isFull) continue;
    const known = forwarded.get(name);
    forwarded.set(name, [known, value].filter((text) => text !== undefined && text !== '').join(', '));
  }
  return Object.fromEntries(forwarded);
}

/** Parses the hop count. Senders cannot make it negative. */
export function hopsOf(value: string | undefined): number {
  return value !== undefined && /^\d{1,3}$/.test(value) ? Number(value) : 0;
}

/** Cache per header name. Providers send few distinct names, but send them repeatedly. */
const decided = new Map<string, boolean>();
const DECIDED_MAX = 2_000;

function goesOn(name: string): boolean {
  let answer = decided.get(name);
  if (answer === undefined) {
    answer = isForwardable(name) && !isOfConnection(name);
    if (decided.size < DECIDED_MAX) decided.set(name, answer);
  }
  return answer;
}

function isOfConnection(name: string): boolean {
  return (
    name === HOPS_HEADER || CONNECTION_NAMES.has(name) || CONNECTION_PREFIXES.some((prefix) => name.startsWith(prefix))
  );
}
