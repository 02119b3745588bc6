import { BlockList } from 'node:net';
import { type IpAddress, ipAddress } from '../ip-ranges.js';

/**
 * A set of IP addresses and networks. Unlike `AddressSet` of the egress policy, it contains only the listed entries.
 */
export interface Networks {
  has(ip: IpAddress): boolean;
}

/** Returns the entries as a set. If an entry is neither an address nor a CIDR network, returns the first such entry. */
export function networksOf(entries: readonly string[]): Networks | string {
  // One list for IPv4 and one for IPv6: in a shared list, ::/0 would also contain every IPv4 address.
  const lists = { 4: new BlockList(), 6: new BlockList() };
  for (const entry of entries) {
    const [, text = '', bits] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
    const ip = ipAddress(text);
    const longest = ip?.family === 4 ? 32 : 128;
    const prefix = bits === undefined ? longest : Number(bits);
    // In an IPv4-mapped IPv6 address, the prefix length is 96 bits larger than in the IPv4 address.
    if (ip === null || prefix > longest || (bits !== undefined && ip.family === 4 && text.includes(':'))) return entry;
    lists[ip.family].addSubnet(ip.text, prefix, nameOf(ip));
  }
  return { has: (ip) => lists[ip.family].check(ip.text, nameOf(ip)) };
}

const nameOf = ({ family }: IpAddress): 'ipv4' | 'ipv6' => (family === 4 ? 'ipv4' : 'ipv6');
