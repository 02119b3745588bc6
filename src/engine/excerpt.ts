const EXCERPT_BYTES_MAX = 1024;
const EXCERPT_CHARACTERS_MAX = 1024;
const NUL = '\0';
const HALF_PAIRS = /\p{Surrogate}/gu;

/**
 * Returns the first 1 KB as text for PostgreSQL. Replaces invalid UTF-8, removes NUL, and omits a partial last
 * character.
 */
export function excerptOf(body: Buffer): string {
  if (body.length === 0) return '';
  const text = body.toString('utf8', 0, wholeCharacters(body));
  return text.includes(NUL) ? text.replaceAll(NUL, '') : text;
}

/** Returns at most 1,024 characters of the text, without NUL and unpaired surrogates, which PostgreSQL rejects. */
export function recordable(text: string): string {
  const cut =
    text.length > EXCERPT_CHARACTERS_MAX ? text.slice(0, EXCERPT_CHARACTERS_MAX).replace(/[\ud800-\udbff]$/, '') : text;
  return cut.replaceAll(NUL, '').replace(HALF_PAIRS, '\ufffd');
}

/** Returns the length of the excerpt without a partial last character (RFC 3629: at most 3 continuation bytes). */
function wholeCharacters(body: Buffer): number {
  if (body.length <= EXCERPT_BYTES_MAX) return body.length;
  for (let end = EXCERPT_BYTES_MAX; end > EXCERPT_BYTES_MAX - 4; end -= 1) {
    if (((body[end] ?? 0) & 0xc0) !== 0x80) return end;
  }
  return EXCERPT_BYTES_MAX;
}
