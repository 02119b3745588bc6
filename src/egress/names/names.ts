import { hostname, networkInterfaces } from 'node:os';
import type { Address } from './address.js';
import { parseHosts } from './hosts.js';
import { LookupFailed } from './lookup-failed.js';
import { LookupTurns, shareOf } from './lookup-turns.js';
import { type Found, NameCache } from './name-cache.js';
import { askServers, codeOf, SAYS_NO } from './name-servers.js';
import { candidates, parseSearch, type SearchSettings } from './search.js';
import { WatchedFile } from './watched-file.js';

export interface NamesOptions {
  /** DNS_SERVERS; none means those of `resolvConf`. */
  servers: readonly string[];
  /** Monotonic milliseconds. */
  nowMs?: () => number;
  /** For a whole look-up: its turn, every domain that is searched, every server. */
  deadlineMs?: number;
  /** Paths, in the formats of hosts(5) and resolv.conf(5). */
  hosts?: string;
  resolvConf?: string;
}

const DEADLINE_MS = 5_000;
/**
 * A look-up that has taken this long goes on without its place: what healthy servers answer never waits long for names
 * whose servers do not.
 */
const PLACE_MS = 1_000;
const TURNS = { runningMax: 512, runningOfOneMax: 32, waitingMax: 4_096, waitingOfOneMax: 512 };
const CACHED_MAX = 10_000;
/** Interfaces come and go, and asking costs more than most look-ups. */
const FAMILIES_FRESH_MS = 10_000;

/**
 * The addresses of names: from the hosts file, or from name servers, by the search domains of the system, bounded in
 * time and number. Other sources that the system may know (mDNS, LDAP, NIS) are not asked: only `getaddrinfo` reaches
 * them, and its threads are PostgreSQL's and Redis's.
 */
export class Names {
  private readonly nowMs: () => number;
  private readonly deadlineMs: number;
  private readonly servers: readonly string[];
  private readonly hosts: WatchedFile<ReadonlyMap<string, readonly Address[]>>;
  private readonly search: WatchedFile<SearchSettings>;
  private readonly cache: NameCache;
  private readonly turns = new LookupTurns(TURNS);
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

  /** All addresses of a name, those to be tried first in front. Rejects with `LookupFailed`. */
  readonly resolve = async (hostname: string): Promise<readonly Address[]> => {
    const name = hostname.toLowerCase();
    return this.known(name.replace(/\.$/, '')) ?? this.sorted(await this.cache.get(name, () => this.lookUp(name)));
  };

  figures(): { running: number; waiting: number } {
    return { running: this.underWay.size - this.turns.figures().waiting, waiting: this.turns.figures().waiting };
  }

  /** Ends every look-up. */
  close(): void {
    for (const ending of this.underWay) ending.abort(new LookupFailed('ECANCELLED'));
  }

  /** What no server is asked for: names of the hosts file, and those that RFC 6761 keeps from them. */
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
      const release = await this.turns.take(shareOf(name), ending.signal);
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

  /** One after the other, like glibc: the next one where a name is not found or its servers fail, not where they are silent. */
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

  /** IPv6 in front where this machine has a public address of it (RFC 6724 with what can be known here). */
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

/** Global unicast is 2000::/3. */
function hasPublicIpv6(): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ family, address }) => family === 'IPv6' && /^[23]/.test(address)),
  );
}
