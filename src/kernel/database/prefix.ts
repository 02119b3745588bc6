export const PREFIX_LENGTH_MAX = 200;

/** Returns a LIKE pattern for use with `lower(…)`. Wildcards in the text are escaped. */
export function prefixPattern(text: string): string {
  return `${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
}
