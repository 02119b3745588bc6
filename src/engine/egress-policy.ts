import type { AddressSet, IpAddress, IpFamily } from './ip-ranges.js';
import { addressSet, ipAddress, isLoopback, isUnspecified, specialPurpose, translatedIpv4 } from './ip-ranges.js';

/**
 * Destinations that Posthorn may connect to. The policy is checked when a URL is stored, and again for every address of
 * every connection.
 *
 * `allow` (EGRESS_ALLOW_CIDRS) lists networks that are allowed on any port. If it contains loopback, the names
 * `localhost` and `*.localhost` are allowed, too. If it contains another network, private names (one label,
 * `.internal`, `.local` …) are allowed, but only with a resolved address that is allowed. `allowHttp` allows plain
 * http:.
 *
 * Names of metadata services and Posthorn's own listeners are always rejected.
 */
export interface EgressPolicy {
  readonly allowHttp: boolean;
  readonly allow: AddressSet;
  readonly ownPorts: readonly number[];
  /**
   * Addresses of Posthorn's own listeners, in canonical form. Loopback and unspecified addresses always count as
   * Posthorn's own.
   */
  readonly ownAddresses: readonly string[];
  /**
   * Port of a connection whose protocol is not HTTP. The port is allowed although the list of dangerous ports may
   * contain it.
   */
  readonly protocolPort?: number;
}

export interface EgressPolicyOptions {
  allowCidrs: readonly string[];
  allowHttp: boolean;
  ownListeners?: readonly { address: string; port: number }[];
}

/** `schema`: the URL is malformed, or has parts that no webhook URL has. `connectivity`: the policy forbids it. */
export type UrlVerdict = { ok: true; url: URL } | { ok: false; reason: string; check: 'schema' | 'connectivity' };

export const URL_LENGTH_MAX = 2048;

/**
 * Builds the egress policy. @throws TypeError if an entry of `allowCidrs` is not a network. The message names the
 * entry.
 */
export function egressPolicy(options: EgressPolicyOptions): EgressPolicy {
  const listeners = options.ownListeners ?? [];
  return {
    allowHttp: options.allowHttp,
    allow: addressSet(options.allowCidrs),
    ownPorts: [...new Set(listeners.map(({ port }) => port))],
    ownAddresses: [...new Set(listeners.map(({ address }) => ipAddress(address)?.text ?? address))],
  };
}

/**
 * Checks the text of a URL. The returned `url` is normalized as in the WHATWG standard and has no trailing dot in its
 * host. Store and call only this `url`, never the original text. `reason` says how to correct the text.
 */
export function checkUrl(raw: string, policy: EgressPolicy): UrlVerdict {
  const url = raw.length <= URL_LENGTH_MAX ? parse(raw) : null;
  if (url === null || url.href.length > URL_LENGTH_MAX) {
    return {
      ok: false,
      reason: `Give an absolute https URL of at most ${URL_LENGTH_MAX} characters.`,
      check: 'schema',
    };
  }
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  const fault = (isWeb ? null : schemeRefusal(url.protocol, policy)) ?? partsRefusal(url);
  if (fault !== null) return { ok: false, reason: fault, check: 'schema' };
  const refusal = originRefusal(url, policy);
  if (refusal !== null) return { ok: false, reason: refusal, check: 'connectivity' };
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  return { ok: true, url };
}

/**
 * Returns null if the origin is allowed, otherwise the reason. For a host name, the resolved addresses must still be
 * checked.
 */
export function originRefusal(
  origin: Pick<URL, 'protocol' | 'hostname' | 'port'>,
  policy: EgressPolicy,
): string | null {
  const refusal = schemeRefusal(origin.protocol, policy);
  if (refusal !== null) return refusal;
  const port = origin.port === '' ? (origin.protocol === 'https:' ? 443 : 80) : Number(origin.port);
  const ip = ipAddress(origin.hostname.replace(/^\[|\]$/g, ''));
  if (ip !== null) {
    return ipRefusal(ip, port, policy) ?? (policy.allow.has(ip) ? null : cleartextPortRefusal(origin.protocol, port));
  }
  const hostname = origin.hostname.replace(/\.$/, '');
  const name = nameKind(hostname);
  if (name === 'public') return portRefusal(port, policy) ?? cleartextPortRefusal(origin.protocol, port);
  if (name === 'loopback' && policy.allow.reachesLoopback) return null;
  if (name === 'network' && policy.allow.reachesNetworks) return null;
  return nameRefusal(name, hostname);
}

/**
 * Returns null if a connection to the address is allowed, otherwise the reason. The reason omits the address, so that
 * users cannot use it to query the internal DNS resolver.
 */
export function addressRefusal(address: string, family: IpFamily, port: number, policy: EgressPolicy): string | null {
  const ip = ipAddress(address);
  // Accepts the opposite mismatch: the resolver reports an IPv4-mapped address as IPv6, but Posthorn treats it as IPv4.
  if (ip === null || (family === 4 && ip.family === 6)) return 'The address is not a valid IP address.';
  return ipRefusal(ip, port, policy);
}

