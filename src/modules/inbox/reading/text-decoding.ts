import { isAscii, isUtf8 } from 'node:buffer';
import { createDecodeStream, decode, normalizeCharset } from 'libmime/lib/charset.js';
import { decodeWords as decodeWordsWith } from '#engine/mail/encoded-words.js';
import { decodeShifted, shiftedCharset } from './shifted-text.js';

export interface DecodedText {
  text: string;
  /** True if the character set was guessed, because no valid one was declared and the bytes are not UTF-8. */
  isGuessed: boolean;
}

/** Number of bytes of HTML that are searched for `<meta charset>` (HTML Living Standard, "prescan a byte stream"). */
const META_BYTES_MAX = 1_024;
const META = /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:+-]{1,40})/i;
/** Number of bytes used for the guess, starting at the first non-ASCII byte. More bytes would not change the result. */
const SAMPLE_BYTES_MAX = 16 * 1_024;
/** Character set names that are ignored, because clients declare them by default for text in other character sets. */
const DEFAULTS: ReadonlySet<string> = new Set(['UTF-8', 'ASCII', '7BIT']);
/** Matches words without ASCII letters. Each character of the searched text stands for one byte. */
const HIGH_WORD = /(?<![A-Za-z\x80-\xff])[\x80-\xff]{2,}(?![A-Za-z\x80-\xff])/g;
const HIGH = /[\x80-\xff]/g;
const HIGH_LETTER = /[\xc0-\xff]/g;
/** Bytes of the lower-case letters in windows-1251. In KOI8-R, these bytes are capital letters. */
const UPPER_HALF = /[\xe0-\xff]/g;
const CAPITALIZED_1251 = /^[\xc0-\xdf][\xe0-\xff]/;
const CAPITALIZED_KOI8 = /^[\xe0-\xff][\xc0-\xdf]/;
/** The letters а, в, е, и, к, л, н, о, р, с, т and their capitals. They make up two thirds of Cyrillic text. */
const FREQUENT_1251 = /[\xe0\xe2\xe5\xe8\xea\xeb\xed\xee\xf0-\xf2\xc0\xc2\xc5\xc8\xca\xcb\xcd\xce\xd0-\xd2]/g;
const FREQUENT_KOI8 = /[\xc1\xc5\xc9\xcb\xcc\xce\xcf\xd2-\xd4\xd7\xe1\xe5\xe9\xeb\xec\xee\xef\xf2-\xf4\xf7]/g;
const CYRILLIC_LETTERS_MIN = 3;
/**
 * Minimum share of non-ASCII bytes that belong to words without ASCII letters. With a lower share, the text is not
 * Cyrillic.
 */
const CYRILLIC_WORDS_MIN = 0.75;
/** Minimum share of frequent Cyrillic letters among the letters of words without ASCII letters. */
const FREQUENT_MIN = 0.35;
/** Sequences that select Japanese characters in ISO-2022-JP. No other text contains them. */
const JAPANESE = ['\x1b$B', '\x1b$@'];
const US_ASCII = /^(?:us[-_]?)?ascii$|^ansi_x3/i;

/**
 * Decodes the text of a part. Tries the following in order: the declared character set, UTF-8, the character set of
 * `<meta>` (HTML only), `hint` (a character set that another part declares), a guess.
 */
export function decodePart(
  bytes: Buffer,
  declared: string | null,
  isHtml: boolean,
  hint: string | null = null,
): DecodedText {
  const charset = usable(declared);
  if (charset !== null) return { text: withoutMark(decode(bytes, charset)), isGuessed: false };
  const inMeta = isHtml ? (META.exec(bytes.toString('latin1', 0, META_BYTES_MAX))?.[1] ?? null) : null;
  const isDeclaredUtf8 = declared !== null && normalizeCharset(declared) === 'UTF-8';
  // Text with shift sequences is valid UTF-8, too.
  const shifted = shiftedText(bytes, declared) ?? (isDeclaredUtf8 ? null : shiftedText(bytes, inMeta));
  if (shifted !== null) return { text: shifted, isGuessed: false };
  const japanese = isDeclaredUtf8 ? null : undeclaredJapanese(bytes);
  if (japanese !== null) return { text: japanese, isGuessed: true };
  if (isDeclaredUtf8 || isUtf8(bytes)) return { text: withoutMark(bytes.toString()), isGuessed: false };
  const named = usable(inMeta);
  if (named !== null) return { text: decode(bytes, named), isGuessed: false };
  return { text: decodeUndeclared(bytes, hint), isGuessed: true };
}

