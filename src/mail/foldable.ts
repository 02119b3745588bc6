import { isAscii } from 'node:buffer';

/** Maximum length of a word that fits into a line of 998 bytes together with the header's name. */
const WORD_BYTES_MAX = 900;
/** Number of bytes per encoded word. The word then has 56 characters, of at most 75 (RFC 2047, section 2). */
const CHUNK = /[^]{1,33}/g;

/**
 * Matches long white space. nodemailer would fold it into a line of its own, which some servers treat as the end of the
 * headers.
 */
const RUN = /[ \t]{40,}/g;

/**
 * Returns the value of an unstructured header in a form that nodemailer can fold. nodemailer folds ASCII text only at
 * spaces.
 *
 * Text with an overlong word or a long run of spaces is therefore split into encoded words, which mail clients join
 * again. Text that contains an encoded word is encoded too, because mail clients would decode it.
 */
export function foldable(text: string): string {
  const trimmed = text.trimEnd();
  const isFoldable = trimmed.search(RUN) === -1 && trimmed.split(/\s/).every((word) => word.length <= WORD_BYTES_MAX);
  if ((isFoldable && !trimmed.includes('=?')) || !isAscii(Buffer.from(trimmed))) return trimmed;
  const words = trimmed.match(CHUNK) ?? [];
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join(' ');
}

/** Returns a text without long runs of spaces, for headers that programs parse. */
export function withoutRuns(text: string): string {
  return text.trimEnd().replace(RUN, ' ');
}
