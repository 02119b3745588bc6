import { type AuthVerdict, authVerdict } from '#engine/mail/mail-verdicts.js';
import { fieldsOf, type HeadField, headOf, valuesOf } from '#engine/mail/message-head.js';
import { arcKeyNames, keyName, SIGNATURES_MAX } from '#engine/mail/signature-keys.js';
import { expectBoundedHead, verifiedHeadEnd } from './bounded-head.js';
import { loadSignatureChecks } from './mailauth-internals.js';

const { arc, dkimVerify } = loadSignatureChecks();

/** DNS answers for DKIM keys, by name. A missing name was not looked up, because a limit was reached. */
export type FoundKeys = Readonly<Record<string, { found: string[] } | { unanswered: string }>>;

export interface CheckedSignature {
  /** Identifies the signature in the DMARC check. */
  id: string;
  domain: string;
  verdict: AuthVerdict;
}

/** Results that depend only on the bytes of the message and the keys. */
export interface Signatures {
  dkim: CheckedSignature[];
  arc: AuthVerdict;
  /** Addresses of all From headers, as DMARC reads them. `fromFields` is the number of From headers. */
  from: string[];
  fromFields: number;
}

/** Minimum key size in bits (RFC 8301, section 3.2). */
const KEY_BITS_MIN = 1024;

/**
 * Verifies DKIM (RFC 6376) and ARC (RFC 8617) on the exact bytes. Sends no DNS queries, because `keys` contains the
 * answers. Throws if the header section exceeds the limits in `bounded-head.ts`.
 */
export async function verifySignatures(raw: Buffer, keys: FoundKeys): Promise<Signatures> {
  const resolver = async (name: string): Promise<string[][]> => {
    const known = keys[keyName(name) ?? ''];
    // Only a failure of name servers is temporary. A message with too many keys fails on every retry, and an attacker
    // can create such a message on purpose.
    if (known !== undefined && 'unanswered' in known)
      throw Object.assign(new Error('The key is not available now.'), { code: 'ETIMEOUT' });
    if (known === undefined || known.found.length === 0)
      throw Object.assign(new Error('There is no such key.'), { code: 'ENODATA' });
    return known.found.map((text) => [text]);
  };
  const kept = withoutExcess(raw);
  expectBoundedHead(kept);
  const options = { resolver, minBitLength: KEY_BITS_MIN };
  const verified = (await dkimVerify(kept, { ...options, rejectRsaSha1: true })) as unknown as Verified;
  const chain = (await arc(verified.arc as never, options as never).catch(() => null)) as {
    status?: { result?: string };
  } | null;
  const fields = fieldsOf(headOf(raw));
  const isSigned = valuesOf(fields, 'dkim-signature').length > 0;
  return {
    dkim: verified.results.map((result) => ({
      id: result.id,
      domain: result.signingDomain ?? '',
      verdict: dkimVerdict(result, isSigned),
    })),
    arc: arcVerdict(chain?.status?.result ?? 'none', fields, keys),
    from: [verified.headerFrom].flat().filter((address): address is string => typeof address === 'string'),
    fromFields: verified.fromFields,
  };
}

/**
 * Returns the result of a signature in the terms of RFC 8601, section 2.7.1. Corrects two results of mailauth, which
 * reports a wrong body hash as `neutral`, and a signature with an unknown algorithm as missing.
 *
 * Returns `policy` for a signature whose `l=` tag leaves a part of the body unsigned, because anyone can append text to
 * that body. Returns `policy` even if the key could not be looked up.
 */
function dkimVerdict({ status, bodyHash, bodyHashExpecting }: VerifiedSignature, isSigned: boolean): AuthVerdict {
  const verdict = authVerdict(status.result);
  if (verdict === 'none') return isSigned ? 'neutral' : 'none';
  if (verdict === 'neutral' && bodyHash !== undefined && bodyHash !== bodyHashExpecting) return 'fail';
  return (status.underSized ?? 0) > 0 && (verdict === 'pass' || verdict === 'temperror') ? 'policy' : verdict;
}

/**
 * Returns the ARC verdict. mailauth reports every failure as permanent, but a failure after a missing DNS answer is
 * temporary.
 */
function arcVerdict(result: string, fields: readonly HeadField[], keys: FoundKeys): AuthVerdict {
  if (result !== 'fail') return authVerdict(result);
  return arcKeyNames(fields).some((name) => 'unanswered' in (keys[name] ?? {})) ? 'temperror' : 'fail';
}

interface VerifiedSignature {
  id: string;
  signingDomain?: string;
  /** Hash of the body, and the hash in the `bh=` tag. Absent if the signature was not verified. */
  bodyHash?: string;
  bodyHashExpecting?: string;
  /** `underSized`: number of bytes of the body that the `l=` tag leaves unsigned. */
  status: { result: string; underSized?: number };
}

interface Verified {
  results: VerifiedSignature[];
  headerFrom: unknown;
  fromFields: number;
  arc: unknown;
}

/**
 * Returns the message with only its first (newest) twenty DKIM signatures, because each may require another hash of the
 * body.
 */
function withoutExcess(raw: Buffer): Buffer {
  const head = raw.subarray(0, verifiedHeadEnd(raw)).toString('latin1');
  let seen = 0;
  let isDropped = false;
  const kept = head.split(/(?<=\n)/).filter((line) => {
    if (/^[ \t]/.test(line)) return !isDropped;
    isDropped = /^dkim-signature[ \t]*:/i.test(line) && (seen += 1) > SIGNATURES_MAX;
    return !isDropped;
  });
  return seen <= SIGNATURES_MAX
    ? raw
    : Buffer.concat([Buffer.from(kept.join(''), 'latin1'), raw.subarray(head.length)]);
}
