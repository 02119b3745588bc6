/** Before the "@" and a catch-all's star. */
const LOCAL = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
/** RFC 5321, section 4.5.3.1.1. */
const LOCAL_MAX = 64;
/** Everybody expects an operator behind these (RFC 2142, RFC 5321), or a machine that handles bounces. */
const RESERVED = /^(?:postmaster|abuse|mailer-daemon|bounces?(?:[._-].*)?)$/;

/** The local part that everything goes to which no other alias of the domain takes. */
export const CATCH_ALL = '*';

/** A local part as somebody wants it, in lower case, or what is wrong with it. */
export function readLocalPart(text: string, kind: 'platform' | 'custom'): { localPart: string } | { fault: string } {
  const localPart = text.trim().toLowerCase();
  if (localPart === CATCH_ALL)
    return kind === 'custom' ? { localPart } : { fault: 'is a catch-all, which only a domain of your own can have' };
  if (localPart.length > LOCAL_MAX) return { fault: `must have at most ${LOCAL_MAX} characters` };
  if (localPart.includes('+'))
    return { fault: 'must not have a "+": what senders put behind one is ignored when the alias is looked up' };
  if (!LOCAL.test(localPart))
    return { fault: 'must consist of letters, digits, "_" and "-", with single dots in between' };
  if (RESERVED.test(localPart)) return { fault: `is "${localPart}", a name that mail servers use themselves` };
  return { localPart };
}

/** `<label>.<slug>@<platform-domain>`, or what is wrong with it. */
export function platformAddress(
  label: string,
  slug: string,
  platformDomain: string,
): { address: string } | { fault: string } {
  const local = `${label}.${slug}`;
  if (local.length > LOCAL_MAX)
    return {
      fault: `must have at most ${LOCAL_MAX - slug.length - 1} characters: with the slug of the organization there are at most ${LOCAL_MAX}`,
    };
  return { address: `${local}@${platformDomain}` };
}

/** The addresses of aliases that take mail for a recipient, the first that exists does; a `+tag` is ignored. */
export function aliasesFor(localPart: string, domain: string): { exact: string; catchAll: string } {
  const local = localPart.toLowerCase();
  const plus = local.indexOf('+');
  return { exact: `${plus === -1 ? local : local.slice(0, plus)}@${domain}`, catchAll: `${CATCH_ALL}@${domain}` };
}
