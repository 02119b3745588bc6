const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const LENGTH_MAX = 2_000;
/** Schemes that run or read something where they are opened, whatever an operator lists. */
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

/** A name or an IPv4 address, or an IPv6 address, as parsing leaves them: URLs may also have `;`, `,` and quotes in a host, which mean something else in a policy. */
const HOST = /^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?|\[[0-9a-f:.]+\])$/;

/**
 * Why a client may not be sent to this address, or null when it may: https, http on this computer alone (RFC 8252, section
 * 7.3), or a private scheme that the operator lists; no fragment, no credentials, nothing that stands for several addresses.
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

/** Whether an address is one of those registered: character by character, but for the port on this computer, which programs choose when they start. */
export function isRegistered(given: string, registered: readonly string[]): boolean {
  return registered.some(
    (one) => one === given || (isLoopback(one) && isLoopback(given) && withoutPort(one) === withoutPort(given)),
  );
}

/** Whether it leads to a program on the person's own computer. */
export function isLoopback(uri: string): boolean {
  return URL.canParse(uri) && new URL(uri).protocol === 'http:' && LOOPBACK.has(new URL(uri).hostname);
}

/** Where a redirect leads, as a content policy and a person name it: nothing of the address as it was written. Throws for a host that no policy can name. */
export function originOf(uri: string): string {
  const { protocol, hostname, origin } = new URL(uri);
  if (!isWeb(protocol)) return protocol;
  if (!isHost(hostname)) throw new Error('This address has no host that a policy can name.');
  return origin;
}

/** Whether a parsed host is a name or an address, and nothing besides. */
export function isHost(hostname: string): boolean {
  return hostname.length <= 253 && HOST.test(hostname);
}

/** The address with parameters added, each once. */
export function redirectTo(uri: string, parameters: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(given).toString()}`;
}

function isWeb(protocol: string): boolean {
  return protocol === 'https:' || protocol === 'http:';
}

/** Whether the text has the host where a reader looks for it. Parsing also takes `https:host`, `https:///host`, `%65xample` and `0x7f.1`, which people and `Location` read differently. */
function saysHost(uri: string, hostname: string): boolean {
  const said = /^https?:\/\/(\[[^\]]*\]|[^/?#:@]*)(?::\d*)?(?=[/?]|$)/i.exec(uri)?.[1];
  return said?.toLowerCase() === hostname;
}

/** Only the port is cut out of the text: parsing would change what else is compared. */
function withoutPort(uri: string): string {
  return uri.replace(/^(http:\/\/(?:\[[^\]]*\]|[^/:?]*)):\d+/, '$1');
}
