import type { NameRecords } from '#egress/name-records.js';
import { type AuthVerdict, authVerdict, bestOf, type DmarcPolicy, type Verdicts } from '#engine/mail/mail-verdicts.js';
import { fieldsOf, HEAD_BYTES_MAX } from '#engine/mail/message-head.js';
import { signatureKeyNames } from '#engine/mail/signature-keys.js';
import { MessageLookups } from '../messages/message-lookups.js';
import type { Read } from './mail-threads.js';
import { loadSenderChecks } from './mailauth-internals.js';
import type { FoundKeys, Signatures } from './signatures.js';

const { evaluateDmarc, spf } = loadSenderChecks();

/** A message with how it came, as the conversation told it; nothing that it says of itself is trusted. */
export interface Arrived {
  environmentId: number;
  raw: Buffer;
  clientIp: string;
  helo: string;
  /** MAIL FROM; empty for the null sender, whose HELO is looked at instead (RFC 7208, section 2.4). */
  mailFrom: string;
  /** What we call ourselves. */
  ownName: string;
}

/** What is asked for SPF and the keys of signatures may take so long, and then DMARC; each is given up for itself. */
const FIRST_MS_MAX = 10_000;
const THEN_MS_MAX = 5_000;
/**
 * A path of SMTP with what some write around it (RFC 5321, section 4.5.3.1); what is longer has no domain that anybody
 * could ask for.
 */
const ADDRESS_CHARACTERS_MAX = 320;
/** Whoever names several is nobody (`authorOf`), however many. */
const ADDRESSES_MAX = 20;

/**
 * Whom a message is from: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 9989) and ARC (RFC 8617). Name servers that are
 * silent cost a verdict, never the message.
 */
export async function authenticate(
  message: Arrived,
  records: NameRecords,
  verify: (raw: Buffer, keys: FoundKeys) => Promise<Read<Signatures>>,
): Promise<Pick<Verdicts, 'spf' | 'dkim' | 'dmarc' | 'dmarcPolicy' | 'arc'>> {
  const lookups = new MessageLookups(records, `mail of ${message.environmentId}`);
  try {
    lookups.allow(FIRST_MS_MAX);
    const [sender, keys] = await Promise.all([senderPolicy(message, lookups), keysOf(message.raw, lookups)]);
    const signatures = await verify(message.raw, keys);
    if ('fault' in signatures)
      return { spf: sender.verdict, dkim: 'permerror', dmarc: 'permerror', dmarcPolicy: null, arc: 'permerror' };
    lookups.allow(THEN_MS_MAX);
    const { dkim, arc } = signatures;
    return {
      spf: sender.verdict,
      dkim: bestOf(dkim.map(({ verdict }) => verdict)),
      arc,
      ...(await alignment(signatures, sender, lookups)),
    };
  } finally {
    lookups.close();
  }
}

/** What DMARC says. */
interface Alignment {
  dmarc: AuthVerdict;
  /**
   * What the domain of From publishes for mail that fails; null without a record, and where name servers did not answer
   * for it.
   */
  dmarcPolicy: DmarcPolicy | null;
}

/** What SPF says, and of which domain. */
interface SenderPolicy {
  verdict: AuthVerdict;
  domain: string | null;
}

/** RFC 7208 to the letter: its own limits on look-ups, too. */
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
 * Returns whether an identity that passed is aligned with the domain of From. When none is, but one that name servers
 * did not answer for would be, the policy can't be applied (RFC 7489, section 6.6.2): that is `temperror` and not
 * `fail`.
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

/** Evaluates DMARC as if the identities with these verdicts had passed. */
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
    dkimDomains: dkim
      .filter(({ verdict }) => passing.includes(verdict))
      .map(({ id, domain, underSized }) => ({ id, domain, underSized })),
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
 * Its A-labels are made on the main loop, and take the square of its length: 70,000 letters were five seconds of CPU.
 * An empty one is an author without a domain, not none.
 */
const bounded = (address: string): string => (address.length > ADDRESS_CHARACTERS_MAX ? '' : address);

interface DmarcResponse {
  status: { result: string };
  policy?: DmarcPolicy;
}
