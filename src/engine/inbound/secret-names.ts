/** Matches `secrets.NAME`, `secrets?.NAME` and `secrets['NAME']`, also as a member such as `context.secrets.NAME`. */
const REFERENCE =
  /(?<![\w$])secrets\s*(?:\??\.\s*(?<member>[A-Za-z_$][\w$]*)|(?:\?\.\s*)?\[\s*(?<quote>['"`])(?<quoted>[^'"`\\\n]{0,256})\k<quote>\s*\])/g;

/**
 * Returns the names of secrets in the code and its comments. A missed name would cause an error only when an event
 * arrives.
 */
export function secretNames(code: string): string[] {
  const names = [...code.matchAll(REFERENCE)].map(({ groups }) => groups?.['member'] ?? groups?.['quoted'] ?? '');
  return [...new Set(names)];
}
