import type { RecordWithTtl } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from './address.js';
import { LookupFailed } from './lookup-failed.js';
import type { Found } from './name-cache.js';

/** Time to wait for a name server before the next one is tried. Increases with each try. */
const SERVER_TIMEOUT_MS = 1_000;
const TRIES = 3;
/** Maximum wait for the second address family: some servers do not respond if a family has no records. */
const OTHER_FAMILY_MS = 500;
/** TTL of the result if the lookup of one address family failed. The next lookup may return both families. */
const PARTIAL_TTL_SECONDS = 5;
const ADDRESSES_MAX = 64;

type Reply = { records: readonly RecordWithTtl[] } | { code: string };

/**
 * Queries the A and AAAA records in parallel, on separate sockets. Unlike `getaddrinfo`, blocks no thread. `servers`
 * contains addresses with an optional port. If it is empty, uses the servers in /etc/resolv.conf. Rejects with
 * `LookupFailed` or with the signal's reason.
 */
export async function askServers(name: string, servers: readonly string[], signal: AbortSignal): Promise<Found> {
  // Each lookup has a separate resolver, which can be canceled separately and uses an unpredictable source port.
  const resolver = new Resolver({ timeout: SERVER_TIMEOUT_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const replies: (Reply | null)[] = [null, null];
    const asked = [resolver.resolve4(name, { ttl: true }), resolver.resolve6(name, { ttl: true })].map(replyOf);
    for (const [index, reply] of asked.entries()) void reply.then((each) => (replies[index] = each));
    await enough(asked);
    if (!replies.some((reply) => reply !== null && hasRecords(reply))) signal.throwIfAborted();
    return combined(replies[0] ?? null, replies[1] ?? null);
  } finally {
    signal.removeEventListener('abort', cancel);
    resolver.cancel();
  }
}

function replyOf(asked: Promise<RecordWithTtl[]>): Promise<Reply> {
  return asked.then(
    (records) => ({ records }),
    (error: unknown) => ({ code: codeOf(error) }),
  );
}

/** Resolves when both replies have arrived, or a short time after the first reply that has addresses. */
async function enough(asked: readonly Promise<Reply>[]): Promise<void> {
  const first = asked.map((reply) =>
    reply.then((each) => (hasRecords(each) ? each : Promise.reject(new Error('none')))),
  );
  const waited = Promise.any(first).then(
    () => sleep(OTHER_FAMILY_MS, undefined, { ref: false }),
    () => undefined,
  );
  await Promise.race([Promise.all(asked), waited]);
}

function combined(four: Reply | null, six: Reply | null): Found {
  const addresses = [...addressesOf(four, 4), ...addressesOf(six, 6)];
  if (addresses.length === 0) throw new LookupFailed(failureOf([four, six]));
  const ttls = [four, six].flatMap((reply) =>
    reply !== null && 'records' in reply ? reply.records.map(({ ttl }) => ttl) : [],
  );
  const isPartial = [four, six].some((reply) => reply === null || ('code' in reply && !SAYS_NO.has(reply.code)));
  return { addresses, ttlSeconds: Math.min(...ttls, isPartial ? PARTIAL_TTL_SECONDS : Number.POSITIVE_INFINITY) };
}

function hasRecords(reply: Reply): boolean {
  return 'records' in reply && reply.records.length > 0;
}

function addressesOf(reply: Reply | null, family: 4 | 6): Address[] {
  if (reply === null || 'code' in reply) return [];
  return reply.records.slice(0, ADDRESSES_MAX).map(({ address }) => ({ address, family }));
}

/** DNS error codes that mean that the name or record does not exist, as opposed to a server failure. */
export const SAYS_NO: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * Returns the failure code for a name without addresses. A server failure takes precedence over missing records,
 * because the name may have addresses in the family whose query failed.
 */
function failureOf(replies: readonly (Reply | null)[]): string {
  const codes = replies.map((reply) => (reply !== null && 'code' in reply ? reply.code : 'ENODATA'));
  return codes.find((code) => !SAYS_NO.has(code)) ?? codes.find((code) => code === 'ENODATA') ?? 'ENOTFOUND';
}

export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'unknown';
}
