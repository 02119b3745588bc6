import { hostname, networkInterfaces } from 'node:os';
import type { Address } from './address.js';
import { parseHosts } from './hosts.js';
import { LookupFailed } from './lookup-failed.js';
import { LookupQueue, shareOf } from './lookup-queue.js';
import { type Found, NameCache } from './name-cache.js';
import { askServers, codeOf, SAYS_NO } from './name-servers.js';
import { candidates, parseSearch, type SearchSettings } from './search.js';
import { WatchedFile } from './watched-file.js';

export interface NamesOptions {
  /** Value of DNS_SERVERS. If empty, the servers of `resolvConf` are used. */
  servers: readonly string[];
  /** Returns the time on a monotonic clock, in milliseconds. */
  nowMs?: () => number;
  /** Time limit of a whole lookup: the wait for a slot, and all search domains and servers. */
  deadlineMs?: number;
  /** Paths to files in the formats of hosts(5) and resolv.conf(5). */
  hosts?: string;
  resolvConf?: string;
}

const DEADLINE_MS = 5_000;
/**
 * Time after which a lookup no longer counts toward the limit of concurrent lookups, although it continues. Slow
 * servers then do not delay other names.
 */
const PLACE_MS = 1_000;
const QUEUE_LIMITS = { runningMax: 512, runningOfOneMax: 32, waitingMax: 4_096, waitingOfOneMax: 512 };
const CACHED_MAX = 10_000;
/** Minimum time between two reads of the network interfaces. A read costs more than most lookups. */
const FAMILIES_FRESH_MS = 10_000;

/**
 * Resolves names with the hosts file, name servers and the system's search domains. Limits the time and the number of
 * lookups. Does not use other sources (mDNS, LDAP, NIS), because they need `getaddrinfo`, which uses the same threads
 * as the PostgreSQL and Redis clients.
 */
export class Names {
  private readonly nowMs: () => number;
  private readonly deadlineMs: number;
  private readonly servers: readonly string[];
  private readonly hosts: WatchedFile<ReadonlyMap<string, readonly Address[]>>;
  private readonly search: WatchedFile<SearchSettings>;
  private readonly cache: NameCache;
  private readonly queue = new LookupQueue(QUEUE_LIMITS);
  private readonly underWay = new Set<AbortController>();
  private six = { isFirst: false, freshUntilMs: Number.NEGATIVE_INFINITY };

  constructor({
    servers,
    nowMs = () => performance.now(),
    deadlineMs = DEADLINE_MS,
    hosts = '/etc/hosts',
    resolvConf = '/etc/resolv.conf',
  }: NamesOptions) {
    this.nowMs = nowMs;
    this.deadlineMs = deadlineMs;
    this.servers = servers;
    this.hosts = new WatchedFile(hosts, parseHosts, nowMs);
    this.search = new WatchedFile(resolvConf, (text) => parseSearch(text, hostname()), nowMs);
    this.cache = new NameCache({ entriesMax: CACHED_MAX, nowMs });
  }

  /** Resolves all addresses of a name, in the order to try them. Rejects with `LookupFailed`. */
  readonly resolve = async (hostname: string): Promise<readonly Address[]> => {
    const name = hostname.toLowerCase();
    return this.known(name.replace(/\.$/, '')) ?? this.sorted(await this.cache.get(name, () => this.lookUp(name)));
  };

  figures(): { running: number; waiting: number } {
    return { running: this.underWay.size - this.queue.figures().waiting, waiting: this.queue.figures().waiting };
  }

  close(): void {
    for (const ending of this.underWay) ending.abort(new LookupFailed('ECANCELLED'));
  }

  /** Returns the addresses of a name that needs no query: it is in the hosts file, or reserved by RFC 6761. */
  private known(name: string): readonly Address[] | null {
    const listed = this.hosts.read().get(name);
    if (listed !== undefined) return listed;
    const last = name.slice(name.lastIndexOf('.') + 1);
    if (last === 'localhost') return LOOPBACK;
    if (last === 'invalid') throw new LookupFailed('ENOTFOUND');
    return null;
  }

  private async lookUp(name: string): Promise<Found> {
    const ending = new AbortController();
    const late = setTimeout(() => ending.abort(new LookupFailed('ETIMEOUT')), this.deadlineMs);
    this.underWay.add(ending);
    try {
      const release = await this.queue.take(shareOf(name), ending.signal);
      const hold = setTimeout(release, PLACE_MS);
      try {
        return await this.ask(candidates(name, this.search.read()), ending.signal);
      } finally {
        clearTimeout(hold);
        release();
      }
    } finally {
      clearTimeout(late);
      this.underWay.delete(ending);
    }
  }

  /**
   * Queries names in order. Continues after a missing name or a server failure, but not after a timeout. glibc does the
   * same.
   */
  private async ask(complete: readonly string[], signal: AbortSignal): Promise<Found> {
    const reasons: string[] = [];
    for (const name of complete) {
      try {
        return await askServers(name, this.servers, signal);
      } catch (error) {
        const reason = error instanceof LookupFailed ? error.reason : codeOf(error);
        if (signal.aborted || !(SAYS_NO.has(reason) || reason === 'ESERVFAIL')) throw new LookupFailed(reason);
        reasons.push(reason);
      }
    }
    throw new LookupFailed(['ENODATA', 'ESERVFAIL'].find((reason) => reasons.includes(reason)) ?? 'ENOTFOUND');
  }

  /** Returns the addresses, IPv6 first if this machine has a public IPv6 address (a simplification of RFC 6724). */
  private sorted(addresses: readonly Address[]): readonly Address[] {
    const nowMs = this.nowMs();
    if (nowMs >= this.six.freshUntilMs)
      this.six = { isFirst: hasPublicIpv6(), freshUntilMs: nowMs + FAMILIES_FRESH_MS };
    return this.six.isFirst ? addresses.toSorted((one, other) => other.family - one.family) : addresses;
  }
}

const LOOPBACK: readonly Address[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** Returns whether this machine has a public IPv6 address: one in 2000::/3 (global unicast). */
function hasPublicIpv6(): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ family, address }) => family === 'IPv6' && /^[23]/.test(address)),
  );
}
