import { isIP } from 'node:net';
import type { Address } from './address.js';

/** Returns the names of a hosts file, in lower case, each with its addresses in file order (hosts(5)). */
export function parseHosts(text: string): ReadonlyMap<string, readonly Address[]> {
  const hosts = new Map<string, Address[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) add(hosts, name.toLowerCase().replace(/\.$/, ''), { address, family });
  }
  return hosts;
}

function add(hosts: Map<string, Address[]>, name: string, address: Address): void {
  const known = hosts.get(name);
  if (known === undefined) hosts.set(name, [address]);
  else if (!known.some((each) => each.address === address.address)) known.push(address);
}
