const ID = /<([^<>]*)>/g;
/** Matches a quoted name, such as in `"Ada <ada@b.example>" of Friday <1@b.example>`, but no part of an id. */
const QUOTED_NAME = /"[^"]*"(?!@)/g;

/**
 * Returns the message ids of a References or In-Reply-To header (RFC 5322, section 3.6.4) with their angle brackets, in
 * order. Mail programs also write ids without white space between them, commas, comments and other text. If the header
 * has no angle brackets, every word is an id.
 */
export function messageIdsIn(value: string): string[] {
  const ids = [...value.replace(QUOTED_NAME, ' ').matchAll(ID)]
    .map(([, id = '']) => id.replace(/\s+/g, ''))
    .filter((id) => id !== '');
  return ids.length > 0 ? ids.map((id) => `<${id}>`) : value.split(/[\s,]+/).filter((word) => /[^<>]/.test(word));
}
