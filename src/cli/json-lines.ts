/** Placeholder for a line that is longer than the limit. The content of the line is discarded. */
export class TooLong {}

const NEWLINE = 0x0a;

/** Splits UTF-8 input into lines and skips empty lines. Yields `TooLong` for a line of more than `bytesMax` bytes. */
export async function* jsonLines(
  input: AsyncIterable<Buffer>,
  bytesMax: number,
): AsyncGenerator<string | TooLong, void, undefined> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const line = (): string | TooLong | null => {
    const isTooLong = bytes > bytesMax;
    const text = isTooLong ? '' : Buffer.concat(parts).toString('utf8').trim();
    parts = [];
    bytes = 0;
    if (isTooLong) return new TooLong();
    return text === '' ? null : text;
  };
  const add = (part: Buffer): void => {
    bytes += part.length;
    if (bytes > bytesMax) parts = [];
    else parts.push(part);
  };
  for await (const chunk of input) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, end));
      from = end + 1;
      const complete = line();
      if (complete !== null) yield complete;
    }
    add(chunk.subarray(from));
  }
  const rest = line();
  if (rest !== null) yield rest;
}
