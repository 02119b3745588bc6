/** An invalid variable. The message is one line with the variable and the expected value, never a secret value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Value `extension:NAME` of a setting, which selects a provider of an extension. */
export interface ExtensionChoice {
  kind: 'extension';
  name: string;
}

/** Parses `extension:NAME`. Returns null if the value selects no extension. */
export function parseExtensionChoice(text: string): ExtensionChoice | null {
  const name = /^extension:([a-z][a-z0-9-]{0,62})$/.exec(text)?.[1];
  return name === undefined ? null : { kind: 'extension', name };
}

export interface RateLimit {
  readonly count: number;
  readonly periodMs: number;
}

/** Host name of letters, digits and hyphens. */
export const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;
export const LISTENING_HOST = /^[A-Za-z0-9.:_-]+$/;
export const LOOPBACK = '127.0.0.1';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_S = 24 * 60 * 60;

const UNIT_MS: Readonly<Record<string, number>> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS };

const CONTROL_CHARACTERS = /[\x00-\x1f\x7f]/;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** Reads environment variables. Each method returns a checked value or throws `ConfigError`. Blank means not set. */
export class ConfigReader {
  constructor(private readonly env: Readonly<Record<string, string | undefined>>) {}

  text(name: string): string | null {
    return this.env[name]?.trim() || null;
  }

  matching(name: string, pattern: RegExp, expected: string): string | null {
    const value = this.text(name);
    if (value !== null && !pattern.test(value)) throw mismatch(name, expected, value);
    return value;
  }

  /** Reads `key=value,key=value`, percent-encoded, as in W3C Baggage and OpenTelemetry's attributes. */
  attributes(name: string): Record<string, string> {
    const attributes: Record<string, string> = {};
    for (const pair of this.list(name)) {
      const [, key, value] = /^([^=\s]+)\s*=\s*(.*)$/.exec(pair) ?? [];
      const decoded = value === undefined ? null : decodedOf(value);
      if (key === undefined || decoded === null)
        throw mismatch(
          name,
          '`key=value` pairs separated by commas, with percent-encoded values',
          this.text(name) ?? '',
        );
      attributes[key] = decoded;
    }
    return attributes;
  }

  wholeNumber(name: string, min: number, max: number): number | null {
    const value = this.text(name);
    if (value === null) return null;
    const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
    if (!(number >= min && number <= max)) throw mismatch(name, `a whole number from ${min} to ${max}`, value);
    return number;
  }

