/** Maximum size of a tool's answer in bytes. The whole message, with its frame and notices, may have 25 KB. */
export const ANSWER_BYTES_MAX = 24_000;

/** Maximum size of a page or a text within an answer. The rest is left for what the tool adds. */
const PART_BYTES_MAX = 18_000;

/**
 * Returns the size in bytes that a value takes in an answer. An answer contains the value twice: as JSON for programs
 * and as text for models. The size is in bytes because a character may have four.
 */
export function answerBytes(value: unknown): number {
  const json = JSON.stringify(value);
  return Buffer.byteLength(json) + Buffer.byteLength(JSON.stringify(json));
}

/**
 * Returns the text from character `offset` on: at most `charactersMax` characters, or fewer if they would take more
 * than `bytesMax` bytes of an answer.
 */
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
