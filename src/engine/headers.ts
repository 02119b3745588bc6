/** Fault of a header. `path` points into the request body and appears in `details.fields` of the error. */
export interface HeaderFault {
  path: string;
  message: string;
}

const HEADERS_MAX = 64;
const VALUE_BYTES_MAX = 8192;
const TOTAL_BYTES_MAX = 32 * 1024;

/** Token of RFC 9110, section 5.6.2: a header name or a method. */
export const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Field value of RFC 9110, section 5.5, one byte per character. Excludes CR, LF and NUL. */
export const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const EDGE_WHITESPACE = /^[ \t]|[ \t]$/;

const FORBIDDEN_NAMES: ReadonlySet<string> = new Set([
  // RFC 9110, section 7.6.1: connection headers, and framing headers, which would allow request smuggling.
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'trailers',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
  'host',
  'user-agent',
  'cookie',
  // Headers that describe the body. Posthorn sets them itself.
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-location',
  // Further headers that Svix forbids.
  'age',
  'cache-control',
  'clear-site-data',
  'expires',
  'pragma',
  'warning',
  // W3C Trace Context headers. Posthorn sets them on every attempt.
  'traceparent',
  'tracestate',
]);

/**
 * Prefixes of forbidden headers. `proxy-` covers Proxy-Authorization. Headers of cloud load balancers, such as
 * `x-amzn-`, are forbidden because services trust them.
 */
const FORBIDDEN_PREFIXES = [
  'webhook-',
  'svix-',
  'x-svix-',
  'proxy-',
  'x-amz-',
  'x-amzn-',
  'x-google',
  'x-goog-',
  'x-gfe',
  'x-azure-',
  'x-fd-',
] as const;

export const FORWARDED_HEADERS_RULE =
  `At most ${HEADERS_MAX} headers, of ${VALUE_BYTES_MAX / 1024} KB each and ${TOTAL_BYTES_MAX / 1024} KB together, in visible Latin-1 characters. ` +
  `Refused with 422: ${[...FORBIDDEN_NAMES].map((name) => `\`${name}\``).join(', ')}, and names that begin with ` +
  `${FORBIDDEN_PREFIXES.map((prefix) => `\`${prefix}\``).join(', ')}. All other headers are accepted, including \`authorization\`.`;

/**
 * Returns every fault of forwarded headers. Does not check whether the destination has its own `authorization` header.
 */
export function forwardedHeaderFaults(headers: Record<string, string>): HeaderFault[] {
  const entries = Object.entries(headers);
  if (entries.length > HEADERS_MAX)
    return [{ path: 'headers', message: `At most ${HEADERS_MAX} headers can be forwarded.` }];
  const faults: HeaderFault[] = [];
  const seen = new Set<string>();
  let totalBytes = 0;
  for (const [name, value] of entries) {
    const lowerName = name.toLowerCase();
    const message =
      nameFault(name, lowerName) ?? (seen.has(lowerName) ? 'The same name occurs twice.' : valueFault(value));
    if (message !== null) faults.push({ path: `headers.${name}`, message });
    seen.add(lowerName);
    totalBytes += name.length + value.length;
  }
  if (totalBytes > TOTAL_BYTES_MAX) {
    faults.push({ path: 'headers', message: `All names and values together have at most ${TOTAL_BYTES_MAX} bytes.` });
  }
  return faults;
}

/** Returns the headers with names in lower case. Call it only for headers without faults. */
export function normalizeForwardedHeaders(headers: Record<string, string>): Record<string, string> {
  // Uses `fromEntries`, because an assignment to the name `__proto__` would set the object's prototype.
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/**
 * Returns the received headers without those that the destination configures (in lower case). The configured headers
 * win, because the sender is untrusted. `_` equals `-` here, because CGI and WSGI map both to one variable (RFC 3875,
 * section 4.1.18).
 */
export function withoutConfigured(
  received: Readonly<Record<string, string>>,
  configured: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const names = new Set(Object.keys(configured).map(comparable));
  return names.size === 0
    ? received
    : Object.fromEntries(Object.entries(received).filter(([name]) => !names.has(comparable(name))));
}

function comparable(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

/** Returns whether a header may be forwarded. Posthorn or the connection sets all other headers. */
export function isForwardable(lowerName: string): boolean {
  return (
    TOKEN.test(lowerName) &&
    !FORBIDDEN_NAMES.has(lowerName) &&
    !FORBIDDEN_PREFIXES.some((prefix) => lowerName.startsWith(prefix))
  );
}

function nameFault(name: string, lowerName: string): string | null {
  if (!TOKEN.test(name)) return "A header name consists of letters, digits and !#$%&'*+-.^_`|~.";
  if (!isForwardable(lowerName)) {
    return "This header is set by the service or by the connection and can't be forwarded.";
  }
  return null;
}

function valueFault(value: string): string | null {
  if (value.length > VALUE_BYTES_MAX) return `A header value has at most ${VALUE_BYTES_MAX} bytes.`;
  if (!FIELD_VALUE.test(value)) return 'A header value consists of visible Latin-1 characters, spaces and tabs.';
  return EDGE_WHITESPACE.test(value) ? 'A header value neither starts nor ends with a space or a tab.' : null;
}