function ipRefusal(ip: IpAddress, port: number, policy: EgressPolicy): string | null {
  if (isOwnListener(ip, port, policy))
    return 'The address is a listener of this service itself: give a URL of another service.';
  // An allowed IPv6 network may contain addresses that translate to IPv4. The IPv4 address must be allowed separately.
  const inner = translatedIpv4(ip).find((ipv4) => ipRefusal(ipv4, port, policy) !== null);
  if (policy.allow.has(ip) && inner === undefined) return null;
  const kind = specialPurpose(ip);
  if (kind !== null) {
    return `The address is ${kind}: give a public address, or have the operator allow its network with EGRESS_ALLOW_CIDRS.`;
  }
  return portRefusal(port, policy);
}

function isOwnListener(ip: IpAddress, port: number, policy: EgressPolicy): boolean {
  return (
    policy.ownPorts.includes(port) && (isLoopback(ip) || isUnspecified(ip) || policy.ownAddresses.includes(ip.text))
  );
}

function parse(raw: string): URL | null {
  try {
    return new URL(raw);
  } catch {
    return null;
  }
}

function schemeRefusal(protocol: string, policy: EgressPolicy): string | null {
  if (protocol === 'https:' || (protocol === 'http:' && policy.allowHttp)) return null;
  return protocol === 'http:'
    ? 'Use https: plain http is off unless the operator sets EGRESS_ALLOW_HTTP=true.'
    : 'Use an https URL.';
}

function partsRefusal(url: URL): string | null {
  if (url.username !== '' || url.password !== '')
    return 'Remove the user name and password: send credentials in a header.';
  // Checks `href`, because `hash` is empty if the URL ends with "#".
  if (url.href.includes('#')) return 'Remove the fragment (from "#" on): it is never sent.';
  return null;
}

function portRefusal(port: number, policy: EgressPolicy): string | null {
  const isOpen =
    port === 443 ||
    port === policy.protocolPort ||
    (port === 80 && policy.allowHttp) ||
    (port >= 1024 && port <= 65535 && !SERVICE_PORTS.has(port));
  return isOpen
    ? null
    : `Port ${port} is not open to webhooks: use 443, 8443, or a port from 1024 on that belongs to no other protocol.`;
}

function nameRefusal(kind: NameKind, hostname: string): string {
  if (kind === 'malformed') return `"${hostname}" is not a host name: give a fully qualified public host name.`;
  if (kind === 'metadata')
    return `"${hostname}" names a metadata service, which is never reached: give a public host name.`;
  return `"${hostname}" names a private host: give a public host name, or have the operator allow its network with EGRESS_ALLOW_CIDRS.`;
}

function cleartextPortRefusal(protocol: string, port: number): string | null {
  return protocol === 'https:' && port === 80 ? 'Port 80 is for http only: use 443.' : null;
}

type NameKind = 'public' | 'loopback' | 'network' | 'metadata' | 'malformed';

function nameKind(hostname: string): NameKind {
  const labels = hostname.split('.');
  if (hostname.length > 253 || labels.some((label) => label === '' || label.length > 63)) return 'malformed';
  if (METADATA_NAMES.has(hostname)) return 'metadata';
  const last = labels.at(-1) ?? '';
  if (last === 'localhost' || last === 'localdomain') return 'loopback';
  return labels.length === 1 || PRIVATE_SUFFIXES.has(last) || hostname.endsWith('.home.arpa') ? 'network' : 'public';
}

const METADATA_NAMES = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.azure.com',
  'instance-data',
  'instance-data.ec2.internal',
  'rancher-metadata',
  'rancher-metadata.rancher.internal',
]);

/** Suffixes of private names: RFC 6762 with appendix G, ICANN (`.internal`) and Kubernetes (`.svc`). */
const PRIVATE_SUFFIXES = new Set(['local', 'internal', 'svc', 'lan', 'intranet', 'corp', 'home', 'private']);

/** Blocked ports from 1024: bad ports of the Fetch standard, and ports of data stores and consoles. */
const SERVICE_PORTS = new Set([
  1080, 1099, 1433, 1434, 1521, 1719, 1720, 1723, 1883, 2049, 2181, 2375, 2376, 2377, 2379, 2380, 2483, 2484, 3128,
  3268, 3269, 3306, 3389, 3659, 4045, 4190, 4222, 4369, 5060, 5061, 5432, 5433, 5671, 5672, 5900, 5901, 5984, 5985,
  5986, 6000, 6379, 6380, 6432, 6443, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 7000, 7001, 7199, 7474, 7687,
  8086, 8200, 8300, 8301, 8302, 8500, 8600, 8983, 9042, 9092, 9160, 9200, 9300, 9418, 10050, 10051, 10080, 10250, 10255,
  10256, 11211, 11214, 11215, 15672, 16379, 26257, 26379, 27017, 27018, 27019, 28015, 28017,
]);
