import { Buffer } from 'node:buffer';

/** An encoded word: charset with an optional language (RFC 2231, section 5), encoding, and text. */
const WORD = String.raw`=\?([\w.:+-]+)(?:\*[\w.:+*-]*)?\?([bq])\?([^?]*)\?=`;
const EACH_WORD = new RegExp(WORD, 'gi');
/** Adjacent words. White space between them is not part of the text (RFC 2047, section 6.2). */
const EACH_RUN = new RegExp(`${WORD}(?:\\s*${WORD})*`, 'gi');

/**
 * Replaces the encoded words of a header value (RFC 2047) by their text, in linear time. Adjacent words of one charset
 * are decoded together, because many senders split a character over two words. `show` is applied to the decoded text of
 * each group of adjacent words.
 */
export function decodeWords(
  value: string,
  decode: (bytes: Buffer, charset: string) => string = inCharset,
  show = (text: string): string => text,
): string {
  if (!value.includes('=?')) return value;
  return value.replace(EACH_RUN, (run) => {
    const words = [...run.matchAll(EACH_WORD)].map(([, charset = '', encoding = '', text = '']) => ({
      charset: charset.toLowerCase(),
      bytes: encoding.toLowerCase() === 'b' ? base64(text) : quoted(text),
    }));
    let text = '';
    for (let from = 0; from < words.length;) {
      const { charset } = words[from]!;
      let to = from + 1;
      while (to < words.length && words[to]!.charset === charset) to += 1;
      text += decode(Buffer.concat(words.slice(from, to).map(({ bytes }) => bytes)), charset);
      from = to;
    }
    return show(text);
  });
}

/** A piece of a parameter that is split over several parameters (RFC 2231). Each character stands for one byte. */
interface ParameterSegment {
  value: string;
  /** True if the name of the segment ends with an asterisk. Only such a segment contains percent-encoded bytes. */
  isEncoded: boolean;
}

/**
 * Decodes a parameter (RFC 2231, section 4). Without a character set in the first segment, decodes encoded words
 * instead. Keeps a percent sign that does not precede two hexadecimal digits.
 */
export function decodeSegments(segments: readonly ParameterSegment[], decode = inCharset): string {
  const [first, ...rest] = segments;
  const [, charset, text = ''] = first?.isEncoded === true ? (/^([^']*)'[^']*'(.*)$/s.exec(first.value) ?? []) : [];
  if (charset === undefined)
    return decodeWords(Buffer.from(segments.map(({ value }) => value).join(''), 'latin1').toString(), decode);
  const bytes = [{ value: text, isEncoded: true }, ...rest].map(({ value, isEncoded }) =>
    isEncoded ? fromHex(value, /%([\da-f]{2})/gi) : value,
  );
  return decode(Buffer.from(bytes.join(''), 'latin1'), charset === '' ? 'utf-8' : charset);
}

/** Decodes base64 in pieces that end with padding, because a word may contain several encoded pieces. */
function base64(text: string): Buffer {
  return Buffer.concat((text.match(/[^=]+/g) ?? []).map((piece) => Buffer.from(piece, 'base64')));
}

function quoted(text: string): Buffer {
  // Non-ASCII characters that the sender did not encode are in UTF-8.
  const bytes = Buffer.from(text.replaceAll('_', ' ')).toString('latin1');
  return Buffer.from(fromHex(bytes, /=([\da-f]{2})/gi), 'latin1');
}

/** Replaces every match of `escape` by the character with the captured hexadecimal code. */
function fromHex(text: string, escape: RegExp): string {
  return text.replace(escape, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** Decodes bytes in a charset. Uses Latin-1 if the charset is unknown. */
export function inCharset(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}
