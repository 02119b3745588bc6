import { type AuthVerdict, authVerdict } from '#engine/mail/mail-verdicts.js';
import { fieldsOf, headEndOf, headOf } from '#engine/mail/message-head.js';
import { arcKeyNames, keyName, SIGNATURES_MAX } from '#engine/mail/signature-keys.js';
import { loadSignatureChecks } from './mailauth-internals.js';

const { arc, dkimVerify } = loadSignatureChecks();

/**
 * Answers of name servers about keys, by name. A key that is missing was beyond the limits of one message and was never
 * looked up.
 */
export type FoundKeys = Readonly<Record<string, { found: string[] } | { unanswered: string }>>;

/** A signature that was looked at. */
export interface LookedAt {
  /** What DMARC tells signatures apart by. */
  id: string;
  domain: string;
  verdict: AuthVerdict;
  /** Bytes of the body that it does not cover. */
  underSized: number;
}

/** What the bytes of a message say of whom it is from. */
export interface Signatures {
  dkim: LookedAt[];
  arc: AuthVerdict;
  /** Addresses of all From headers, as DMARC reads them, and how many headers there are. */
  from: string[];
  fromFields: number;
}

/** RFC 8301, section 3.2. */
const KEY_BITS_MIN = 1024;

/** Verifies DKIM (RFC 6376) and ARC (RFC 8617) over the very bytes that came. Asks nobody: the keys are there. */
export async function verifySignatures(raw: Buffer, keys: FoundKeys): Promise<Signatures> {
  const resolver = async (name: string): Promise<string[][]> => {
    const known = keys[keyName(name) ?? ''];
    // Only a name server's failure is temporary. A message that exceeds the limits exceeds them at every retry, and a
    // forger can write one on purpose.
    if (known !== undefined && 'unanswered' in known)
      throw Object.assign(new Error('The key is not to be had now.'), { code: 'ETIMEOUT' });
    if (known === undefined || known.found.length === 0)
      throw Object.assign(new Error('There is no such key.'), { code: 'ENODATA' });
    return known.found.map((text) => [text]);
  };
  const options = { resolver, minBitLength: KEY_BITS_MIN };
  const verified = (await dkimVerify(withoutExcess(raw), { ...options, rejectRsaSha1: true })) as unknown as Verified;
  const chain = (await arc(verified.arc as never, options as never).catch(() => null)) as {
    status?: { result?: string };
  } | null;
  return {
    dkim: verified.results.map(({ id, signingDomain, status }) => ({
      id,
      domain: signingDomain ?? '',
      verdict: authVerdict(status.result),
      underSized: status.underSized ?? 0,
    })),
    arc: arcVerdict(chain?.status?.result ?? 'none', raw, keys),
    from: [verified.headerFrom].flat().filter((address): address is string => typeof address === 'string'),
    fromFields: verified.fromFields,
  };
}

/**
 * mailauth reports every failure of a chain as permanent. A key that name servers did not answer for says nothing of
 * the chain.
 */
function arcVerdict(result: string, raw: Buffer, keys: FoundKeys): AuthVerdict {
  if (result !== 'fail') return authVerdict(result);
  return arcKeyNames(fieldsOf(headOf(raw))).some((name) => 'unanswered' in (keys[name] ?? {})) ? 'temperror' : 'fail';
}

/** What mailauth says, as far as it is read. */
interface Verified {
  results: { id: string; signingDomain?: string; status: { result: string; underSized?: number } }[];
  headerFrom: unknown;
  fromFields: number;
  arc: unknown;
}

/**
 * The message without the signatures behind the first twenty: each of them may ask for a hash of its own over the whole
 * body. Those are the lowest, and so the oldest.
 */
function withoutExcess(raw: Buffer): Buffer {
  const end = headEndOf(raw);
  const head = raw.subarray(0, end < 0 ? raw.length : end).toString('latin1');
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
