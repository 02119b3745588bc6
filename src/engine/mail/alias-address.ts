const LOCAL = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
/** Maximum length of a local part (RFC 5321, section 4.5.3.1.1). */
const LOCAL_MAX = 64;
/** Local parts at which senders expect an operator (RFC 2142, RFC 5321) or a machine that handles bounces. */
const RESERVED = /^(?:postmaster|abuse|mailer-daemon|bounces?(?:[._-].*)?)$/;

/** Local part of the catch-all alias, which receives mail that matches no other alias of the domain. */
export const CATCH_ALL = '*';

export function readLocalPart(text: string, kind: 'platform' | 'custom'): { localPart: string } | { fault: string } {
  const localPart = text.trim().toLowerCase();
  if (localPart === CATCH_ALL)
    return kind === 'custom' ? { localPart } : { fault: 'is a catch-all, which only your own domain can have' };
  if (localPart.length > LOCAL_MAX) return { fault: `must have at most ${LOCAL_MAX} characters` };
  if (localPart.includes('+'))
    return { fault: 'must not have a "+": the text after a "+" is ignored when the alias is looked up' };
  if (!LOCAL.test(localPart))
    return { fault: 'must consist of letters, digits, "_" and "-", with single dots in between' };
  if (RESERVED.test(localPart)) return { fault: `is "${localPart}", a name that mail servers use themselves` };
  return { localPart };
}

/** Returns `<label>.<slug>@<platform-domain>`, or the fault of the label. */
export function platformAddress(
  label: string,
  slug: string,
  platformDomain: string,
): { address: string } | { fault: string } {
  const local = `${label}.${slug}`;
  if (local.length > LOCAL_MAX)
    return {
      fault: `must have at most ${LOCAL_MAX - slug.length - 1} characters: together with the slug of the organization at most ${LOCAL_MAX} are allowed`,
    };
  return { address: `${local}@${platformDomain}` };
}

/** Returns the addresses of the aliases that may receive the mail. The exact one has precedence. Ignores a `+tag`. */
export function aliasesFor(localPart: string, domain: string): { exact: string; catchAll: string } {
  const local = localPart.toLowerCase();
  const plus = local.indexOf('+');
  return { exact: `${plus === -1 ? local : local.slice(0, plus)}@${domain}`, catchAll: `${CATCH_ALL}@${domain}` };
}
