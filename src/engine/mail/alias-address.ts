/** Pattern of an alias name, optionally with a tag (RFC 5233). Both consist of words, separated by single dots. */
const TAGGED = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?:\+[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)?$/;
/**
 * Prefix pattern: the start of a name or tag, then `*`. The start may end with a dot or a plus sign, unlike a complete
 * name.
 */
const PATTERN = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?:\.|\+(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?)?)?\*$/;
/** Maximum length of a local part (RFC 5321, section 4.5.3.1.1). */
const LOCAL_MAX = 64;
/** Reserved local parts, which senders use to reach an operator (RFC 2142, RFC 5321) or a bounce handler. */
const RESERVED = /^(?:postmaster|abuse|mailer-daemon|bounces?(?:[._-].*)?)$/;

/**
 * Start of the return paths that Posthorn issues (`ReturnPaths`). Mail to such an address is a report about an email, or
 * is refused, and never reaches an alias.
 */
export const RETURN_PATH_PREFIX = 'b+';

/**
 * End of a prefix pattern. A pattern of only `*` is the catch-all alias, which receives mail that matches no other
 * alias.
 */
export const CATCH_ALL = '*';

/**
 * Reads a local part, which is a name. On a custom domain, it may also be a name with a tag (`support+eu`), a prefix
 * pattern (`support*`, `support+*`) or the catch-all (`*`).
 */
export function readLocalPart(text: string, kind: 'platform' | 'custom'): { localPart: string } | { fault: string } {
  const localPart = text.trim().toLowerCase();
  const isPattern = localPart.endsWith(CATCH_ALL);
  if (kind === 'platform' && (isPattern || localPart.includes('+')))
    return { fault: 'is a pattern or has a tag, which only an alias of your own domain can have' };
  if (localPart === CATCH_ALL) return { localPart };
  if (localPart.length > LOCAL_MAX) return { fault: `must have at most ${LOCAL_MAX} characters` };
  const form = isPattern ? PATTERN : TAGGED;
  if (!form.test(localPart))
    return {
      fault:
        'must consist of letters, digits, "_" and "-", with single dots in between; on your own domain, "+" starts a tag, and "*" at the end makes it a pattern',
    };
  const [name = ''] = localPart.split(/[+*]/);
  if (RESERVED.test(name)) return { fault: `is "${name}", a name that mail servers use themselves` };
  if (localPart.startsWith(RETURN_PATH_PREFIX))
    return { fault: `begins with "${RETURN_PATH_PREFIX}", which is reserved for the return paths of sent emails` };
  return { localPart };
}

/** Returns the alias address `<label>.<slug>@<platform-domain>`, or the fault of the label. */
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

/**
 * Returns the addresses of aliases that receive mail to `localPart`, in order of precedence: the exact address with its
 * tag, the address without the tag, prefix patterns from the longest to the shortest, the catch-all.
 */
export function aliasesFor(localPart: string, domain: string): string[] {
  const local = localPart.toLowerCase();
  const longest = Math.min(local.length, LOCAL_MAX - 1);
  const patterns = Array.from({ length: longest }, (_, i) => `${local.slice(0, longest - i)}${CATCH_ALL}`);
  return [...new Set([local, withoutTag(local), ...patterns, CATCH_ALL])].map((name) => `${name}@${domain}`);
}

/** Returns a local part in lower case, without its tag. */
export function withoutTag(localPart: string): string {
  const local = localPart.toLowerCase();
  const plus = local.indexOf('+');
  return plus === -1 ? local : local.slice(0, plus);
}
