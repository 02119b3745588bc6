import { isUtf8 } from 'node:buffer';
import { createDecodeStream, decode, normalizeCharset } from 'libmime/lib/charset.js';
import { decodeWords as decodeWordsWith } from '#engine/mail/encoded-words.js';

export interface DecodedText {
  text: string;
  /** True if no valid character set was declared, the bytes are not UTF-8, and the character set was guessed. */
  isGuessed: boolean;
}

/** Bytes of HTML in which `<meta charset>` is searched (HTML Living Standard, "prescan a byte stream"). */
const META_BYTES_MAX = 1_024;
const META = /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:+-]{1,40})/i;
/** Number of bytes used for the guess, from the first non-ASCII byte on. More bytes would not change the result. */
const SAMPLE_BYTES_MAX = 16 * 1_024;
/** Character set names that are ignored: senders declare them by default, even if the text is in another one. */
const DEFAULTS: ReadonlySet<string> = new Set(['UTF-8', 'ASCII', '7BIT']);
const US_ASCII = /^(?:us[-_]?)?ascii$|^ansi_x3/i;

/**
 * Decodes the text of a part by its declared character set. Bytes without a usable declaration are UTF-8 if they are
 * valid UTF-8, otherwise the character set of `<meta>` (HTML only), otherwise a guess.
 */
export function decodePart(bytes: Buffer, declared: string | null, isHtml: boolean): DecodedText {
  const charset = usable(declared);
  if (charset !== null) return { text: withoutMark(decode(bytes, charset)), isGuessed: false };
  const isDeclaredUtf8 = declared !== null && normalizeCharset(declared) === 'UTF-8';
  if (isDeclaredUtf8 || isUtf8(bytes)) return { text: withoutMark(bytes.toString()), isGuessed: false };
  const inMeta = isHtml ? (META.exec(bytes.toString('latin1', 0, META_BYTES_MAX))?.[1] ?? null) : null;
  const named = usable(inMeta);
  if (named !== null) return { text: decode(bytes, named), isGuessed: false };
  return { text: decode(bytes, guess(bytes)), isGuessed: true };
}

/** Decodes the bytes of a header, which are in UTF-8 (RFC 6532) or in an undeclared character set. */
export function decodeHeader(bytes: Buffer, hint: string | null): DecodedText {
  if (isUtf8(bytes)) return { text: bytes.toString(), isGuessed: false };
  return { text: decode(bytes, usable(hint) ?? guess(bytes)), isGuessed: true };
}

/** Replaces encoded words (RFC 2047) with the text that they encode. */
export function decodeWords(value: string): string {
  return decodeWordsWith(value, decodeWord);
}

/** Rewrites encoded words in UTF-8, for a parser that must split the value before it decodes encoded words. */
export function wordsInUtf8(value: string): string {
  return decodeWordsWith(value, decodeWord, (text) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`);
}

const decodeWord = (bytes: Buffer, charset: string): string => decodePart(bytes, charset, false).text;

/** Returns the canonical name of a declared character set. Null if the name is unknown or in `DEFAULTS`. */
function usable(declared: string | null): string | null {
  if (declared === null || US_ASCII.test(declared.trim())) return null;
  const charset = normalizeCharset(declared);
  return DEFAULTS.has(charset) || !createDecodeStream(charset).supported ? null : charset;
}

/**
 * Guesses the character set of bytes that are not UTF-8. Western text contains isolated non-ASCII letters, and Cyrillic
 * text consists of them. Small Cyrillic letters have higher codes than capitals in windows-1251, and lower codes in
 * KOI8-R.
 */
function guess(bytes: Buffer): string {
  let [high, letters, pairs, upperHalf] = [0, 0, 0, 0];
  let isAfterLetter = false;
  const first = bytes.findIndex((byte) => byte >= 0x80);
  for (const byte of bytes.subarray(first, first + SAMPLE_BYTES_MAX)) {
    const isLetter = byte >= 0xc0;
    if (byte >= 0x80) high += 1;
    if (isLetter) letters += 1;
    if (isLetter && isAfterLetter) pairs += 1;
    if (byte >= 0xe0) upperHalf += 1;
    isAfterLetter = isLetter;
  }
  const isCyrillic = letters >= high * 0.85 && pairs >= letters * 0.6;
  return !isCyrillic ? 'windows-1252' : upperHalf >= letters / 2 ? 'windows-1251' : 'KOI8-R';
}

const withoutMark = (text: string): string => (text.startsWith('\ufeff') ? text.slice(1) : text);
