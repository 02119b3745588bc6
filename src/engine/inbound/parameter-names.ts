/**
 * Returns all names that a server could derive from a decoded parameter name, normalized for comparison. PHP cuts names
 * at U+0000 and `[`, and maps `.`, ` ` and an unclosed `[` to `_`. ASP.NET ignores the letter case. `URLSearchParams`
 * strips one `?`. A `+` may mean itself or a space.
 */
export function namesOf(name: string): string[] {
  const end = name.indexOf('\0');
  const text = (end < 0 ? name : name.slice(0, end)).replace(/^[?+\s]+/, '').toLowerCase();
  const bracket = text.indexOf('[');
  return (bracket < 0 ? [text] : [text.slice(0, bracket), text]).map((each) => each.replace(/[ .[+]/g, '_'));
}

/** Returns the names of a query's parameters. Some servers also split at semicolons. */
export function namesIn(query: string): Set<string> {
  return new Set(query.split(/[&;]/).flatMap((piece) => (piece === '' ? [] : namesOf(nameIn(piece)))));
}

/**
 * Returns the position in `part` at which the first parameter with one of the names starts, or -1. `part` is the text
 * between two `&` of a query. The names come from `namesOf` or `namesIn`.
 */
export function findNamed(part: string, names: ReadonlySet<string>): number {
  if (part === '') return -1;
  let at = 0;
  for (const piece of part.split(';')) {
    if (piece !== '' && namesOf(nameIn(piece)).some((name) => names.has(name))) return at;
    at += piece.length + 1;
  }
  return -1;
}

/** Decodes percent-encoding byte by byte, so that a text with invalid UTF-8 can be checked, too. */
export function decodedBytes(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

function nameIn(piece: string): string {
  const cut = piece.indexOf('=');
  return decodedBytes((cut < 0 ? piece : piece.slice(0, cut)).replaceAll('+', ' '));
}