/** Decodes the bytes of a header, which are in UTF-8 (RFC 6532) or in an undeclared character set. */
export function decodeHeader(bytes: Buffer, hint: string | null): DecodedText {
  const japanese = undeclaredJapanese(bytes);
  if (japanese !== null) return { text: japanese, isGuessed: true };
  if (isUtf8(bytes)) return { text: bytes.toString(), isGuessed: false };
  return { text: decodeUndeclared(bytes, hint), isGuessed: true };
}

/** Returns the first of these character sets that can encode bytes above ASCII. Null if there is none. */
export function firstUsable(charsets: Iterable<string>): string | null {
  for (const charset of charsets) if (usable(charset) !== null) return charset;
  return null;
}

function decodeUndeclared(bytes: Buffer, hint: string | null): string {
  const hinted = usable(hint);
  const text = hinted === null ? null : decode(bytes, hinted);
  return text === null || text.includes('\ufffd') ? decode(bytes, guess(bytes)) : text;
}

/** Replaces encoded words (RFC 2047) with the text that they encode. */
export function decodeWords(value: string): string {
  return decodeWordsWith(value, decodeWord);
}

/** Rewrites encoded words in UTF-8, for a parser that must split the value before it decodes encoded words. */
export function wordsInUtf8(value: string): string {
  return decodeWordsWith(value, decodeWord, (text) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`);
}

/** Decodes the bytes of an encoded word, or of a parameter (RFC 2231). */
export const decodeWord = (bytes: Buffer, charset: string): string => decodePart(bytes, charset, false).text;

/** Decodes bytes with shift sequences. Null if the character set has none, or if it does not fit the bytes. */
function shiftedText(bytes: Buffer, declared: string | null): string | null {
  const charset = declared === null ? null : shiftedCharset(declared);
  return charset === null ? null : decodeShifted(bytes, charset);
}

/** Decodes ISO-2022-JP by its escape sequences. Null if the bytes have none, or contain an invalid character. */
function undeclaredJapanese(bytes: Buffer): string | null {
  if (!JAPANESE.some((escape) => bytes.includes(escape)) || !isAscii(bytes)) return null;
  const text = decodeShifted(bytes, 'iso-2022');
  return text === null || text.includes('\ufffd') ? null : text;
}

/**
 * Returns the canonical name of a declared character set. Null if the name is unknown, in `DEFAULTS`, or the name of a
 * set with shift sequences, which has no bytes above ASCII.
 */
function usable(declared: string | null): string | null {
  if (declared === null || US_ASCII.test(declared.trim()) || shiftedCharset(declared) !== null) return null;
  const charset = normalizeCharset(declared);
  return DEFAULTS.has(charset) || !createDecodeStream(charset).supported ? null : charset;
}

/**
 * Guesses the character set of bytes that are not UTF-8.
 *
 * Text is Cyrillic if most of its non-ASCII letters form words without ASCII letters, and many of these letters are
 * frequent in Cyrillic text. Otherwise, the text is Western.
 *
 * Cyrillic text is in windows-1251 or KOI8-R, which swap the bytes of capital and lower-case letters. In the right
 * character set, only the first letters of words are capitals.
 */
function guess(bytes: Buffer): string {
  const first = bytes.findIndex((byte) => byte >= 0x80);
  const sample = bytes.toString('latin1', first, first + SAMPLE_BYTES_MAX);
  const high = (sample.match(HIGH) ?? []).length;
  const words = sample.match(HIGH_WORD) ?? [];
  const inWords = (words.join('').match(HIGH_LETTER) ?? []).join('');
  const in1251 = (inWords.match(FREQUENT_1251) ?? []).length;
  const inKoi8 = (inWords.match(FREQUENT_KOI8) ?? []).length;
  const isCyrillic =
    inWords.length >= CYRILLIC_LETTERS_MIN &&
    inWords.length >= high * CYRILLIC_WORDS_MIN &&
    Math.max(in1251, inKoi8) >= inWords.length * FREQUENT_MIN;
  if (!isCyrillic) return 'windows-1252';
  const upperHalf = (inWords.match(UPPER_HALF) ?? []).length;
  const capitalized = words.filter((word) => CAPITALIZED_1251.test(word)).length;
  const inverted = words.filter((word) => CAPITALIZED_KOI8.test(word)).length;
  const caseWeight = 0.15 * (2 * upperHalf - inWords.length) + 2 * (capitalized - inverted);
  return in1251 - inKoi8 + caseWeight >= 0 ? 'windows-1251' : 'KOI8-R';
}

const withoutMark = (text: string): string => (text.startsWith('\ufeff') ? text.slice(1) : text);
