import { type AuthVerdict, authVerdict } from '#engine/mail/mail-verdicts.js';
import { fieldsOf, headEndOf, headOf } from '#engine/mail/message-head.js';
import { arcKeyNames, keyName, SIGNATURES_MAX } from '#engine/mail/signature-keys.js';
import { loadSignatureChecks } from './mailauth-internals.js';

const { arc, dkimVerify } = loadSignatureChecks();

/** DNS answers for DKIM keys, by name. A name without an entry was never looked up, because of the message's limits. */
export type FoundKeys = Readonly<Record<string, { found: string[] } | { unanswered: string }>>;

export interface CheckedSignature {
  /** Id of the signature, for the DMARC check. */
  id: string;
  domain: string;
  verdict: AuthVerdict;
  underSized: number;
}

/** Results that depend only on the bytes of the message and the keys. */
export interface Signatures {
  dkim: CheckedSignature[];
  arc: AuthVerdict;
  /** Addresses of all From headers, as DMARC reads them, and the number of these headers. */
  from: string[];
  fromFields: number;
}

/** Minimum key size in bits (RFC 8301, section 3.2). */
const KEY_BITS_MIN = 1024;

/** Verifies DKIM (RFC 6376) and ARC (RFC 8617) over the exact bytes. Sends no DNS queries: `keys` has the answers. */
export async function verifySignatures(raw: Buffer, keys: FoundKeys): Promise<Signatures> {
  const resolver = async (name: string): Promise<string[][]> => {
    const known = keys[keyName(name) ?? ''];
    // Only a failure of name servers is temporary. A message with too many keys fails on every retry, and a forger can
    // create such a message on purpose.
    if (known !== undefined && 'unanswered' in known)
      throw Object.assign(new Error('The key is not available now.'), { code: 'ETIMEOUT' });
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

/** mailauth reports every ARC failure as permanent. But a missing DNS answer does not make the chain invalid. */
function arcVerdict(result: string, raw: Buffer, keys: FoundKeys): AuthVerdict {
  if (result !== 'fail') return authVerdict(result);
  return arcKeyNames(fieldsOf(headOf(raw))).some((name) => 'unanswered' in (keys[name] ?? {})) ? 'temperror' : 'fail';
}

interface Verified {
  results: { id: string; signingDomain?: string; status: { result: string; underSized?: number } }[];
  headerFrom: unknown;
  fromFields: number;
  arc: unknown;
}

/** Keeps the first twenty signatures, because each may require a hash over the body. Later signatures are older. */
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
