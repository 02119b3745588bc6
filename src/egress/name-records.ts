/** One MX; the exchange of a null MX (RFC 7505) is empty. */
export interface MxRecord {
  exchange: string;
  priority: number;
}

/** What name servers said: records, perhaps none, which is an answer; or a code such as ETIMEOUT, when nobody said anything. */
export type FoundRecords<T> = { found: T[] } | { unanswered: string };

/**
 * Records of names that callers give, asked of name servers as they are now: nothing is remembered. Never rejects, and
 * answers within four seconds. `share` is whose question it is: one share has only so many under way.
 */
export abstract class NameRecords {
  /** Each with its strings joined. */
  abstract txt(name: string, share: string): Promise<FoundRecords<string>>;

  abstract cname(name: string, share: string): Promise<FoundRecords<string>>;

  abstract mx(name: string, share: string): Promise<FoundRecords<MxRecord>>;

  /** IPv4 and IPv6; unanswered when either is. */
  abstract addresses(name: string, share: string): Promise<FoundRecords<string>>;

  /** The names that an address has (PTR). The caller takes none of them as true before it leads back to the address. */
  abstract pointers(address: string, share: string): Promise<FoundRecords<string>>;
}
