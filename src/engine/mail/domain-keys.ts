import type { PublishedKeys } from './dns-records.js';

export type DkimAlgorithm = 'rsa-2048' | 'ed25519';

/**
 * `pending`: signs once its record is found. `retiring`: no longer signs, but mail that it signed may be in transit.
 */
export type DomainKeyState = 'pending' | 'signing' | 'retiring';

/**
 * Algorithms of the keys that sign a domain's messages. There is always an RSA key, because many receivers ignore
 * Ed25519.
 */
export type DomainAlgorithm = (typeof DOMAIN_ALGORITHMS)[number];

export const DOMAIN_ALGORITHMS = ['rsa-2048', 'rsa-2048+ed25519'] as const;

export interface DomainKey {
  selector: string;
  algorithm: DkimAlgorithm;
  publicKey: string;
  state: DomainKeyState;
  graceSeconds: number;
  requiredUntil: Date | null;
}

/**
 * `dkimSigner`: the owner of the keys that sign the domain's mail. `platformDkimUntil`: time until which the platform's
 * records must stay published for mail in transit.
 */
export interface DomainSigner {
  dkimSigner: 'platform' | 'domain';
  platformDkimUntil: Date | null;
}

/** A domain's keys and signer, after a change. */
export interface KeyChange<K extends DomainKey> {
  signer: DomainSigner;
  keys: K[];
}

/**
 * Two selectors for each algorithm. A selector has one key, because verifiers read only one key record of a selector
 * (RFC 8463).
 */
const SELECTORS: Readonly<Record<DkimAlgorithm, readonly [string, string]>> = {
  'rsa-2048': ['phr1', 'phr2'],
  ed25519: ['phe1', 'phe2'],
};

/**
 * Default time for which the record of a retiring key is still required. Covers 28 hours of attempts, and five days of
 * retries by a relay (RFC 5321, section 4.5.4.1).
 */
export const GRACE_SECONDS_DEFAULT = 7 * 86_400;

/** Returns the algorithms of the keys that sign each message, RSA first. */
export function algorithmsOf(algorithm: DomainAlgorithm): readonly DkimAlgorithm[] {
  return algorithm === 'rsa-2048' ? ['rsa-2048'] : ['rsa-2048', 'ed25519'];
}

/** Returns the newest algorithms of a domain: of its pending keys, or of its signing keys if none is pending. */
export function algorithmIn(keys: readonly DomainKey[]): DomainAlgorithm {
  const newest = keys.some(isPending) ? keys.filter(isPending) : keys.filter(isSigning);
  return newest.some(({ algorithm }) => algorithm === 'ed25519') ? 'rsa-2048+ed25519' : 'rsa-2048';
}

/** Returns whether the domain signs, or is about to sign, with its own keys. */
export function hasOwnKeys(keys: readonly DomainKey[]): boolean {
  return keys.some((key) => isPending(key) || isSigning(key));
}

/**
 * Returns a free selector for a new key of each algorithm. A selector is free if it has no key, or a pending key, which
 * the new key replaces. If an algorithm has no free selector, returns the time at which one becomes free.
 */
export function freeSelectors(
  keys: readonly DomainKey[],
  algorithms: readonly DkimAlgorithm[],
  nowMs: number,
): { selectors: Map<DkimAlgorithm, string> } | { occupiedUntil: Date } {
  const selectors = new Map<DkimAlgorithm, string>();
  for (const algorithm of algorithms) {
    const occupied = keys.filter((key) => key.algorithm === algorithm && !isPending(key) && isNeeded(key, nowMs));
    const free = SELECTORS[algorithm].find((selector) => occupied.every((key) => key.selector !== selector));
    const untilMs = occupied.flatMap(({ requiredUntil }) => requiredUntil?.getTime() ?? []);
    if (free === undefined) return { occupiedUntil: new Date(Math.min(...untilMs)) };
    selectors.set(algorithm, free);
  }
  return { selectors };
}

/** Returns the keys whose records the customer publishes. */
export function publishedKeys(
  { dkimSigner, platformDkimUntil }: DomainSigner,
  keys: readonly DomainKey[],
  nowMs: number,
): PublishedKeys {
  // The record of a pending key is optional while a previous key signs.
  const isFirst = dkimSigner === 'domain' && !keys.some(isSigning);
  return {
    hasPlatformKeys: dkimSigner === 'platform' || (platformDkimUntil !== null && platformDkimUntil.getTime() > nowMs),
    own: keys
      .filter((key) => isNeeded(key, nowMs))
      .map(({ selector, publicKey, algorithm, state }) => ({
        selector,
        publicKey,
        type: algorithm === 'ed25519' ? 'ed25519' : 'rsa',
        required: state !== 'pending' || isFirst,
      })),
  };
}

/**
 * Returns the change after a check that found the records of the selectors in `found`. All pending keys start to sign
 * together, and the previous keys retire. Null if a pending key was not found, or if no key is pending.
 */
export function afterKeysFound<K extends DomainKey>(
  { dkimSigner, platformDkimUntil }: DomainSigner,
  keys: readonly K[],
  found: ReadonlySet<string>,
  nowMs: number,
): KeyChange<K> | null {
  const pending = keys.filter(isPending);
  const [first] = pending;
  if (first === undefined || !pending.every(({ selector }) => found.has(selector))) return null;
  const requiredUntil = new Date(nowMs + first.graceSeconds * 1_000);
  return {
    signer: {
      dkimSigner: 'domain',
      platformDkimUntil: dkimSigner === 'platform' ? requiredUntil : platformDkimUntil,
    },
    keys: keys.flatMap((key) => {
      if (isPending(key)) return [{ ...key, state: 'signing' as const }];
      return isSigning(key) ? retired(key, requiredUntil, nowMs) : [key];
    }),
  };
}

/** Returns the change that makes the platform's key sign. Pending keys are dropped, and signing keys retire. */
export function backToPlatform<K extends DomainKey>(keys: readonly K[], nowMs: number): KeyChange<K> {
  const requiredUntil = new Date(nowMs + GRACE_SECONDS_DEFAULT * 1_000);
  return {
    signer: { dkimSigner: 'platform', platformDkimUntil: null },
    keys: keys.flatMap((key) => {
      if (isPending(key)) return [];
      return isSigning(key) ? retired(key, requiredUntil, nowMs) : [key];
    }),
  };
}

/** Returns whether the key's record must be published. False for a retired key that can be deleted. */
export function isNeeded({ state, requiredUntil }: DomainKey, nowMs: number): boolean {
  return state !== 'retiring' || (requiredUntil !== null && requiredUntil.getTime() > nowMs);
}

function retired<K extends DomainKey>(key: K, requiredUntil: Date, nowMs: number): K[] {
  return requiredUntil.getTime() > nowMs ? [{ ...key, state: 'retiring' as const, requiredUntil }] : [];
}

function isPending({ state }: DomainKey): boolean {
  return state === 'pending';
}

function isSigning({ state }: DomainKey): boolean {
  return state === 'signing';
}
