import {
  dkimKeyFault,
  dmarcFault,
  isDkimKey,
  isDmarc,
  isSpf,
  publicKeyOf,
  spfFault,
  spfMechanisms,
} from './record-syntax.js';

/**
 * Use of the domain: receiving webhooks (`webhook`), mail in both directions (`email`), or outgoing mail only
 * (`email-send`).
 */
export type DomainKind = 'webhook' | 'email' | 'email-send';

export type RecordRole = 'ownership' | 'dkim' | 'mail_from' | 'spf' | 'mx' | 'cname' | 'dmarc';

export interface DnsRecord {
  record: RecordRole;
  type: 'TXT' | 'CNAME' | 'MX';
  /** Full name of the record, without a trailing dot. */
  name: string;
  value: string;
  /** Priority of an MX record. Null for other types. */
  priority: number | null;
  /** Time to live in seconds. */
  ttl: number;
  required: boolean;
}

export interface PlatformNames {
  /** PLATFORM_DOMAIN. Null if the domain has no public DNS, for example on a laptop. */
  domain: string | null;
  /** Host name to which the CNAME records of custom hosts must point. */
  ingestHost: string;
  /** Host name to which MX records must point. */
  mailHost: string;
  dkim: readonly DkimPublicKey[];
}

/** A DKIM selector, and the `p=` value of its key (RFC 6376, section 3.6.1, and RFC 8463, section 4). */
export interface DkimPublicKey {
  selector: string;
  publicKey: string;
  /** Type of the key in `k=`. Defaults to `rsa`. */
  type?: 'rsa' | 'ed25519';
}

/** The DKIM keys whose records the customer publishes. */
export interface PublishedKeys {
  /** Whether the records of the platform's keys are needed. */
  hasPlatformKeys: boolean;
  own: readonly (DkimPublicKey & { required: boolean })[];
}

/** Result of a DNS query. `found` is empty if the name or the record does not exist. */
export type DnsAnswer<T> = { found: readonly T[] } | { unanswered: string };

/** An observed MX record. The exchange of a null MX (RFC 7505) is empty. */
export interface SeenMx {
  exchange: string;
  priority: number;
}

export interface ObservedRecords {
  /** Texts of the TXT records. The strings of each record are joined. */
  txt?: DnsAnswer<string>;
  cname?: DnsAnswer<string>;
  mx?: DnsAnswer<SeenMx>;
  addresses?: DnsAnswer<string>;
  /** Addresses of Posthorn's host, to which the CNAME record should point. */
  ourAddresses?: DnsAnswer<string>;
}

/**
 * Result of checking a record. `missing` and `wrong` are definite. `unanswered`: the state of the record is unknown.
 */
export interface Judgement {
  verdict: 'right' | 'missing' | 'wrong' | 'unanswered';
  /** Describes the observed state for the person who can correct it. Null for a correct record. */
  error: string | null;
}

/**
 * Posthorn's own selectors. They differ from the selectors of the customer's other senders, such as SendGrid's s1 and
 * s2.
 */
export const DKIM_SELECTORS = ['ph1', 'ph2'] as const;

const TTL_SECONDS = 3_600;
const PRIORITY = 10;
const SHOWN_CHARACTERS_MAX = 120;
const SHOWN_MAX = 5;

const PLATFORM_KEYS: PublishedKeys = { hasPlatformKeys: true, own: [] };

/** Returns the records that the customer must publish, in the recommended order. */
export function recordsOf(
  { host, kind, token }: { host: string; kind: DomainKind; token: string },
  platform: PlatformNames,
  { hasPlatformKeys, own }: PublishedKeys = PLATFORM_KEYS,
): DnsRecord[] {
  const ownership = record('ownership', 'TXT', ownershipName(host), `posthorn-verification=${token}`);
  if (kind === 'webhook') return [ownership, record('cname', 'CNAME', host, platform.ingestHost)];
  return [
    ownership,
    ...(hasPlatformKeys ? platform.dkim.map((key) => dkimRecord(host, key, platform.domain)) : []),
    ...own.map((key) => ({ ...dkimRecord(host, key, null), required: key.required })),
    ...(kind === 'email' ? [record('mx', 'MX', host, platform.mailHost)] : []),
    ...(platform.domain === null
      ? []
      : [
          optional(record('mail_from', 'MX', returnPathHost(host), platform.mailHost)),
          optional(record('spf', 'TXT', returnPathHost(host), `v=spf1 include:${spfHost(platform.domain)} ~all`)),
        ]),
    optional(record('dmarc', 'TXT', `_dmarc.${host}`, 'v=DMARC1; p=none;')),
  ];
}

