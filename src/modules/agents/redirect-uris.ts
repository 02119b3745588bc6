const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const LENGTH_MAX = 2_000;
/**
 * Schemes that an operator cannot allow as private schemes: browsers execute code or load data when they open such
 * URLs.
 */
const NEVER = new Set([
  'javascript:',
  'data:',
  'file:',
  'vbscript:',
  'blob:',
  'about:',
  'ws:',
  'wss:',
  'ftp:',
  'http:',
  'https:',
]);

/**
 * A host name or an IP address in the form that the URL parser returns. Stricter than the parser, which also allows
 * `;`, `,` and quotes in a host: these have another meaning in a content security policy.
 */
const HOST = /^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?|\[[0-9a-f:.]+\])$/;

/**
 * Returns the reason why an address cannot be a redirect URI, or `null` if it can. The allowed schemes are https, http
 * to the local computer (RFC 8252, section 7.3), and the private schemes that the operator lists. The address must not
 * contain a fragment, credentials or patterns.
 */
export function redirectFault(uri: unknown, privateSchemes: readonly string[]): string | null {
  if (typeof uri !== 'string' || uri.length > LENGTH_MAX || !/^[\x21-\x7e]+$/.test(uri) || !URL.canParse(uri))
    return 'A redirect URI must be an absolute URI.';
  const { protocol, hostname, username, password } = new URL(uri);
  if (uri.includes('#')) return 'A redirect URI must not have a fragment.';
  if (uri.includes('*') || uri.includes('\\')) return 'A redirect URI must be one address.';
  if (username !== '' || password !== '' || /^[a-z][a-z0-9+.-]*:\/\/[^/?]*@/i.test(uri))
    return 'A redirect URI must not have credentials.';
  if (isWeb(protocol) && !(isHost(hostname) && saysHost(uri, hostname)))
    return 'A redirect URI must name its host as browsers do: scheme://host, without escapes.';
  if (protocol === 'https:') return null;
  if (protocol === 'http:')
    return LOOPBACK.has(hostname) ? null : 'A redirect URI with http must lead to 127.0.0.1, [::1] or localhost.';
  return !NEVER.has(protocol) && privateSchemes.includes(protocol.slice(0, -1))
    ? null
    : 'A redirect URI needs the scheme https, or one that this installation allows.';
}

/**
 * Returns whether a URI is registered. Ignores the port of a local URI, because programs choose the port when they
 * start.
 */
export function isRegistered(given: string, registered: readonly string[]): boolean {
  return registered.some(
    (one) => one === given || (isLoopback(one) && isLoopback(given) && withoutPort(one) === withoutPort(given)),
  );
}

/** Returns true if the address leads to a program on the user's own computer. */
export function isLoopback(uri: string): boolean {
  return URL.canParse(uri) && new URL(uri).protocol === 'http:' && LOOPBACK.has(new URL(uri).hostname);
}

/** Returns the origin for a content security policy and for display. Throws if the host would break the policy. */
export function originOf(uri: string): string {
  const { protocol, hostname, origin } = new URL(uri);
  if (!isWeb(protocol)) return protocol;
  if (!isHost(hostname)) throw new Error('This address has no host that a policy can name.');
  return origin;
}

export function isHost(hostname: string): boolean {
  return hostname.length <= 253 && HOST.test(hostname);
}

export function redirectTo(uri: string, parameters: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(given).toString()}`;
}

function isWeb(protocol: string): boolean {
  return protocol === 'https:' || protocol === 'http:';
}

/**
 * Returns true if the text of the URL shows the host in its usual position. The URL parser also accepts `https:host`,
 * `https:///host`, `%65xample` and `0x7f.1`. In such a URL, a user may see another host, and a browser may resolve the
 * `Location` header to another URL.
 */
function saysHost(uri: string, hostname: string): boolean {
  const said = /^https?:\/\/(\[[^\]]*\]|[^/?#:@]*)(?::\d*)?(?=[/?]|$)/i.exec(uri)?.[1];
  return said?.toLowerCase() === hostname;
}

/**
 * Returns the URI without its port. Does not use the URL parser, because it would also normalize other parts of the
 * URI, which must match exactly.
 */
function withoutPort(uri: string): string {
  return uri.replace(/^(http:\/\/(?:\[[^\]]*\]|[^/:?]*)):\d+/, '$1');
}
