import { canonicalDomain, domainOf, isRefused, parseMailbox } from './addresses.js';

/**
 * Pattern of a quoted string. Also matches an unterminated string, because a field of 256 KB could otherwise take 20 s.
 */
const QUOTED_STRING = /"(?:[^"\\]|\\.?)*("|$)/gs;
/**
 * Pattern of a comment in an address. A match ends at a nested comment, because nested comments are removed from the
 * inside out.
 */
const COMMENT = /\((?:[^()\\]|\\.?)*(\)|(?=\()|$)/gs;
const NESTED_MAX = 10;
/** Maximum length of a header with an author. Longer ones, whose comments take long to remove, have no clear author. */
export const AUTHOR_CHARACTERS_MAX = 8 * 1024;
const BRACKETED = /^([^<>,;:]*)<\s*([^<>\s]+)\s*>\s*$/;
const BARE = /^[^\s<>,;:]+$/;

/**
 * Parses an entry. Returns the form to store: `a@d` for an address, `@d` for a domain, `*.d` for the domain's
 * subdomains.
 */
export function readAllowedSender(text: string): { entry: string } | { fault: string } {
  const written = text.trim();
  const fault = {
    fault: 'must be an address (a@example.com), a domain (@example.com) or its subdomains (*.example.com)',
  };
  const [, prefix, host] = /^(@|\*\.)([^@*]+)$/.exec(written) ?? [];
  if (prefix !== undefined) {
    const domain = canonicalDomain(host ?? '');
    return domain === null ? fault : { entry: `${prefix}${domain}` };
  }
  const parsed = parseMailbox(written);
  return isRefused(parsed) || parsed.name !== '' || /[<*]/.test(written)
    ? fault
    : { entry: parsed.address.toLowerCase() };
}

/**
 * Returns the sender in lower case and A-labels. Null if there are several senders or if parsers may disagree on the
 * sender.
 */
export function soleSender(fromFields: readonly string[]): string | null {
  const [only, ...more] = fromFields;
  return only === undefined || more.length > 0 ? null : (senderIn(only)?.address ?? null);
}

/**
 * Returns the sender of a message that Posthorn signs, like `soleSender`. Also null if a name that is not quoted
 * contains the address of somebody else, which some parsers take for the sender: `ceo@bank.example <anna@example.com>`.
 */
export function unambiguousSender(field: string): string | null {
  const sender = senderIn(field);
  if (sender === null || (sender.name.includes('@') && sender.name.toLowerCase() !== sender.address)) return null;
  return sender.address;
}

function senderIn(field: string): { name: string; address: string } | null {
  if (field.length > AUTHOR_CHARACTERS_MAX) return null;
  let plain = field.replace(QUOTED_STRING, (whole, end: string) => (end === '"' ? ' ' : whole));
  // Removes comments from the inside out, because comments nest.
  for (let depth = 0; depth < NESTED_MAX && plain.includes('('); depth += 1)
    plain = plain.replace(COMMENT, (whole, end: string) => (end === ')' ? ' ' : whole));
  const trimmed = plain.trim();
  // Remaining quotes or parentheses belong to an unterminated string or comment, about which parsers disagree.
  if (/["()]/.test(trimmed)) return null;
  const [, name = '', bracketed] = BRACKETED.exec(trimmed) ?? [];
  const address = bracketed ?? (BARE.test(trimmed) ? trimmed : null);
  if (address === null || address.split('@').length !== 2) return null;
  const domain = canonicalDomain(domainOf(address));
  if (domain === null) return null;
  return { name: name.trim(), address: `${address.slice(0, address.indexOf('@')).toLowerCase()}@${domain}` };
}

/** Returns whether a sender from `soleSender` is allowed. An empty list allows all mail, even mail without a sender. */
export function admitsSender(entries: readonly string[], sender: string | null): boolean {
  if (entries.length === 0) return true;
  if (sender === null) return false;
  const domain = domainOf(sender);
  return entries.some((entry) => {
    if (entry.startsWith('@')) return domain === entry.slice(1);
    return entry.startsWith('*.') ? domain.endsWith(entry.slice(1)) : entry === sender;
  });
}
