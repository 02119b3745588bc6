/** Header that counts how often an event has passed through this service, as a delivery or a received request. */
export const HOPS_HEADER = 'posthorn-hops';
export const HOPS_MAX = 8;

/** Headers that apply to one connection (RFC 9110, section 7.6.1), and headers that Posthorn's HTTP client sets. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'host',
  'content-length',
  'expect',
  'accept-encoding',
  HOPS_HEADER,
]);

/**
 * Headers that contain credentials under every verification scheme. `secretHeaders` returns a scheme's additional
 * credential headers.
 */
const CREDENTIALS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'x-amz-security-token',
  'x-goog-api-key',
  'x-goog-iam-authorization-token',
  'x-vercel-protection-bypass',
  'x-vercel-oidc-token',
]);

/**
 * Headers in which proxies describe the caller or redirect the request. Services behind a proxy trust these headers.
 */
const FORWARDING: ReadonlySet<string> = new Set([
  'forwarded',
  'via',
  'x-forwarded',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'x-cluster-client-ip',
  'proxy-client-ip',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-vercel-proxy-signature',
]);
const FORWARDING_PREFIXES = [
  'x-forwarded-',
  'x-original-',
  'x-rewrite-',
  'x-envoy-',
  'x-amzn-',
  'x-amz-cf-',
  'x-azure-',
  'x-fd-',
  'x-gfe-',
  'x-goog-iap-',
  'x-goog-authenticated-user-',
  'x-ms-client-principal',
  'x-vercel-forwarded-',
  'x-vercel-ip-',
  'x-vercel-proxied-',
  'cf-',
  'cdn-',
  'fastly-',
  'fly-',
];

/**
 * Maximum size of all forwarded headers. Node.js and most proxies reject more than 16 KB of headers. The remaining 1 KB
 * is reserved for Posthorn's own headers.
 */
export const FORWARDED_BYTES_MAX = 15 * 1024;

/** Headers that describe the encoding of the body. Every delivery preserves them. */
export const OF_BODY: ReadonlySet<string> = new Set(['content-type', 'content-encoding']);

export interface ForwardedHeaders {
  headers: Record<string, string>;
  /** Names of the headers that were omitted because of the maximum size. */
  omitted: string[];
}

/**
 * Returns the request headers that an event stores: all except hop-by-hop, credential, cookie and forwarding headers,
 * and those in `secret` (see `secretHeaders`). Joins repeated names with ", ". Always contains the content type.
 */
export function forwardedFrom(
  headers: readonly (readonly [string, string])[],
  secret: ReadonlySet<string> = new Set(),
): ForwardedHeaders {
  const forwarded = new Map<string, string>([['content-type', 'application/octet-stream']]);
  const omitted = new Set<string>();
  let bytes = 0;
  let hasOptions = false;
  for (const [name, value] of headers) {
    if (OF_BODY.has(name)) {
      forwarded.set(name, value);
      continue;
    }
    const rule = ruleOf(name);
    if (!rule.isForwarded || secret.has(rule.hyphened)) {
      hasOptions ||= isOptions(name, value);
      continue;
    }
    const lineBytes = rule.delivered.length + value.length + ': \r\n'.length;
    if (bytes + lineBytes > FORWARDED_BYTES_MAX) {
      omitted.add(name);
      continue;
    }
    bytes += lineBytes;
    const known = forwarded.get(name);
    forwarded.set(name, !known ? value : value === '' ? known : `${known}, ${value}`);
  }
  if (hasOptions) for (const name of connectionOptions(headers)) if (!OF_BODY.has(name)) forwarded.delete(name);
  return { headers: Object.fromEntries(forwarded), omitted: [...omitted] };
}

/** Prefixes of Posthorn's signature headers. Verification libraries also read the Svix names. */
const SIGNATURE_PREFIXES = ['webhook-', 'svix-'];
const RECEIVED_PREFIX = 'posthorn-received-';

/**
 * Returns a header's name for delivery. Renames the provider's signature headers, because Posthorn's headers have the
 * same names.
 */
export function deliveredName(name: string): string {
  return ruleOf(name).delivered;
}

const OMITTED_SHOWN_MAX = 20;

/** Returns a sentence about the omitted headers for the event's note, or null if no header was omitted. */
export function omittedNote(omitted: readonly string[]): string | null {
  if (omitted.length === 0) return null;
  const names = omitted.slice(0, OMITTED_SHOWN_MAX).map((name) => name.slice(0, 100));
  const more = omitted.length > names.length ? ` and ${omitted.length - names.length} more` : '';
  return `Deliveries carry at most ${FORWARDED_BYTES_MAX / 1024} KB of received headers. Left out: ${names.join(', ')}${more}.`;
}

const NONE: ReadonlySet<string> = new Set();

/** Returns whether the header is a Connection header that lists the names of other headers. */
function isOptions(name: string, value: string): boolean {
  return name === 'connection' && value !== 'keep-alive' && value !== 'close';
}

/** Returns the names that the Connection header lists. They apply only to the provider's connection. */
function connectionOptions(headers: readonly (readonly [string, string])[]): ReadonlySet<string> {
  let names: Set<string> | null = null;
  for (const [name, value] of headers) {
    if (!isOptions(name, value)) continue;
    names ??= new Set();
    for (const option of value.toLowerCase().split(',')) names.add(option.trim());
  }
  return names ?? NONE;
}

/**
 * Returns the end-to-end headers of a received request, so that the request can be repeated. Joins the values of
 * repeated names.
 */
export function endToEndHeaders(headers: readonly (readonly [string, string])[]): Record<string, string> {
  const ofConnection = connectionOptions(headers);
  const kept = new Map<string, string>();
  for (const [name, value] of headers) {
    if (HOP_BY_HOP.has(name) || ofConnection.has(name)) continue;
    const separator = name === 'cookie' ? '; ' : ', ';
    kept.set(name, kept.has(name) ? `${kept.get(name)}${separator}${value}` : value);
  }
  return Object.fromEntries(kept);
}

/** Parses the hop count. Returns 0 if it is missing, negative or otherwise invalid. */
export function hopsOf(value: string | undefined): number {
  return value !== undefined && /^\d{1,3}$/.test(value) ? Number(value) : 0;
}

interface HeaderRule {
  /**
   * Name with every `_` replaced by `-`, because CGI and WSGI map both to the same variable (RFC 3875, section 4.1.18).
   */
  hyphened: string;
  isForwarded: boolean;
  /** Name under which the header is delivered (see `deliveredName`). */
  delivered: string;
}

/** Cache of header rules by header name, because providers repeat a few names. */
const rules = new Map<string, HeaderRule>();
const RULES_MAX = 2_000;

function ruleOf(name: string): HeaderRule {
  const known = rules.get(name);
  if (known !== undefined) return known;
  const hyphened = name.replaceAll('_', '-');
  const isExcluded = HOP_BY_HOP.has(hyphened) || CREDENTIALS.has(hyphened) || FORWARDING.has(hyphened);
  const rule: HeaderRule = {
    hyphened,
    isForwarded: !isExcluded && !FORWARDING_PREFIXES.some((prefix) => hyphened.startsWith(prefix)),
    delivered: SIGNATURE_PREFIXES.some((prefix) => hyphened.startsWith(prefix)) ? `${RECEIVED_PREFIX}${name}` : name,
  };
  if (rules.size < RULES_MAX) rules.set(name, rule);
  return rule;
}
