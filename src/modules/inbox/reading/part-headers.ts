import libmime from 'libmime';
import { decodeSegments } from '#engine/mail/encoded-words.js';
import type { RawHeader } from './mime-parts.js';
import { decodeHeader, decodeWord, decodeWords, wordsInUtf8 } from './text-decoding.js';

const FOLD = /\r?\n(?=[ \t])/g;
/**
 * C1 control characters. In ISO-8859-1 and in undeclared character sets, their bytes usually mean windows-1252
 * characters.
 */
const C1 = /[\x80-\x9f]/g;
/** Replaces the asterisk while libmime parses parameters, so that it does not decode RFC 2231. */
const ASTERISK = '\uffff';
/** End of the name of a parameter segment (RFC 2231): `*`, `*0` or `*0*`. */
const SEGMENT = /^\uffff(?:(\d{1,4})(\uffff)?)?$/;

/** Reads the header section of a part or message, whose bytes may be in any character set. */
export class PartHeaders {
  /** True if a character set was guessed for a value that was read. */
  isGuessed = false;

  /** `hint` is the character set for bytes that are not UTF-8. The part or the message declares it. */
  constructor(
    private readonly lines: readonly RawHeader[],
    private readonly hint: string | null,
  ) {}

  /** Returns lower-case names and unfolded values of at most `max` headers, in order. */
  all(max: number): { name: string; value: string }[] {
    return this.lines.slice(0, max).map(({ key, line }) => ({ name: key, value: this.valueOf(line) }));
  }

  /** Returns the unfolded value of the first header named `name` (lower case), or null. */
  first(name: string): string | null {
    const line = this.lines.find(({ key }) => key === name)?.line;
    return line === undefined ? null : this.valueOf(line);
  }

  /** Returns the unfolded value of the first header named `name`, with encoded words decoded. Null if there is none. */
  words(name: string): string | null {
    const value = this.first(name);
    return value === null ? null : decodeWords(value);
  }

  /** Returns the unfolded values of all headers named `name`, with encoded words decoded. */
  allWords(name: string): string[] {
    return this.lines.filter(({ key }) => key === name).map(({ line }) => decodeWords(this.valueOf(line)));
  }

  /** Returns the unfolded values of all headers named `name`, with encoded words rewritten in UTF-8. */
  wordsInUtf8(name: string): string[] {
    return this.lines.filter(({ key }) => key === name).map(({ line }) => wordsInUtf8(this.valueOf(line)));
  }

  /** Returns the name of a file: the parameter `filename` of Content-Disposition, or `name` of Content-Type. */
  filename(): string | null {
    return this.parameter('content-disposition', 'filename') ?? this.parameter('content-type', 'name');
  }

  private parameter(header: string, name: string): string | null {
    const hidden = (this.first(header) ?? '').replaceAll('*', ASTERISK);
    const { params } = libmime.parseHeaderValue(hidden, { stripComments: true });
    const text = segmentedText(params, name) ?? decodeWords((params[name] ?? '').replaceAll(ASTERISK, '*'));
    if (text === '') return null;
    return text.replace(C1, (character) => decodeHeader(Buffer.from(character, 'latin1'), 'windows-1252').text);
  }

  private valueOf(line: string): string {
    const { text, isGuessed } = decodeHeader(Buffer.from(line, 'latin1'), this.hint);
    this.isGuessed ||= isGuessed;
    return text
      .slice(text.indexOf(':') + 1)
      .replace(FOLD, '')
      .trim();
  }
}

/**
 * Returns the text of a parameter in the form of RFC 2231, which takes precedence over the plain form. Null if there is
 * none.
 */
function segmentedText(params: Readonly<Record<string, string>>, name: string): string | null {
  const segments = Object.entries(params).flatMap(([key, value]) => {
    const [whole, number, star] = (key.startsWith(name) && SEGMENT.exec(key.slice(name.length))) || [];
    if (whole === undefined) return [];
    const bytes = Buffer.from(value.replaceAll(ASTERISK, '*')).toString('latin1');
    return [{ value: bytes, number: Number(number ?? 0), isEncoded: number === undefined || star !== undefined }];
  });
  const sorted = segments.sort((a, b) => a.number - b.number);
  return sorted.length === 0 ? null : decodeSegments(sorted, decodeWord);
}
