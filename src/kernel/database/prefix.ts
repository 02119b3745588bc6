/** How long a prefix that lists are searched by may be. */
export const PREFIX_LENGTH_MAX = 200;

/** The pattern of LIKE for values that begin with a text, beside `lower(…)`: nothing of the text is a wildcard. */
export function prefixPattern(text: string): string {
  return `${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
}
