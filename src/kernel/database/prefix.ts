export const PREFIX_LENGTH_MAX = 200;

/** Returns a LIKE pattern for lower-case texts that begin with `text`. Wildcards in the text are escaped. */
export function prefixPattern(text: string): string {
  return `${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
}
