/** Maximum length of a prefix that lists can be searched by. */
export const PREFIX_LENGTH_MAX = 200;

/**
 * Returns the LIKE pattern for values that begin with the text, for use with `lower(…)`. Wildcards in the text are
 * escaped.
 */
export function prefixPattern(text: string): string {
  return `${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
}
