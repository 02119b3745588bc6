import type { RecordWithTtl } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from './address.js';
import { LookupFailed } from './lookup-failed.js';
import type { Found } from './name-cache.js';

/** How long one server is waited for before the next one is asked, at first. */
const SERVER_TIMEOUT_MS = 1_000;
const TRIES = 3;
/** Some servers never answer for the family that they do not have: the other one's addresses do not wait for it longer. */
const OTHER_FAMILY_MS = 500;
/** A partial answer may be completed soon. */
const PARTIAL_TTL_SECONDS = 5;
/** More are neither kept nor dialled. */
const ADDRESSES_MAX = 64;

/** What one family's question came to. */
type Reply = { records: readonly RecordWithTtl[] } | { code: string };

/**
 * The A and AAAA records of one complete name, asked for side by side over sockets of their own: no thread waits, unlike
 * with `getaddrinfo`. `servers` are addresses with an optional port; none are those of /etc/resolv.conf, as it stands
 * now. Rejects with `LookupFailed`, or with the reason of the signal.
 */
export async function askServers(name: string, servers: readonly string[], signal: AbortSignal): Promise<Found> {
  // One for each look-up: it can be cancelled alone, and asks from a port that nobody can guess.
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

/** Both replies, or the first one with addresses and a little while. */
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

/** Codes with which a server says that there is no such name or record, and not that it failed. */
export const SAYS_NO: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

/** A failure says more than an absence, which may be of one family only. */
function failureOf(replies: readonly (Reply | null)[]): string {
  const codes = replies.map((reply) => (reply !== null && 'code' in reply ? reply.code : 'ENODATA'));
  return codes.find((code) => !SAYS_NO.has(code)) ?? codes.find((code) => code === 'ENODATA') ?? 'ENOTFOUND';
}

/** The code of an error of the system; `unknown` where there is none. */
export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'unknown';
}
