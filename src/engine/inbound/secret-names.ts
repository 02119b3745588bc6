/** Matches `secrets.NAME`, `secrets?.NAME` and `secrets['NAME']`, also as a member such as `context.secrets.NAME`. */
const REFERENCE =
  /(?<![\w$])secrets\s*(?:\??\.\s*(?<member>[A-Za-z_$][\w$]*)|(?:\?\.\s*)?\[\s*(?<quote>['"`])(?<quoted>[^'"`\\\n]{0,256})\k<quote>\s*\])/g;

/**
 * Returns the distinct names of the secrets that the code uses. The code is searched as text, so names in comments
 * count too. A surplus name only causes an error when the endpoint is saved. A missed name would make the secret
 * unavailable when an event arrives.
 */
export function secretNames(code: string): string[] {
  const names = [...code.matchAll(REFERENCE)].map(({ groups }) => groups?.['member'] ?? groups?.['quoted'] ?? '');
  return [...new Set(names)];
}