export function ownershipName(host: string): string {
  return `_posthorn.${host}`;
}

export function returnPathHost(host: string): string {
  return `bounce.${host}`;
}

/** Returns the name of the SPF record in which the operator lists the hosts that send for the platform. */
export function spfHost(platformDomain: string): string {
  return `spf.${platformDomain}`;
}

/** Returns the name of a DKIM record below a customer's domain or the platform's. */
export function dkimHost(selector: string, domain: string): string {
  return `${selector}._domainkey.${domain}`;
}

/** Returns the text of a DKIM key record (RFC 6376, section 3.6.1). */
export function dkimText(publicKey: string, type: DkimPublicKey['type'] = 'rsa'): string {
  return `v=DKIM1; k=${type}; p=${publicKey}`;
}

export function questionsOf({ record: role, type }: DnsRecord): readonly (keyof ObservedRecords)[] {
  if (role === 'dkim') return type === 'CNAME' ? ['cname', 'txt'] : ['txt'];
  if (role === 'cname') return ['cname', 'addresses', 'ourAddresses'];
  return type === 'MX' ? ['mx'] : ['txt'];
}

export function judge(wanted: DnsRecord, observedRecords: ObservedRecords, dkim: readonly DkimPublicKey[]): Judgement {
  switch (wanted.record) {
    case 'ownership':
      return judgeOwnership(wanted, observedRecords);
    case 'dkim':
      return judgeDkim(wanted, observedRecords, dkim);
    case 'mail_from':
    case 'mx':
      return judgeMx(wanted, observedRecords);
    case 'spf':
      return judgeSpf(wanted, observedRecords);
    case 'cname':
      return judgeCname(wanted, observedRecords);
    case 'dmarc':
      return judgeDmarc(wanted, observedRecords);
  }
}

/** Returns the MX records of other services, from which Posthorn's MX record would divert mail. */
export function foreignMx(seen: readonly SeenMx[], mailHost: string): SeenMx[] {
  return seen.filter(({ exchange }) => exchange !== '' && plainName(exchange) !== mailHost);
}

/**
 * Returns the implicit MX record of a domain without MX records, whose mail goes to its own addresses (RFC 5321,
 * section 5.1). Empty if it has no addresses, or only those of Posthorn's mail host.
 */
export function implicitMx(host: string, addresses: readonly string[], ours: readonly string[]): SeenMx[] {
  return addresses.every((address) => ours.includes(address)) ? [] : [{ exchange: host, priority: 0 }];
}

