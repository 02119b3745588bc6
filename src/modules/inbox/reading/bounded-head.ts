/**
 * Limits of a header section whose signatures are verified or created. mailauth takes quadratic time for the number of
 * line ends, the number of fields, and the length of a run of white space. Within these limits, it takes about a
 * second at most.
 */
const BYTES_MAX = 256 * 1024;
/** A line end of CR LF counts as two. */
const LINE_ENDS_MAX = 10_000;
/** Line ends are white space, too, because mailauth unfolds the header. */
const SPACES_MAX = 1_000;

const [LF, CR] = [0x0a, 0x0d];
/** The bytes that `\s` matches in a text with one character per byte. */
const SPACES: ReadonlySet<number> = new Set([0x09, LF, 0x0b, 0x0c, CR, 0x20, 0xa0]);
const EMPTY_LINES = ['\n\n', '\n\r\n'].map((mark) => Buffer.from(mark));

/** Throws if the header section exceeds the limits. */
export function expectBoundedHead(raw: Buffer): void {
  const end = verifiedHeadEnd(raw);
  if (end > BYTES_MAX) throw new Error(`The header is larger than ${BYTES_MAX / 1024} KB.`);
  let lineEnds = 0;
  let spaces = 0;
  for (let at = 0; at < end; at += 1) {
    const byte = raw[at]!;
    spaces = SPACES.has(byte) ? spaces + 1 : 0;
    if (byte === CR || byte === LF) lineEnds += 1;
    if (spaces > SPACES_MAX) throw new Error(`The header has more than ${SPACES_MAX} white-space characters in a row.`);
  }
  if (lineEnds > LINE_ENDS_MAX) throw new Error(`The header has more than ${LINE_ENDS_MAX / 2} lines.`);
}

/**
 * Returns the end of the header section as mailauth finds it: after the first empty line, where a line ends only at LF.
 * Without an empty line, the whole message is the header section.
 */
export function verifiedHeadEnd(raw: Buffer): number {
  if (raw[0] === LF) return 1;
  if (raw[0] === CR && raw[1] === LF) return 2;
  let end = raw.length;
  for (const mark of EMPTY_LINES) {
    const at = raw.subarray(0, end).indexOf(mark);
    if (at !== -1) end = at + mark.length;
  }
  return end;
}
