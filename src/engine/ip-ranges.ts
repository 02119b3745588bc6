import { BlockList, isIP, SocketAddress } from 'node:net';

export type IpFamily = 4 | 6;

const REMEMBERED_MAX = 1_000;

/** IP address in canonical spelling. An IPv4-mapped IPv6 address is represented as the IPv4 address. */
export interface IpAddress {
  text: string;
  family: IpFamily;
  hextets: readonly number[];
}

/** Set of addresses. `reachesLoopback` and `reachesNetworks` determine which kinds of host names are allowed. */
export interface AddressSet {
  has(ip: IpAddress): boolean;
  readonly reachesLoopback: boolean;
  /** True if the set contains any network other than loopback. */
  readonly reachesNetworks: boolean;
}

/** Parses an IP address. Returns `null` if the text is not an IP address or has a zone. */
export function ipAddress(text: string): IpAddress | null {
  const family = isIP(text);
  if (family === 0 || text.includes('%')) return null;
  if (family === 4) return { text, family: 4, hextets: [] };
  const hextets = hextetsOf(text);
  const isMapped = hextets.slice(0, 5).every((part) => part === 0) && hextets[5] === 0xffff;
  return isMapped
    ? { text: dotted(hextets, 6), family: 4, hextets: [] }
    : { text: canonical(text), family: 6, hextets };
}

/**
 * Parses addresses and networks in CIDR notation. The set contains both 127.0.0.1 and ::1 or neither, because
 * `localhost` resolves to both.
 *
 * @throws TypeError that names the entry that is not a network
 */
export function addressSet(cidrs: readonly string[]): AddressSet {
  // One list for IPv4 and one for IPv6: in a shared list, ::/0 would also match every IPv4 address.
  const lists = { 4: new BlockList(), 6: new BlockList() };
  let reachesNetworks = false;
  for (const cidr of cidrs) {
    const { address, prefix, family } = network(cidr);
    lists[family].addSubnet(address, prefix, nameOf(family));
    reachesNetworks ||= !isLoopbackNetwork(address, prefix, family);
  }
  const reachesLoopback = lists[4].check('127.0.0.1', 'ipv4') || lists[6].check('::1', 'ipv6');
  return {
    has: remembered(
      (ip) => lists[ip.family].check(ip.text, nameOf(ip.family)) || (reachesLoopback && isLoopbackHost(ip)),
    ),
    reachesLoopback,
    reachesNetworks,
  };
}

/** Describes the special purpose of an address in words. Returns `null` for an address of the public internet. */
export const specialPurpose = remembered((ip): string | null => {
  // Created once for all lists, because parsing the text is most of the work.
  const address = new SocketAddress({ address: ip.text, family: nameOf(ip.family) });
  for (const { label, list } of ip.family === 4 ? SPECIAL_V4 : SPECIAL_V6) {
    if (list.check(address)) return label;
  }
  return null;
});

export function isLoopback(ip: IpAddress): boolean {
  return ip.family === 4 ? ip.text.startsWith('127.') : ip.text === '::1';
}

export function isUnspecified(ip: IpAddress): boolean {
  return ip.text === '0.0.0.0' || ip.text === '::';
}

/**
 * Returns the IPv4 addresses that a translator or tunnel would connect to for an IPv6 address: IPv4-compatible (RFC
 * 4291 2.5.5.1), SIIT (RFC 7915), NAT64 (RFC 6052 2.2, 8215), 6to4 (RFC 3056), Teredo (RFC 4380 4).
 */
export function translatedIpv4(ip: IpAddress): readonly IpAddress[] {
  if (ip.family === 4 || isLoopback(ip) || isUnspecified(ip)) return [];
  const h = ip.hextets;
  const at = (index: number): number => h[index] ?? 0;
  const startsWith = (...parts: number[]): boolean => parts.every((part, index) => at(index) === part);
  if (startsWith(0, 0, 0, 0, 0, 0) || startsWith(0, 0, 0, 0, 0xffff, 0)) return ipv4s(dotted(h, 6));
  if (startsWith(0x64, 0xff9b, 0, 0, 0, 0)) return ipv4s(dotted(h, 6));
  if (startsWith(0x64, 0xff9b, 1)) {
    // The network's NAT64 prefix has an unknown length. A /48 prefix puts the IPv4 address around octet 8, a /96 prefix
    // at the end. Reads both positions. The unused one usually contains zeros.
    const readings = ipv4s(dotted(h, 6), dotted([at(3), ((at(4) & 0xff) << 8) | (at(5) >> 8)], 0));
    const used = readings.filter((ipv4) => !isUnspecified(ipv4));
    return used.length > 0 ? used : readings;
  }
  if (startsWith(0x2002)) return ipv4s(dotted(h, 1));
  if (startsWith(0x2001, 0)) return ipv4s(dotted(h, 2), dotted([at(6) ^ 0xffff, at(7) ^ 0xffff], 0));
  return [];
}

