/** `secrets.NAME`, `secrets?.NAME` and `secrets['NAME']`, also behind another name and its dot, such as `context.secrets.NAME`. */
const REFERENCE =
  /(?<![\w$])secrets\s*(?:\??\.\s*(?<member>[A-Za-z_$][\w$]*)|(?:\?\.\s*)?\[\s*(?<quote>['"`])(?<quoted>[^'"`\\\n]{0,256})\k<quote>\s*\])/g;

/**
 * The names of the secrets that code names, each once. It is read as text, so what stands in a comment counts too:
 * a secret too many is refused when the endpoint is saved, one too few would be missing when an event comes.
 */
export function secretNames(code: string): string[] {
  const names = [...code.matchAll(REFERENCE)].map(({ groups }) => groups?.['member'] ?? groups?.['quoted'] ?? '');
  return [...new Set(names)];
}
