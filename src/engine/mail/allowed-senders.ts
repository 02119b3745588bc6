import { canonicalDomain, domainOf, isRefused, parseMailbox } from './addresses.js';

/**
 * A quoted string to its end, or to that of the text: what has none is passed once, and not once more from each quote in it. A field
 * may have 256 KB, and that took twenty seconds of CPU.
 */
const QUOTED_STRING = /"(?:[^"\\]|\\.?)*("|$)/gs;
/** A comment up to its end, the beginning of one inside it, or the end of the text, for the same reason. */
const COMMENT = /\((?:[^()\\]|\\.?)*(\)|(?=\()|$)/gs;
const NESTED_MAX = 10;
const BRACKETED = /^[^<>,;:]*<\s*([^<>\s]+)\s*>\s*$/;
const BARE = /^[^\s<>,;:]+$/;

/** An entry in the form in which it is kept and compared, or what is wrong with it: `a@d`, `@d` for a domain, `*.d` for those below it. */
export function readAllowedSender(text: string): { entry: string } | { fault: string } {
  const written = text.trim();
  const fault = {
    fault: 'must be an address (a@example.com), a domain (@example.com) or what is below one (*.example.com)',
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
 * The one mailbox that a message says it is from, in lower case and A-labels; null when it has no From field or several, when
 * that names nobody or several, and when readers could disagree on whom it names.
 */
export function soleSender(fromFields: readonly string[]): string | null {
  const [only, ...more] = fromFields;
  if (only === undefined || more.length > 0) return null;
  let plain = only.replace(QUOTED_STRING, (whole, end: string) => (end === '"' ? ' ' : whole));
  // The innermost ones first: they nest.
  for (let depth = 0; depth < NESTED_MAX && plain.includes('('); depth += 1)
    plain = plain.replace(COMMENT, (whole, end: string) => (end === ')' ? ' ' : whole));
  const trimmed = plain.trim();
  // What is left of a quoted string or a comment has no end, and who reads on differs.
  if (/["()]/.test(trimmed)) return null;
  const address = BRACKETED.exec(trimmed)?.[1] ?? (BARE.test(trimmed) ? trimmed : null);
  if (address === null || address.split('@').length !== 2) return null;
  const domain = canonicalDomain(domainOf(address));
  return domain === null ? null : `${address.slice(0, address.indexOf('@')).toLowerCase()}@${domain}`;
}

/** Whether an alias with these entries takes mail from this sender (`soleSender`). None admits everybody, an unclear sender too. */
export function admitsSender(entries: readonly string[], sender: string | null): boolean {
  if (entries.length === 0) return true;
  if (sender === null) return false;
  const domain = domainOf(sender);
  return entries.some((entry) => {
    if (entry.startsWith('@')) return domain === entry.slice(1);
    return entry.startsWith('*.') ? domain.endsWith(entry.slice(1)) : entry === sender;
  });
}
