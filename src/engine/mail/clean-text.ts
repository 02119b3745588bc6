/** A text that may be stored, and whether something was cut off it. */
export interface CleanText {
  text: string;
  isTruncated: boolean;
}

const CONTROL_IN_TEXT = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g;
const CONTROL_IN_LINE = /[\0-\x1f\x7f-\x9f\u2028\u2029]+/g;

/**
 * A text of somebody else as PostgreSQL, JSON and UTF-8 can hold it: without NUL (which `text` and `jsonb` refuse) and other
 * control characters but tabs and line ends, without half of a surrogate pair, of at most `bytesMax` bytes of UTF-8.
 */
export function cleanText(text: string, bytesMax: number): CleanText {
  return cut(wellFormed(text).replace(CONTROL_IN_TEXT, ''), bytesMax);
}

/** The same of one line: whatever ends a line, or is a control character, becomes one space. */
export function cleanLine(text: string, bytesMax: number): CleanText {
  return cut(wellFormed(text).replace(CONTROL_IN_LINE, ' ').trim(), bytesMax);
}

const FILENAME_BYTES_MAX = 255;
/** They reorder or hide what a reader sees: `invoice‮fdp.exe` reads as `invoiceexe.pdf`. */
const DISGUISE = /[\u202a-\u202e\u2066-\u2069\u200b-\u200f\u2060\ufeff]/g;

/**
 * A file name that names nothing but a file: what stands before the last slash or backslash is gone, and so are control
 * characters, what reorders text, dots and spaces at its ends, and colons (streams and drives). Null when nothing is left.
 */
export function safeFilename(name: string): string | null {
  const base = wellFormed(name).replace(DISGUISE, '').replace(CONTROL_IN_LINE, ' ').split(/[/\\]/).at(-1) ?? '';
  const plain = base.replace(/[:*?"<>|]/g, '_').replace(/^[. ]+|[. ]+$/g, '');
  if (plain === '') return null;
  return Buffer.byteLength(plain) <= FILENAME_BYTES_MAX ? plain : shortened(plain);
}

/** The extension stays: it is how people tell what a file is. */
function shortened(name: string): string {
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
  return cut(name.slice(0, name.length - extension.length), FILENAME_BYTES_MAX - extension.length).text + extension;
}

/** Half of a pair is no character, and no UTF-8 has it. */
const wellFormed = (text: string): string =>
  text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');

/** At most so many bytes, and no half of a character at the end. */
function cut(text: string, bytesMax: number): CleanText {
  // No character has more bytes than three for each unit of UTF-16.
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return { text, isTruncated: false };
  const bytes = Buffer.from(text.slice(0, bytesMax));
  if (bytes.length <= bytesMax) return { text: bytes.toString(), isTruncated: true };
  let end = bytesMax;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { text: bytes.toString('utf8', 0, end), isTruncated: true };
}
