/** Matches `secrets.NAME`, `secrets?.NAME` and `secrets['NAME']`, also as a member such as `context.secrets.NAME`. */
const REFERENCE =
  /(?<![\w$])secrets\s*(?:\??\.\s*(?<member>[A-Za-z_$][\w$]*)|(?:\?\.\s*)?\[\s*(?<quote>['"`])(?<quoted>[^'"`\\\n]{0,256})\k<quote>\s*\])/g;

/**
 * Returns the names of the secrets that a user's code refers to. Includes names in comments: an unneeded name is
 * harmless, but a missed name causes an error when an event arrives.
 */
export function secretNames(code: string): string[] {
  const names = [...code.matchAll(REFERENCE)].map(({ groups }) => groups?.['member'] ?? groups?.['quoted'] ?? '');
  return [...new Set(names)];
}