  flag(name: string): boolean | null {
    const value = this.matching(name, /^(true|false)$/, '`true` or `false`');
    return value === null ? null : value === 'true';
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T | null {
    const value = this.text(name);
    if (value === null) return null;
    const found = allowed.find((candidate) => candidate === value);
    if (found === undefined) throw mismatch(name, `one of ${allowed.join(', ')}`, value);
    return found;
  }

  list(name: string): string[] {
    return (this.text(name) ?? '')
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
  }

  listOf(name: string, admits: (entry: string) => boolean, expected: string): string[] {
    const entries = this.list(name);
    const bad = entries.find((entry) => !admits(entry));
    if (bad !== undefined) throw mismatch(name, expected, bad);
    return entries;
  }

  /** Reads a duration with a unit (`30s`, `15m`, `24h`). `min` and `max` use the same format. */
  durationMs(name: string, min: string, max: string): number | null {
    const value = this.text(name);
    if (value === null) return null;
    const ms = inMs(value);
    if (ms === null || ms < (inMs(min) ?? 0) || ms > (inMs(max) ?? Infinity)) {
      throw mismatch(name, `a duration from ${min} to ${max} such as 30s, 15m or 24h`, value);
    }
    return ms;
  }

  /** Reads `COUNT/SECONDS`. Returns null for `off` and `undefined` if not set. */
  rateLimit(name: string): RateLimit | null | undefined {
    const value = this.text(name);
    if (value === null) return undefined;
    if (value === 'off') return null;
    const [count = NaN, seconds = NaN] = /^\d{1,9}\/\d{1,9}$/.test(value) ? value.split('/').map(Number) : [];
    if (!(count >= 1 && seconds >= 1 && seconds <= DAY_S)) {
      throw mismatch(name, `COUNT/SECONDS with 1 to ${DAY_S} seconds (for example 6000/60), or \`off\``, value);
    }
    return { count, periodMs: seconds * SECOND_MS };
  }

  /** Reads a secret that is sent in a header. The error message never contains it. */
  secret(name: string): string | null {
    const value = this.text(name);
    if (value !== null && CONTROL_CHARACTERS.test(value))
      throw new ConfigError(`${name} contains a line break or another control character: set it again without it.`);
    return value;
  }

  /** Reads a URL that may contain credentials, unchanged. The error message contains no part of it. */
  secretUrl(name: string, protocols: readonly string[]): string | null {
    const value = this.text(name);
    if (value === null) return null;
    const fault = authorityFault(value);
    if (fault !== null) throw new ConfigError(`${name} ${fault}`);
    // Without "//", the URL standard parses the credentials as a part of the path.
    if (!/^[a-z]+:\/\//i.test(value)) throw new ConfigError(`${name} must be ${startsWith(protocols)}.`);
    this.url(name, protocols, true);
    return value;
  }

  /** Reads a URL. The error message never shows a value that may contain credentials (`isSecret`). */
  url(name: string, protocols: readonly string[], isSecret: boolean): URL | null {
    const value = this.text(name);
    if (value === null) return null;
    const url = URL.canParse(value) ? new URL(value) : null;
    if (url === null || !protocols.includes(url.protocol)) {
      const expected = startsWith(protocols);
      throw isSecret || value.includes('@')
        ? new ConfigError(`${name} must be ${expected}.`)
        : mismatch(name, expected, value);
    }
    return url;
  }
}

/**
 * Returns why the credentials of a URL cannot be parsed reliably, or null. A `/`, `?` or `#` in a password must be
 * percent-encoded, because it ends the host part of a URL (RFC 3986, section 3.2). The rest of the password would be
 * parsed as a path or database name, and error messages would reveal it.
 */
export function authorityFault(url: string): string | null {
  const [, authority = '', rest = ''] = /^[^:/?#]+:\/\/([^/?#]*)(.*)$/s.exec(url) ?? [];
  if (CONTROL_CHARACTERS.test(url))
    return 'contains a line break or another control character: set it again without it.';
  if (rest.includes('#') || rest.includes('@')) return HOW_TO_ENCODE;
  const userinfo = authority.slice(0, Math.max(0, authority.lastIndexOf('@')));
  return /%(?![0-9a-f]{2})/i.test(userinfo) || decodedOf(userinfo) === null ? HOW_TO_ENCODE : null;
}

/** Removes the credentials from URLs in a text, up to the last `@`, since a password may contain an `@`. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/(\b[a-z][a-z0-9+.-]*:\/\/)\S*@/gi, '$1[secret]@');
}

const HOW_TO_ENCODE =
  'has a character in its user or password that means something else in a URL: percent-encode it there (%40 for @, %23 for #, %2F for /, %3F for ?, %25 for %).';

/** Parses 32 bytes from base64 (standard or URL alphabet) or hexadecimal. Null for other input. */
export function parseMasterKey(value: string): Buffer | null {
  if (/^[0-9a-f]{64}$/i.test(value)) return Buffer.from(value, 'hex');
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(value) ? Buffer.from(value, 'base64') : null;
}

/** Returns whether the text is an IPv4 or IPv6 address, a slash and a valid prefix length. */
export function isCidr(text: string): boolean {
  const [address = '', prefix = '', ...rest] = text.split('/');
  if (rest.length > 0 || !/^\d{1,3}$/.test(prefix)) return false;
  return (isIPv4(address) && Number(prefix) <= 32) || (isIPv6(address) && Number(prefix) <= 128);
}

export function isAddress(text: string): boolean {
  return isIPv4(text) || isIPv6(text);
}

/** Returns whether the text is a resolver's address, port optional: `1.1.1.1`, `1.1.1.1:53`, `::1`, `[::1]:53`. */
export function isDnsServer(text: string): boolean {
  const [, address, port] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(text) ?? [undefined, text, '53'];
  if (!(Number(port) >= 1 && Number(port) <= 65535)) return false;
  const bare = address?.replace(/^\[(.*)\]$/, '$1') ?? '';
  return isIPv4(bare) || isIPv6(bare);
}

/** Returns whether a text is a web origin as browsers send it: scheme, host, optional port, and nothing else. */
export function isOrigin(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Returns whether a text is a host name in lower case or an IP address, without a port. */
export function isHostName(text: string): boolean {
  return URL.canParse(`http://${text}`) && new URL(`http://${text}`).hostname === text;
}

// Replaces `isIP` of node:net, which only egress and the listeners may import.
function isIPv4(text: string): boolean {
  return IPV4.test(text);
}

function isIPv6(text: string): boolean {
  return /^[0-9a-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]`);
}

function inMs(duration: string): number | null {
  const [, count, unit] = /^(\d{1,9})([smh])$/.exec(duration) ?? [];
  const unitMs = UNIT_MS[unit ?? ''];
  return count === undefined || unitMs === undefined ? null : Number(count) * unitMs;
}

function startsWith(protocols: readonly string[]): string {
  return `a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`;
}

function mismatch(name: string, expected: string, value: string): ConfigError {
  return new ConfigError(`${name} must be ${expected}, not ${JSON.stringify(value)}.`);
}

function decodedOf(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
