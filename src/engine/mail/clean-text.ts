export interface CleanText {
  text: string;
  isTruncated: boolean;
}

const CONTROL_IN_TEXT = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g;
const CONTROL_IN_LINE = /[\0-\x1f\x7f-\x9f\u2028\u2029]+/g;

/**
 * Returns an untrusted text that PostgreSQL, JSON and UTF-8 accept, of at most `bytesMax` bytes of UTF-8. Removes NUL
 * and other control characters, except tabs and line ends. Replaces unpaired surrogates.
 */
export function cleanText(text: string, bytesMax: number): CleanText {
  return cut(wellFormed(text).replace(CONTROL_IN_TEXT, ''), bytesMax);
}

/** Returns `cleanText` of a text on a single line: every line end or control character becomes one space. */
export function cleanLine(text: string, bytesMax: number): CleanText {
  return cut(wellFormed(text).replace(CONTROL_IN_LINE, ' ').trim(), bytesMax);
}

const FILENAME_BYTES_MAX = 255;
/** Characters that reorder or hide visible text, so that `invoice‮fdp.exe` is displayed as `invoiceexe.pdf`. */
const DISGUISE = /[\u202a-\u202e\u2066-\u2069\u200b-\u200f\u2060\ufeff]/g;

/**
 * Returns a safe file name: the text after the last slash or backslash. Removes control and reordering characters, dots
 * and spaces at the ends, and colons (NTFS streams and drives). Returns null when nothing is left.
 */
export function safeFilename(name: string): string | null {
  const base = wellFormed(name).replace(DISGUISE, '').replace(CONTROL_IN_LINE, ' ').split(/[/\\]/).at(-1) ?? '';
  const plain = base.replace(/[:*?"<>|]/g, '_').replace(/^[. ]+|(?<![. ])[. ]+$/g, '');
  if (plain === '') return null;
  return Buffer.byteLength(plain) <= FILENAME_BYTES_MAX ? plain : shortened(plain);
}

/** Returns a file name cut to the maximum length. Preserves the extension, which shows the file type. */
function shortened(name: string): string {
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
  return cut(name.slice(0, name.length - extension.length), FILENAME_BYTES_MAX - extension.length).text + extension;
}

/** Replaces unpaired surrogates, which UTF-8 cannot encode. */
const wellFormed = (text: string): string =>
  text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');

/** Truncates to `bytesMax` bytes of UTF-8 without splitting a character. */
function cut(text: string, bytesMax: number): CleanText {
  // Fast check first: a UTF-16 unit takes at most three bytes of UTF-8.
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return { text, isTruncated: false };
  const bytes = Buffer.from(text.slice(0, bytesMax));
  if (bytes.length <= bytesMax) return { text: bytes.toString(), isTruncated: true };
  let end = bytesMax;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { text: bytes.toString('utf8', 0, end), isTruncated: true };
}
