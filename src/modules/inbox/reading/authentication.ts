import type { NameRecords } from '#egress/name-records.js';
import { authorIn } from '#engine/mail/author.js';
import { type AuthVerdict, authVerdict, bestOf, type DmarcPolicy, type Verdicts } from '#engine/mail/mail-verdicts.js';
import { fieldsOf, HEAD_BYTES_MAX } from '#engine/mail/message-head.js';
import { signatureKeyNames } from '#engine/mail/signature-keys.js';
import { MessageLookups } from '../messages/message-lookups.js';
import type { Read } from './mail-threads.js';
import { loadSenderChecks } from './mailauth-internals.js';
import type { FoundKeys, Signatures } from './signatures.js';

const { evaluateDmarc, spf } = loadSenderChecks();

/**
 * A received message with its connection and envelope data. The headers of the message are not trusted for these data.
 */
export interface Arrived {
  environmentId: number;
  raw: Buffer;
  clientIp: string;
  helo: string;
  /** Address of MAIL FROM. Empty for the null sender, for which HELO is checked instead (RFC 7208, section 2.4). */
  mailFrom: string;
  ownName: string;
}

/** Separate time limits of the DNS lookups: `FIRST_MS_MAX` for SPF and DKIM keys, `THEN_MS_MAX` for DMARC. */
const FIRST_MS_MAX = 10_000;
const THEN_MS_MAX = 5_000;
/**
 * Maximum length of an SMTP path, plus a margin (RFC 5321, section 4.5.3.1). The domain of a longer address is not
 * queried.
 */
const ADDRESS_CHARACTERS_MAX = 320;
/**
 * Maximum number of From addresses to read. A message with several authors counts as having none (`authorOf`), so more
 * addresses are not needed.
 */
const ADDRESSES_MAX = 20;

/** Returns the results of SPF (RFC 7208), DKIM (6376), DMARC (9989) and ARC (8617). DNS failures do not throw. */
export async function authenticate(
  message: Arrived,
  records: NameRecords,
  verify: (raw: Buffer, keys: FoundKeys) => Promise<Read<Signatures>>,
): Promise<Omit<Verdicts, 'spam' | 'virus'>> {
  const lookups = new MessageLookups(records, `mail of ${message.environmentId}`);
  try {
    lookups.allow(FIRST_MS_MAX);
    const [sender, keys] = await Promise.all([senderPolicy(message, lookups), keysOf(message.raw, lookups)]);
    const signatures = await verify(message.raw, keys);
    lookups.allow(THEN_MS_MAX);
    if ('fault' in signatures) {
      const dmarc = await alignment(unsigned(message.raw), sender, lookups);
      return { spf: sender.verdict, dkim: 'permerror', dkimDomains: [], arc: 'permerror', ...dmarc };
    }
    const best = bestOf(signatures.dkim.map(({ verdict }) => verdict));
    const domains = signatures.dkim.filter(({ verdict }) => verdict === best).map(({ domain }) => domain);
    return {
      spf: sender.verdict,
      dkim: best,
      dkimDomains: [...new Set(domains)],
      arc: signatures.arc,
      ...(await alignment(signatures, sender, lookups)),
    };
  } finally {
    lookups.close();
  }
}

/**
 * Returns the author of a message whose signatures cannot be read. Only SPF can authenticate the author then. Without
 * this check, a forger could avoid DMARC by exceeding a limit.
 */
function unsigned(raw: Buffer): Pick<Signatures, 'from' | 'fromFields' | 'dkim'> {
  const author = authorIn(raw, fieldsOf(raw.subarray(0, HEAD_BYTES_MAX)));
  return { from: author.kind === 'one' ? [author.address] : [], fromFields: author.kind === 'one' ? 1 : 0, dkim: [] };
}

interface Alignment {
  dmarc: AuthVerdict;
  /** Policy that the From domain publishes for mail that fails DMARC. Null if there is no record or no DNS answer. */
  dmarcPolicy: DmarcPolicy | null;
}

interface SenderPolicy {
  verdict: AuthVerdict;
  domain: string | null;
}

/** Returns the SPF result (RFC 7208). Applies the limits of the RFC on DNS lookups. */
export async function senderPolicy(
  { clientIp, helo, mailFrom, ownName }: Omit<Arrived, 'raw' | 'environmentId'>,
  lookups: MessageLookups,
): Promise<SenderPolicy> {
  const options = { ip: clientIp, helo, sender: mailFrom, mta: ownName, resolver: lookups.resolve, strict: true };
  const result = (await spf(options as never).catch(() => null)) as {
    status?: { result?: string };
    domain?: string;
  } | null;
  const asked = mailFrom === '' ? helo : mailFrom.slice(mailFrom.lastIndexOf('@') + 1);
  if (result === null) return { verdict: 'temperror', domain: asked };
  return { verdict: authVerdict(result.status?.result), domain: result.domain ?? asked };
}

async function keysOf(raw: Buffer, lookups: MessageLookups): Promise<FoundKeys> {
  const names = signatureKeyNames(fieldsOf(raw.subarray(0, HEAD_BYTES_MAX)));
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await lookups.txt(name)] as const)));
}

/**
 * Returns whether an identity that passed SPF or DKIM is aligned with the From domain. Returns `temperror` instead of
 * `fail` if DNS did not answer for an aligned identity, because the policy cannot be applied then (RFC 7489, section
 * 6.6.2).
 */
export async function alignment(
  signatures: Pick<Signatures, 'from' | 'fromFields' | 'dkim'>,
  sender: SenderPolicy,
  lookups: MessageLookups,
): Promise<Alignment> {
  const known = await evaluated(signatures, sender, ['pass'], lookups);
  if (known.dmarc !== 'fail' || ![sender, ...signatures.dkim].some(({ verdict }) => verdict === 'temperror'))
    return known;
  const possible = await evaluated(signatures, sender, ['pass', 'temperror'], lookups);
  return possible.dmarc === 'fail' ? known : { ...known, dmarc: 'temperror' };
}

/** Returns the DMARC result. An identity counts as passed if its verdict is in `passing`. */
async function evaluated(
  { from, fromFields, dkim }: Pick<Signatures, 'from' | 'fromFields' | 'dkim'>,
  sender: SenderPolicy,
  passing: readonly AuthVerdict[],
  lookups: MessageLookups,
): Promise<Alignment> {
  const options = {
    headerFrom: from.slice(0, ADDRESSES_MAX).map(bounded),
    fromFields,
    resolver: lookups.resolve,
    spfDomains: passing.includes(sender.verdict) && sender.domain !== null ? [sender.domain] : [],
    dkimDomains: dkim.filter(({ verdict }) => passing.includes(verdict)).map(({ id, domain }) => ({ id, domain })),
  };
  const evaluation = (await evaluateDmarc(options as never).catch(() => null)) as {
    response: DmarcResponse | false;
  } | null;
  if (evaluation === null) return { dmarc: 'temperror', dmarcPolicy: null };
  if (evaluation.response === false) return { dmarc: 'permerror', dmarcPolicy: null };
  const { status, policy } = evaluation.response;
  return { dmarc: authVerdict(status.result), dmarcPolicy: policy ?? null };
}

/**
 * Replaces an overlong address by an empty one. Converting it to A-labels would block the main thread, because the
 * conversion takes quadratic time (5 s of CPU for 70,000 letters). An empty address still counts as an author, but has
 * no domain.
 */
const bounded = (address: string): string => (address.length > ADDRESS_CHARACTERS_MAX ? '' : address);

interface DmarcResponse {
  status: { result: string };
  policy?: DmarcPolicy;
}
