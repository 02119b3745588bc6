import { isIPv4, isIPv6 } from 'node:net';

/** Policies of RFC 9989, section 4.7. */
const DMARC_POLICIES: ReadonlySet<string> = new Set(['none', 'quarantine', 'reject']);
/** Tags of a DMARC record whose value is a policy. */
const DMARC_POLICY_TAGS = ['p', 'sp', 'np'] as const;

/** Returns whether a text is a DMARC record: `v=DMARC1` is its first tag (RFC 9989, section 4.7). */
export function isDmarc(text: string): boolean {
  return /^v[ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/.test(text);
}

/** Returns the reason why receivers do not apply a DMARC record, as the end of a sentence. Null if they apply it. */
export function dmarcFault(text: string): string | null {
  const tags = tagsOf(text);
  if ('repeated' in tags) return `has the tag ${tags.repeated}= twice`;
  if (!tags.found.has('p')) return 'has no policy (p=)';
  const wrong = DMARC_POLICY_TAGS.find((tag) => !DMARC_POLICIES.has((tags.found.get(tag) ?? 'none').toLowerCase()));
  return wrong === undefined
    ? null
    : `has the policy ${wrong}=${tags.found.get(wrong)}, which is none of none, quarantine and reject`;
}

/** Returns whether a text is intended as a DKIM key record. The tag `v=` is optional (RFC 6376, section 3.6.1). */
export function isDkimKey(text: string): boolean {
  return /^v\s*=\s*DKIM1\s*(?:;|$)/i.test(text) || /(?:^|;)\s*p\s*=/i.test(text);
}

/**
 * Returns the first public key of a DKIM key record, without white space. Null if there is none. Names of tags are
 * case-sensitive (RFC 6376, section 3.2).
 */
export function publicKeyOf(text: string): string | null {
  const [, key] = /(?:^|;)\s*p\s*=([^;]*)/.exec(text) ?? [];
  return key?.replace(/\s/g, '') ?? null;
}

/** Returns the reason why verifiers cannot use a DKIM key record for a key of the type `type`. Null if they can. */
export function dkimKeyFault(text: string, type = 'rsa'): string | null {
  const tags = tagsOf(text);
  if ('repeated' in tags) return `has the tag ${tags.repeated}= twice`;
  const { found } = tags;
  const version = found.get('v');
  if (version !== undefined && (version !== 'DKIM1' || [...found.keys()][0] !== 'v'))
    return 'does not begin with v=DKIM1';
  // A verifier assumes RSA if `k=` is missing.
  const algorithm = found.get('k') ?? 'rsa';
  if (algorithm.toLowerCase() !== type) return `is for keys of the type ${algorithm}, and needs k=${type}`;
  if (!listOf(found.get('h') ?? 'sha256').includes('sha256')) return 'does not allow sha256 (h=)';
  return listOf(found.get('s') ?? '*').some((service) => service === '*' || service === 'email')
    ? null
    : 'is not for email (s=)';
}

const SPF_DOMAIN = String.raw`[\x21-\x7e]*[a-z0-9}-]\.?`;
const SPF_LENGTHS = String.raw`(?:\/\d{1,2})?(?:\/\/\d{1,3})?`;
/** Mechanisms that cause DNS queries. At most ten are allowed (RFC 7208, section 4.6.4). */
const SPF_LOOKUP = new RegExp(
  `^[+?~-]?(?:(?:include|exists):${SPF_DOMAIN}|(?:a|mx)(?::${SPF_DOMAIN})?${SPF_LENGTHS}|ptr(?::${SPF_DOMAIN})?)$`,
  'i',
);
const SPF_ADDRESS = /^[+?~-]?ip([46]):([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i;
const SPF_MODIFIER = /^(?![+?~-])([a-z][a-z0-9_.-]*)=([\x21-\x7e]*)$/i;
const SPF_LOOKUPS_MAX = 10;

/** Returns whether a text is an SPF record (RFC 7208, section 4.5). */
export function isSpf(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text);
}

/**
 * Returns the mechanisms before `all`, in lower case and without a leading plus. Verifiers ignore those after `all`.
 */
export function spfMechanisms(policy: string): string[] {
  const terms = spfTerms(policy).map((term) => term.toLowerCase().replace(/^\+/, '').replace(/\.$/, ''));
  const all = terms.findIndex((term) => /^[?~-]?all$/.test(term));
  return all === -1 ? terms : terms.slice(0, all);
}

/** Returns the reason why verifiers reject an SPF record with `permerror` (RFC 7208, section 4.6). Null if it is valid. */
export function spfFault(policy: string): string | null {
  const terms = spfTerms(policy);
  const wrong = terms.find((term) => !isSpfTerm(term));
  if (wrong !== undefined) return `has the invalid term ${wrong}`;
  const names = terms.flatMap((term) => SPF_MODIFIER.exec(term)?.[1]?.toLowerCase() ?? []);
  const repeated = ['redirect', 'exp'].find((name) => names.filter((each) => each === name).length > 1);
  if (repeated !== undefined) return `has ${repeated}= twice`;
  const lookups = terms.filter((term) => SPF_LOOKUP.test(term) || /^redirect=/i.test(term)).length;
  return lookups > SPF_LOOKUPS_MAX ? `needs ${lookups} DNS look-ups, of which ${SPF_LOOKUPS_MAX} are allowed` : null;
}

function spfTerms(policy: string): string[] {
  return policy
    .split(/ +/)
    .slice(1)
    .filter((term) => term !== '');
}

function isSpfTerm(term: string): boolean {
  return /^[+?~-]?all$/i.test(term) || SPF_LOOKUP.test(term) || isSpfAddress(term) || isSpfModifier(term);
}

function isSpfAddress(term: string): boolean {
  const [, version, address = '', length] = SPF_ADDRESS.exec(term) ?? [];
  if (version === '4') return isIPv4(address) && Number(length ?? 32) <= 32;
  return version === '6' && isIPv6(address) && Number(length ?? 128) <= 128;
}

function isSpfModifier(term: string): boolean {
  const [, name, value] = SPF_MODIFIER.exec(term) ?? [];
  return name !== undefined && (value !== '' || !/^(?:redirect|exp)$/i.test(name));
}

/** Returns the tags of a tag list (RFC 6376, section 3.2) by lower-case name, or the first tag that occurs twice. */
function tagsOf(text: string): { found: ReadonlyMap<string, string> } | { repeated: string } {
  const found = new Map<string, string>();
  for (const part of text.split(';')) {
    const at = part.indexOf('=');
    if (at === -1) continue;
    const name = part.slice(0, at).trim().toLowerCase();
    if (found.has(name)) return { repeated: name };
    found.set(name, part.slice(at + 1).trim());
  }
  return { found };
}

function listOf(value: string): string[] {
  return value.split(':').map((entry) => entry.trim().toLowerCase());
}