/** Returns a record text without quotes, line breaks and a final semicolon, which users and DNS providers add. */
export function plainText(text: string): string {
  const bare = text.trim().replace(/(?<![\\;\s])[;\s]+$/, '');
  const joined = bare
    .replace(/^"([^]*)"$/, (_whole, inner: string) => inner.replace(/"\s*"/g, ''))
    .replace(/\\([";])/g, '$1');
  return joined
    .replace(/\s+/g, ' ')
    .replace(/(?<![;\s])[;\s]+$/, '')
    .trim();
}

const RIGHT: Judgement = { verdict: 'right', error: null };

function judgeOwnership({ name, value }: DnsRecord, { txt }: ObservedRecords): Judgement {
  return answered(txt, name, 'TXT', (texts) => {
    const plain = texts.map(plainText);
    if (plain.some((text) => text.toLowerCase() === value.toLowerCase())) return RIGHT;
    const ours = plain.filter((text) => text.toLowerCase().startsWith('posthorn-verification='));
    return ours.length > 0
      ? wrong(
          `The TXT record at ${name} has the token of another domain or of an earlier attempt: ${shown(ours)}. Replace it by ${value}, or add a second record with that value.`,
        )
      : wrong(`The TXT records at ${name} are ${shown(plain)}: add one with ${value}.`);
  });
}

/**
 * Checks a DKIM record: a CNAME to Posthorn's key, or one TXT record with the key, because some providers reject
 * CNAMEs.
 */
function judgeDkim(
  { name, type, value }: DnsRecord,
  { cname, txt }: ObservedRecords,
  keys: readonly DkimPublicKey[],
): Judgement {
  const selector = name.slice(0, name.indexOf('.'));
  const key = keys.find((each) => each.selector === selector);
  const texts = txt !== undefined && 'found' in txt ? txt.found.filter((text) => isDkimKey(plainText(text))) : [];
  if (texts.length > 1)
    return wrong(
      `There are ${texts.length} DKIM records at ${name}, and a verifier may use any of them: keep one, ${type === 'CNAME' ? `a CNAME to ${value}` : value}.`,
    );
  const [text] = texts;
  if (key !== undefined && text !== undefined && publicKeyOf(plainText(text)) === key.publicKey) {
    const fault = quotingFault(text) ?? dkimKeyFault(text, key.type);
    return fault === null ? RIGHT : wrong(`The DKIM record at ${name} ${shorten(fault)}: publish ${shorten(value)}.`);
  }
  if (type === 'TXT') {
    return answered(txt, name, 'TXT', () => {
      if (texts.length === 0) return wrong(`The record at ${name} is not a DKIM record: publish ${shorten(value)}.`);
      return wrong(`The DKIM record at ${name} has another key: replace it by ${shorten(value)}.`);
    });
  }
  return answered(
    cname,
    name,
    'CNAME',
    (targets) =>
      targets.some((target) => plainName(target) === value)
        ? RIGHT
        : wrong(`The CNAME at ${name} points to ${shown(targets)}, not to ${value}.`),
    () =>
      texts.length > 0
        ? wrong(`There is a TXT record with another key at ${name}: replace it by a CNAME to ${value}.`)
        : null,
  );
}

function judgeMx({ name, value }: DnsRecord, { mx }: ObservedRecords): Judgement {
  return answered(mx, name, 'MX', (exchanges) => {
    const ours = exchanges.filter(({ exchange }) => plainName(exchange) === value);
    const others = foreignMx(exchanges, value);
    if (ours.length === 0) {
      return wrong(
        others.length === 0
          ? `${name} has a null MX, which refuses all mail (RFC 7505): replace it by ${value}.`
          : `The mail of ${name} goes to ${shown(others.map(({ exchange }) => exchange))}: point its MX to ${value}.`,
      );
    }
    const best = Math.min(...ours.map(({ priority }) => priority));
    const before = others.filter(({ priority }) => priority <= best);
    return before.length === 0
      ? RIGHT
      : wrong(
          `${name} has ${value} among its MX records, but ${shown(before.map(({ exchange }) => exchange))} comes first or gets a share: remove it, or give it a larger number.`,
        );
  });
}

function judgeSpf({ name, value }: DnsRecord, { txt }: ObservedRecords): Judgement {
  return answered(txt, name, 'TXT', (texts) => {
    const policies = texts.filter(isSpf);
    if (policies.length > 1)
      return wrong(
        `There are ${policies.length} SPF records at ${name}, which is an error to every verifier (RFC 7208, section 4.5): merge them into one.`,
      );
    const [include = ''] = value.split(' ').filter((term) => term.startsWith('include:'));
    const [policy] = policies;
    if (policy === undefined) return unrecognized('SPF', /v\s*=\s*spf1\b/i, 'v=spf1', name, texts, value);
    const fault = spfFault(policy);
    if (fault !== null)
      return wrong(`The SPF record at ${name} ${shorten(fault)}, so every verifier rejects it (RFC 7208): correct it.`);
    return spfMechanisms(policy).includes(include)
      ? RIGHT
      : wrong(`The SPF record at ${name} is ${shorten(policy)}: put ${include} into it, before all.`);
  });
}

/** Checks a CNAME record. Also accepts addresses of Posthorn's host, because a zone apex cannot have a CNAME record. */
function judgeCname({ name, value }: DnsRecord, { cname, addresses, ourAddresses }: ObservedRecords): Judgement {
  if (cname !== undefined && 'found' in cname && cname.found.some((target) => plainName(target) === value))
    return RIGHT;
  const there = addresses !== undefined && 'found' in addresses ? addresses.found : [];
  const ours = ourAddresses !== undefined && 'found' in ourAddresses ? ourAddresses.found : [];
  if (there.length > 0 && there.every((each) => ours.includes(each))) return RIGHT;
  for (const answer of [cname, addresses]) {
    if (answer === undefined || 'unanswered' in answer) return answered(answer, name, 'CNAME', () => RIGHT);
  }
  // The observed addresses cannot be checked while the addresses of Posthorn's host are unknown.
  if (there.length > 0 && ourAddresses !== undefined && 'unanswered' in ourAddresses)
    return answered(ourAddresses, value, 'address', () => RIGHT);
  return answered(
    cname,
    name,
    'CNAME',
    (targets) => wrong(`The CNAME at ${name} points to ${shown(targets)}, not to ${value}.`),
    () =>
      there.length > 0
        ? wrong(
            `${name} has the addresses ${shown(there)}, which are not those of ${value}: replace them by a CNAME to ${value}.`,
          )
        : null,
  );
}

/** Checks a DMARC record. Accepts any valid policy, because the domain's owner chooses the policy. */
function judgeDmarc({ name, value }: DnsRecord, { txt }: ObservedRecords): Judgement {
  return answered(txt, name, 'TXT', (texts) => {
    const policies = texts.filter(isDmarc);
    if (policies.length > 1)
      return wrong(
        `There are ${policies.length} DMARC records at ${name}, which count as none (RFC 9989, section 4.10.1): keep one.`,
      );
    const [policy] = policies;
    if (policy === undefined)
      return unrecognized('DMARC', /dmarc\d|(?:^|;)\s*s?p\s*=/i, 'v=DMARC1;', name, texts, value);
    const fault = dmarcFault(policy);
    return fault === null
      ? RIGHT
      : wrong(
          `The DMARC record at ${name} ${shorten(fault)}, so receivers do not apply it: you can start with ${value}.`,
        );
  });
}

/**
 * Returns the result for a name without a valid record of the given kind (such as DMARC): `wrong` if a TXT record
 * resembles one, otherwise `missing`.
 */
function unrecognized(
  kind: string,
  pattern: RegExp,
  start: string,
  name: string,
  texts: readonly string[],
  value: string,
): Judgement {
  const similar = texts.filter((text) => pattern.test(text));
  return similar.length === 0
    ? missing(`There is no ${kind} record at ${name} yet: publish ${value}.`)
    : wrong(
        `The TXT record at ${name} is ${shown(similar)}, which verifiers ignore: ${kind} needs a record that begins with ${start}, without quotation marks.`,
      );
}

/** Returns the fault of a text with quotation marks or backslashes. Verifiers treat them as part of the value. */
function quotingFault(text: string): string | null {
  return /["\\]/.test(text) ? 'has quotation marks or backslashes, which are a part of its value' : null;
}

/**
 * Checks a DNS answer. `of` checks the records in the answer. If it has no records, `ofNothing` may return a specific
 * error.
 */
function answered<T>(
  answer: DnsAnswer<T> | undefined,
  name: string,
  type: string,
  of: (found: readonly T[]) => Judgement,
  ofNothing: () => Judgement | null = () => null,
): Judgement {
  if (answer === undefined || 'unanswered' in answer) {
    const reason = answer === undefined ? 'not asked' : answer.unanswered;
    return {
      verdict: 'unanswered',
      error: `The name servers of ${name} did not answer (${reason}): this says nothing about the record, and the check is repeated.`,
    };
  }
  if (answer.found.length > 0) return of(answer.found);
  return (
    ofNothing() ??
    missing(`No ${type} record was found at ${name} yet. A record that was just added can take a while to appear.`)
  );
}

function dkimRecord(
  host: string,
  { selector, publicKey, type }: DkimPublicKey,
  platformDomain: string | null,
): DnsRecord {
  const name = dkimHost(selector, host);
  return platformDomain === null
    ? record('dkim', 'TXT', name, dkimText(publicKey, type))
    : record('dkim', 'CNAME', name, dkimHost(selector, platformDomain));
}

function record(role: RecordRole, type: DnsRecord['type'], name: string, value: string): DnsRecord {
  return {
    record: role,
    type,
    name,
    value,
    priority: type === 'MX' ? PRIORITY : null,
    ttl: TTL_SECONDS,
    required: true,
  };
}

function optional(each: DnsRecord): DnsRecord {
  return { ...each, required: false };
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/** Returns untrusted texts for an error message: the first few, shortened and without control characters. */
function shown(texts: readonly string[]): string {
  const some = texts.slice(0, SHOWN_MAX).map((text) => shorten(text === '' ? '(empty)' : text));
  return some.join(', ') + (texts.length > SHOWN_MAX ? ` and ${texts.length - SHOWN_MAX} more` : '');
}

function shorten(text: string): string {
  const printable = text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/g, '�');
  return printable.length > SHOWN_CHARACTERS_MAX ? `${printable.slice(0, SHOWN_CHARACTERS_MAX)}…` : printable;
}

function wrong(error: string): Judgement {
  return { verdict: 'wrong', error };
}

function missing(error: string): Judgement {
  return { verdict: 'missing', error };
}
