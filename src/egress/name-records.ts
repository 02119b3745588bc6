/** One MX record. `exchange` is empty for a null MX (RFC 7505). */
export interface MxRecord {
  exchange: string;
  priority: number;
}

/** Result of a DNS query: the records, possibly none, or a code such as ETIMEOUT if no name server responded. */
export type FoundRecords<T> = { found: T[] } | { unanswered: string };

/**
 * Queries DNS without a cache. Never rejects, and resolves within four seconds. `share` names a group of queries. The
 * number of concurrent queries in a group is limited.
 */
export abstract class NameRecords {
  /** TXT records, each with its strings joined. */
  abstract txt(name: string, share: string): Promise<FoundRecords<string>>;

  abstract cname(name: string, share: string): Promise<FoundRecords<string>>;

  abstract mx(name: string, share: string): Promise<FoundRecords<MxRecord>>;

  /** IPv4 and IPv6 addresses. The result is `unanswered` if the query for either family is unanswered. */
  abstract addresses(name: string, share: string): Promise<FoundRecords<string>>;

  /** Names of an IP address (PTR records). The caller must verify that a name resolves back to this address. */
  abstract pointers(address: string, share: string): Promise<FoundRecords<string>>;
}
