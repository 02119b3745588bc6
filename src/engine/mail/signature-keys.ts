import { domainToASCII } from 'node:url';
import type { HeadField } from './message-head.js';

/** Maximum number of verified signatures per message (RFC 6376, section 6.1). Legitimate mail has at most five. */
export const SIGNATURES_MAX = 20;

const DKIM_FIELDS: ReadonlySet<string> = new Set(['dkim-signature']);
const ARC_FIELDS: ReadonlySet<string> = new Set(['arc-message-signature', 'arc-seal']);
const NAME_MAX = 253;

/** Returns at most `SIGNATURES_MAX` DNS names of keys (RFC 6376, 3.6.2.1; RFC 8617). Needs only the header. */
export function signatureKeyNames(fields: readonly HeadField[]): string[] {
  // DKIM keys come first, because DMARC needs them. A message with many ARC fields could otherwise use up the maximum.
  return [...new Set([...keyNames(fields, DKIM_FIELDS), ...arcKeyNames(fields)])].slice(0, SIGNATURES_MAX);
}

/** Returns the key names of ARC signatures only (RFC 8617), at most `SIGNATURES_MAX`. */
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

/** Returns the name in lower case and A-labels, without a trailing dot. Null if invalid. */
export function keyName(name: string): string | null {
  const plain = name.toLowerCase().replace(/\.$/, '');
  // Checks the length first, because encoding takes quadratic time. An A-label is longer than its Unicode label.
  if (plain.length > NAME_MAX) return null;
  const ascii = /^[\x21-\x7e]*$/.test(plain) ? plain : domainToASCII(plain);
  const isName =
    ascii !== '' && ascii.length <= NAME_MAX && ascii.split('.').every((label) => label !== '' && label.length <= 63);
  return isName && !/[\s/\\@]/.test(ascii) ? ascii : null;
}

/** Parses a tag-list (RFC 6376, section 3.2). Ignores folding white space inside values. */
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
