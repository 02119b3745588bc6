import { domainToASCII, domainToUnicode } from 'node:url';

/** A mailbox as the caller wrote it. Parsed only here: no later stage parses addresses. */
export interface Mailbox {
  /** Display name. Empty if there is none. */
  name: string;
  /** `local@domain`. The local part is as written, in NFC. The domain is in lower case and A-labels (RFC 5890). */
  address: string;
}

/** Accepted local parts: ASCII only (RFC 5321), or also other letters (RFC 6531), which need SMTPUTF8. */
export type LocalParts = 'ascii' | 'international';

/** Rejection of a text. `refusal` is the reason, as a sentence for the API's caller. */
export interface Refused {
  refusal: string;
}

export interface RefusedEntry extends Refused {
  /** Position of the rejected mailbox in the list, starting at 0. */
  index: number;
}

const TEXT_MAX = 1024;
const NAME_MAX = 256;
/** Maximum length of a local part in octets (RFC 5321 section 4.5.3.1.1). */
const LOCAL_MAX = 64;
/** Maximum length of an address: RFC 5321 section 4.5.3.1.3 allows 256 octets with the angle brackets. */
const ADDRESS_MAX = 254;
const DOMAIN_MAX = 253;

/** Dot-string of RFC 5321: a local part without quoted strings, comments and white space. */
const DOT_STRING = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/**
 * Dot-string of RFC 6531, without characters that are invisible, unassigned or for private use. `internationalRefusal`
 * also rejects characters with a compatibility form, such as a full-width "@".
 */
const INTERNATIONAL_DOT_STRING =
  /^[\p{L}\p{M}\p{N}\p{So}A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}\p{So}A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/u;
/**
 * Host name of letters, digits and hyphens. The last label must not be numeric, because URL parsers read such a name as
 * IPv4.
 */
