import { BlockList } from 'node:net';
import { type IpAddress, ipAddress } from '../ip-ranges.js';

/** A set of addresses and networks: exactly these, unlike the `AddressSet` of the egress policy. */
export interface Networks {
  has(ip: IpAddress): boolean;
}

/** The set, or the first entry that is neither an address nor a network in CIDR notation. */
export function networksOf(entries: readonly string[]): Networks | string {
  // One list per family: in a shared one ::/0 would also hold every IPv4 address.
  const lists = { 4: new BlockList(), 6: new BlockList() };
  for (const entry of entries) {
    const [, text = '', bits] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
    const ip = ipAddress(text);
    const longest = ip?.family === 4 ? 32 : 128;
    const prefix = bits === undefined ? longest : Number(bits);
    // A prefix of a mapped address counts from another end than the IPv4 address that it becomes.
    if (ip === null || prefix > longest || (bits !== undefined && ip.family === 4 && text.includes(':'))) return entry;
    lists[ip.family].addSubnet(ip.text, prefix, nameOf(ip));
  }
  return { has: (ip) => lists[ip.family].check(ip.text, nameOf(ip)) };
}

const nameOf = ({ family }: IpAddress): 'ipv4' | 'ipv6' => (family === 4 ? 'ipv4' : 'ipv6');
