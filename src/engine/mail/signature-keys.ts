import { domainToASCII } from 'node:url';
import type { HeadField } from './message-head.js';

/** Signatures of one message that are looked at; a verifier may stop (RFC 6376, section 6.1), and honest mail has five at most. */
export const SIGNATURES_MAX = 20;

const DKIM_FIELDS: ReadonlySet<string> = new Set(['dkim-signature']);
const ARC_FIELDS: ReadonlySet<string> = new Set(['arc-message-signature', 'arc-seal']);
const NAME_MAX = 253;

/**
 * Under which names the keys stand that verify the signatures of a message (RFC 6376, section 3.6.2.1; RFC 8617), so that they can be
 * asked for before it is read as a whole. At most `SIGNATURES_MAX`.
 */
export function signatureKeyNames(fields: readonly HeadField[]): string[] {
  // DKIM first: a message with many ARC fields must not keep the keys that DMARC needs from being looked up.
  return [...new Set([...keyNames(fields, DKIM_FIELDS), ...arcKeyNames(fields)])].slice(0, SIGNATURES_MAX);
}

/** The names of the keys of ARC's signatures alone (RFC 8617). At most `SIGNATURES_MAX`. */
export function arcKeyNames(fields: readonly HeadField[]): string[] {
  return keyNames(fields, ARC_FIELDS);
}

function keyNames(fields: readonly HeadField[], signatures: ReadonlySet<string>): string[] {
  const names = new Set<string>();
  for (const { name, value } of fields) {
    if (names.size >= SIGNATURES_MAX) break;
    if (!signatures.has(name)) continue;
    const tags = tagsOf(value);
    const [selector, domain] = [tags.get('s'), tags.get('d')];
    const key = selector === undefined || domain === undefined ? null : keyName(`${selector}._domainkey.${domain}`);
    if (key !== null) names.add(key);
  }
  return [...names];
}

/** A name as it is compared: in lower case and A-labels, without a dot at its end; null for what is no name. */
export function keyName(name: string): string | null {
  const plain = name.toLowerCase().replace(/\.$/, '');
  // A-labels are longer than what they stand for, and making them takes the square of its length.
  if (plain.length > NAME_MAX) return null;
  const ascii = /^[\x21-\x7e]*$/.test(plain) ? plain : domainToASCII(plain);
  const isName =
    ascii !== '' && ascii.length <= NAME_MAX && ascii.split('.').every((label) => label !== '' && label.length <= 63);
  return isName && !/[\s/\\@]/.test(ascii) ? ascii : null;
}

/** A tag-list (RFC 6376, section 3.2); folding white space inside of values says nothing. */
function tagsOf(value: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const part of value.split(';')) {
    const equals = part.indexOf('=');
    if (equals < 0) continue;
    const name = part.slice(0, equals).trim().toLowerCase();
    if (!tags.has(name)) tags.set(name, part.slice(equals + 1).replace(/\s+/g, ''));
  }
  return tags;
}
