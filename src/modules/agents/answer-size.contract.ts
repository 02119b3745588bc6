/**
 * Maximum size of a tool's answer in bytes. Leaves 1 KB for the JSON-RPC message around it, which may have 25 KB in
 * total.
 */
export const ANSWER_BYTES_MAX = 24_000;

/**
 * Maximum size in bytes of a list page or a text in an answer. The rest of `ANSWER_BYTES_MAX` is left for fields that
 * the tool adds.
 */
const PART_BYTES_MAX = 18_000;

/** Returns a value's size in an answer, which contains it twice: as JSON for programs and as text for models. */
export function answerBytes(value: unknown): number {
  const json = JSON.stringify(value);
  return Buffer.byteLength(json) + Buffer.byteLength(JSON.stringify(json));
}

/**
 * Returns the part of `text` that starts at `offset`. The part has at most `charactersMax` characters, and increases
 * the size of an answer by at most `bytesMax` bytes.
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