const HOST =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*(?=[a-z0-9-]*[a-z])(?!0x)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Characters that the URL parser behind `domainToASCII` would interpret: ports, paths, percent signs, white space. */
const NOT_IN_HOSTS = /[\0-,/:-@[-`{-\x7f]/;
const ASCII = /^[\0-\x7f]*$/;
const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/u;
/**
 * Characters that reorder or hide text (Unicode TR 36, 3.1). Does not contain joiners and marks, because names and
 * emoji need them.
 */
const DISGUISE = /[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff\ufff9-\ufffb]/;
/** Characters that would end a name or begin another token: the specials of RFC 5322 without the dot. */
const SPECIAL_IN_NAME = /[()<>[\]:;@\\,"]/;
const ENCODED_WORD = /=\?[^?\s]*\?[^?\s]*\?/;
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/u;

/**
 * Parses `address`, `<address>`, `Name <address>` or `"Name" <address>`. Deliberately stricter than RFC 5322: with
 * groups, comments, quoted local parts, domain literals or lists, Posthorn's checks could find another recipient than
 * the mail server.
 */
export function parseMailbox(text: string, localParts: LocalParts = 'ascii'): Mailbox | Refused {
  if (text.length > TEXT_MAX) return refuse(`An address has at most ${TEXT_MAX} characters with its name.`);
  if (CONTROL.test(text)) return refuse('An address has no line breaks and no control characters.');
  if (DISGUISE.test(text))
    return refuse('An address has no invisible characters and none that change the direction of writing.');
  const trimmed = text.trim();
  if (!trimmed.endsWith('>')) return withAddress('', trimmed, localParts);
  const open = trimmed.lastIndexOf('<');
  if (open === -1) return refuse('The ">" has no "<" before it.');
  const name = parseName(trimmed.slice(0, open).trim());
  return typeof name === 'string' ? withAddress(name, trimmed.slice(open + 1, -1), localParts) : name;
}

/** Parses a list of mailboxes and keeps its order. If an entry is invalid, returns the first invalid entry. */
export function parseMailboxList(texts: readonly string[]): Mailbox[] | RefusedEntry {
  const mailboxes: Mailbox[] = [];
  for (const [index, text] of texts.entries()) {
    const parsed = parseMailbox(text);
    if (isRefused(parsed)) return { ...parsed, index };
    mailboxes.push(parsed);
  }
  return mailboxes;
}

export function isRefused(parsed: object): parsed is Refused {
  return 'refusal' in parsed;
}

/** Returns the domain in lower case and A-labels. Null if the domain is invalid. */
export function canonicalDomain(domain: string): string | null {
  // Most domains are already in the canonical form.
  if (domain.length <= DOMAIN_MAX && HOST.test(domain) && !domain.includes('xn--')) return domain;
  const written = domain.toLowerCase();
  if (written.length > DOMAIN_MAX || NOT_IN_HOSTS.test(written)) return null;
  // Rejects the Kelvin sign (U+212A), which `toLowerCase` changes to `k`.
  if (ASCII.test(written) && !ASCII.test(domain)) return null;
  if (ASCII.test(written) && !written.includes('xn--')) return HOST.test(written) ? written : null;
  const labels = written.normalize('NFC').split('.');
  const ascii = domainToASCII(labels.join('.'));
  if (ascii.length > DOMAIN_MAX || !HOST.test(ascii)) return null;
  // Rejects a name in which UTS 46 changes more than the case of letters, because it looks like another name. Such a
  // name contains, for example, full-width letters, ligatures, dots of other scripts or soft hyphens.
  const asciiLabels = ascii.split('.');
  const isUnchanged =
    asciiLabels.length === labels.length &&
    asciiLabels.every((label, index) => label === labels[index] || domainToUnicode(label) === labels[index]);
  return isUnchanged ? ascii : null;
}

/**
 * Returns the key of an address in the suppression list: in NFC, with ASCII letters in lower case and the domain in
 * A-labels. Other letters keep their case, because PostgreSQL's `lower` with the collation C also changes only ASCII.
 * Keeps a `+tag`, whose meaning depends on the recipient's server.
 */
export function suppressionKey(address: string): string {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1);
  const local = address.slice(0, at + 1).normalize('NFC');
  return `${local.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())}${canonicalDomain(domain) ?? domain.toLowerCase()}`;
}

/** Returns whether the local part has characters outside ASCII. The mail server must then offer SMTPUTF8. */
export function isInternational(address: string): boolean {
  return !ASCII.test(address.slice(0, address.lastIndexOf('@')));
}

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

function parseName(text: string): string | Refused {
  const quoted = QUOTED.exec(text)?.[1];
  const name = quoted === undefined ? text : quoted.replace(/\\(.)/gu, '$1').trim();
  if (name.length > NAME_MAX) return refuse(`The name of an address has at most ${NAME_MAX} characters.`);
  if (ENCODED_WORD.test(name))
    return refuse('Write the name of an address in plain Unicode: the service creates encoded words (=?…?=) itself.');
  if (quoted === undefined && SPECIAL_IN_NAME.test(name)) {
    return refuse(
      'Exactly one address is expected, such as "Name <name@example.com>". Put a name with one of ()<>[]:;@\\," in double quotes.',
    );
  }
  return name;
}

function withAddress(name: string, address: string, localParts: LocalParts): Mailbox | Refused {
  const refusal = addressRefusal(address, localParts);
  if (refusal !== null) return refuse(refusal);
  const at = address.indexOf('@');
  const domain = canonicalDomain(address.slice(at + 1));
  if (domain === null) return refuse('The domain of the address is not one that mail can be sent to.');
  if (!domain.includes('.') && domain !== 'localhost')
    return refuse('The domain of the address needs a dot, as in example.com.');
  const canonical = `${address.slice(0, at).normalize('NFC')}@${domain}`;
  if (Buffer.byteLength(canonical) > ADDRESS_MAX) return refuse(`An address has at most ${ADDRESS_MAX} characters.`);
  return { name, address: canonical };
}

function addressRefusal(address: string, localParts: LocalParts): string | null {
  const parts = address.split('@');
  const [local = '', domain = ''] = parts;
  if (/[,;]/.test(address))
    return 'Exactly one address is expected: give several as entries of a list, not separated by commas or semicolons.';
  if (address.includes(':')) return 'Groups of addresses are not accepted: give each address by itself.';
  if (/[()]/.test(address)) return 'Comments in addresses are not accepted.';
  if (address.includes('"') || address.includes('\\')) return 'Quoted local parts are not accepted.';
  if (parts.length !== 2) return 'An address has exactly one "@", as in name@example.com.';
  if (domain.startsWith('[')) return 'Domain literals ([192.0.2.1]) are not accepted: give a domain.';
  if (/[<>\s]/.test(address))
    return 'Exactly one address is expected, such as name@example.com or "Name <name@example.com>".';
  if (Buffer.byteLength(local) > LOCAL_MAX)
    return `The part before the "@" has at most ${LOCAL_MAX} characters, or ${LOCAL_MAX} bytes in UTF-8.`;
  // Rejects encoded words: some servers decode them and deliver the mail to the decoded address.
  if (ENCODED_WORD.test(local)) return 'The part before the "@" must not be an encoded word (=?…?=).';
  if (!ASCII.test(local)) return internationalRefusal(local, localParts);
  return DOT_STRING.test(local)
    ? null
    : 'The part before the "@" consists of letters, digits and !#$%&\'*+/=?^_`{|}~-, with single dots in between.';
}

function internationalRefusal(local: string, localParts: LocalParts): string | null {
  if (localParts === 'ascii')
    return 'The part before the "@" consists of ASCII characters: most mail servers accept no others.';
  // Decoders replace invalid UTF-8 with U+FFFD, so different bytes would become the same address.
  if (local.includes('\ufffd')) return 'The part before the "@" is not valid UTF-8.';
  // Rejects compatibility forms, which a server may replace and then deliver to another address.
  const isStable = local.normalize('NFKC') === local.normalize('NFC');
  return isStable && INTERNATIONAL_DOT_STRING.test(local)
    ? null
    : 'The part before the "@" consists of letters, digits and !#$%&\'*+/=?^_`{|}~-, with single dots in between. Of characters outside ASCII, it may have letters, digits and symbols without a compatibility form.';
}

const refuse = (refusal: string): Refused => ({ refusal });
