/** What an answer may take, of the 25 KB that it has with its frame and its notices. */
export const ANSWER_BYTES_MAX = 24_000;

/** What a page or a text may take of it: whoever answers adds to it. */
const PART_BYTES_MAX = 18_000;

/** What a value takes in an answer, which carries it twice: for programs, and as text for models. In bytes, since a character may have four. */
export function answerBytes(value: unknown): number {
  const json = JSON.stringify(value);
  return Buffer.byteLength(json) + Buffer.byteLength(JSON.stringify(json));
}

/** The text from character `offset` on: at most `charactersMax`, and fewer where they would take more than `bytesMax` of an answer. */
export function partOf(
  text: string,
  offset: number,
  charactersMax: number,
  bytesMax = PART_BYTES_MAX,
): { text: string; nextOffset: number | null } {
  for (let max = charactersMax; ; max = Math.floor(max / 2)) {
    const part = text.slice(offset, offset + max);
    if (max > 2 && answerBytes(part) > bytesMax) continue;
    return { text: part, nextOffset: offset + max < text.length ? offset + max : null };
  }
}