/** Returns a function that caches the results of `judge` per address. A call of `judge` takes 15 µs. */
function remembered<T>(judge: (ip: IpAddress) => T): (ip: IpAddress) => T {
  const known = new Map<string, T>();
  return (ip) => {
    let verdict = known.get(ip.text);
    if (verdict !== undefined) return verdict;
    if (known.size >= REMEMBERED_MAX) known.clear();
    known.set(ip.text, (verdict = judge(ip)));
    return verdict;
  };
}

const nameOf = (family: IpFamily): 'ipv4' | 'ipv6' => (family === 4 ? 'ipv4' : 'ipv6');

const isLoopbackHost = (ip: IpAddress): boolean => ip.text === '127.0.0.1' || ip.text === '::1';

/** Formats an IPv6 address by the URL standard: hexadecimal, lower case, compressed, without a dotted IPv4 part. */
const canonical = (ipv6: string): string => new URL(`http://[${ipv6}]/`).hostname.slice(1, -1);

function hextetsOf(ipv6: string): number[] {
  const [head = '', tail] = canonical(ipv6).split('::');
  const parse = (text: string | undefined): number[] => (text ? text.split(':').map((part) => parseInt(part, 16)) : []);
  const left = parse(head);
  const right = parse(tail);
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}

function dotted(hextets: readonly number[], from: number): string {
  const high = hextets[from] ?? 0;
  const low = hextets[from + 1] ?? 0;
  return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;
}

const ipv4s = (...texts: string[]): IpAddress[] => texts.map((text) => ({ text, family: 4, hextets: [] }));

function network(cidr: string): { address: string; prefix: number; family: IpFamily } {
  const [, text = '', bits] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(cidr.trim()) ?? [];
  const ip = ipAddress(text);
  const longest = ip?.family === 4 ? 32 : 128;
  const prefix = bits === undefined ? longest : Number(bits);
  if (ip === null || prefix > longest || (ip.family === 4 && text.includes(':'))) {
    throw new TypeError(`"${cidr}" is not a network: write it like 10.0.0.0/8 or fd00::/8.`);
  }
  return { address: ip.text, prefix, family: ip.family };
}

function isLoopbackNetwork(address: string, prefix: number, family: IpFamily): boolean {
  return family === 4 ? address.startsWith('127.') && prefix >= 8 : address === '::1' && prefix === 128;
}

interface SpecialRange {
  label: string;
  list: BlockList;
}

function special(family: IpFamily, label: string, ...cidrs: string[]): SpecialRange {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const { address, prefix } = network(cidr);
    list.addSubnet(address, prefix, nameOf(family));
  }
  return { label, list };
}

/** IANA IPv4 Special-Purpose Address Registry (RFC 6890). Also Azure's wire server, which has a public address. */
const SPECIAL_V4: readonly SpecialRange[] = [
  special(4, 'a loopback address', '127.0.0.0/8'),
  special(4, 'a link-local or metadata address', '169.254.0.0/16', '168.63.129.16/32'),
  special(4, 'a private network address', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'),
  special(4, 'a multicast or broadcast address', '224.0.0.0/4', '255.255.255.255/32'),
  special(4, 'a documentation address', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'),
  special(
    4,
    'a reserved address',
    '0.0.0.0/8',
    '192.0.0.0/24',
    '192.31.196.0/24',
    '192.52.193.0/24',
    '192.88.99.0/24',
    '192.175.48.0/24',
    '198.18.0.0/15',
    '240.0.0.0/4',
  ),
];

/**
 * IANA IPv6 Special-Purpose Address Registry. The last entry covers all addresses outside 2000::/3 (global unicast).
 */
const SPECIAL_V6: readonly SpecialRange[] = [
  special(6, 'a loopback address', '::1/128'),
  special(6, 'a link-local address', 'fe80::/10', 'fec0::/10'),
  special(6, 'a private network address', 'fc00::/7'),
  special(6, 'a multicast address', 'ff00::/8'),
  special(6, 'a documentation address', '2001:db8::/32', '3fff::/20'),
  special(
    6,
    'an IPv4 translation or tunnel address',
    '64:ff9b::/96',
    '64:ff9b:1::/48',
    '::ffff:0:0:0/96',
    '2002::/16',
    '2001::/32',
  ),
  special(6, 'a reserved address', '2001::/23', '2620:4f:8000::/48', '::/3', '4000::/2', '8000::/1'),
];
