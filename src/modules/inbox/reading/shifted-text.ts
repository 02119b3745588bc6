import { isUtf8 } from 'node:buffer';

/** Family of seven-bit character sets that switch between sets of characters with shift sequences. */
export type ShiftedCharset = 'iso-2022' | 'hz';

/** Set of characters that a shift sequence selects. */
interface CodedSet {
  /** Eight-bit encoding that contains the set. Null if no library can decode the set. */
  encoding: 'euc-jp' | 'euc-kr' | 'gbk' | null;
  /** Number of bytes of a character. */
  width: 1 | 2;
  /** Byte before each character in the eight-bit encoding. */
  prefix?: number;
}

const ISO_2022 = /^(?:(?:cs)?iso-?2022-?(?:jp|kr|cn)|jis|cp5022\d$)/i;
const HZ = /^hz(?:-gb-2312)?$/i;

const ASCII = null;
const JIS_0208: CodedSet = { encoding: 'euc-jp', width: 2 };
const JIS_0212: CodedSet = { encoding: 'euc-jp', width: 2, prefix: 0x8f };
const KATAKANA: CodedSet = { encoding: 'euc-jp', width: 1, prefix: 0x8e };
const KSC_5601: CodedSet = { encoding: 'euc-kr', width: 2 };
const GB_2312: CodedSet = { encoding: 'gbk', width: 2 };
const UNKNOWN: CodedSet = { encoding: null, width: 2 };

/** Sets that escape sequences select at once (G0), by the sequence without ESC. */
const SELECTED: ReadonlyMap<string, CodedSet | null> = new Map([
  ['(B', ASCII],
  ['(J', ASCII],
  ['(H', ASCII],
  ['(I', KATAKANA],
  ['$@', JIS_0208],
  ['$B', JIS_0208],
  ['$(@', JIS_0208],
  ['$(B', JIS_0208],
  ['$(O', JIS_0208],
  ['$(Q', JIS_0208],
  ['$(D', JIS_0212],
  ['$A', GB_2312],
  ['$(A', GB_2312],
  ['$(C', KSC_5601],
  ['$(P', UNKNOWN],
]);
/** Sets that escape sequences assign to shift out (G1), by the sequence without ESC. */
const ASSIGNED: ReadonlyMap<string, CodedSet> = new Map([
  ['$)A', GB_2312],
  ['$)C', KSC_5601],
  ['$)G', UNKNOWN],
  ['$)E', UNKNOWN],
]);
const ISO_TOKEN = /\x1b(\$[()]?[@-Q]|\([@-Z])|[\x0e\x0f\r\n\x1b]|[^\x0e\x0f\r\n\x1b]+/g;
/** Text between `~{` and `~}`, an escaped tilde, a line continuation, or an invalid byte. */
const HZ_TOKEN = /~\{((?:[\x21-\x7d][\x21-\x7e])*)(?:~\})?|~~|~\r?\n|[\x80-\xff]/g;
/** Sequences of JIS. Programs that write half-width katakana in eight bits (JIS8) use them for all other characters. */
const JIS_SHIFT = /\x1b\$[@B]/;
const ISO_SHIFT = /\x1b[$(]|\x0e/;
const ABOVE_ASCII = /[\x80-\xff]/g;
const EIGHT_BIT_KATAKANA = /[\xa1-\xdf]+/g;
/** Bytes of characters, or one invalid byte. Spaces and control characters are the same in all sets. */
const CODED = /[\x21-\x7e]+|[\x80-\xff]/g;
const REPLACEMENT = '\ufffd';

/** Returns the family of a character set, by its declared name. Null if it has no shift sequences. */
export function shiftedCharset(name: string): ShiftedCharset | null {
  if (ISO_2022.test(name.trim())) return 'iso-2022';
  return HZ.test(name.trim()) ? 'hz' : null;
}

/**
 * Decodes text with shift sequences (RFC 1468, RFC 1554, RFC 1557, RFC 1843, RFC 1922). Invalid bytes and unknown
 * characters become U+FFFD. Returns null if the declared character set is wrong: for bytes above ASCII without shift
 * sequences, and for UTF-8. UTF-8 may contain ESC in sequences that control terminals.
 */
export function decodeShifted(bytes: Buffer, charset: ShiftedCharset): string | null {
  const text = bytes.toString('latin1');
  const isShifted = charset === 'hz' ? text.includes('~{') : ISO_SHIFT.test(text);
  const isEightBit = bytes.some((byte) => byte >= 0x80);
  if (isEightBit && (!isShifted || isUtf8(bytes)) && !isJis8(text, charset)) return null;
  return charset === 'hz' ? decodeHz(text) : decodeIso2022(text);
}

/** Returns whether half-width katakana are the only bytes above ASCII of a text with JIS sequences. */
const isJis8 = (text: string, charset: ShiftedCharset): boolean =>
  charset === 'iso-2022' && JIS_SHIFT.test(text) && !/[\x80-\xa0\xe0-\xff]/.test(text);

function decodeIso2022(text: string): string {
  const decodeAscii = isJis8(text, 'iso-2022') ? decodeKatakana : replaceAboveAscii;
  let decoded = '';
  let selected: CodedSet | null = ASCII;
  let assigned: CodedSet | null = null;
  let isOut = false;
  for (const [token, escape = ''] of text.matchAll(ISO_TOKEN)) {
    // A line starts in ASCII. A missing shift sequence therefore damages only one line.
    if (token === '\r' || token === '\n') [selected, isOut] = [ASCII, false];
    if (SELECTED.has(escape)) selected = SELECTED.get(escape)!;
    else if (ASSIGNED.has(escape)) assigned = ASSIGNED.get(escape)!;
    else if (token === '\x0e' && assigned !== null) isOut = true;
    else if (token === '\x0f' && isOut) isOut = false;
    else if (token.startsWith('\x1b')) decoded += REPLACEMENT + token.slice(1);
    else decoded += decodeRun(token, isOut ? assigned : selected, decodeAscii);
  }
  return decoded;
}

const decodeHz = (text: string): string =>
  text.replaceAll(HZ_TOKEN, (token, coded?: string) => {
    if (coded !== undefined) return decodeCharacters(coded, GB_2312);
    if (token === '~~') return '~';
    return token.startsWith('~') ? '' : REPLACEMENT;
  });

/** Decodes text between two shift sequences. Each character of `run` stands for one byte. */
function decodeRun(run: string, set: CodedSet | null, decodeAscii: (run: string) => string): string {
  if (set === ASCII) return decodeAscii(run);
  return run.replaceAll(CODED, (coded) => (coded < '\x80' ? decodeCharacters(coded, set) : REPLACEMENT));
}

const replaceAboveAscii = (run: string): string => run.replaceAll(ABOVE_ASCII, REPLACEMENT);

const decodeKatakana = (run: string): string =>
  run.replaceAll(EIGHT_BIT_KATAKANA, (coded) => decodeCharacters(coded, KATAKANA));

function decodeCharacters(coded: string, { encoding, width, prefix }: CodedSet): string {
  if (encoding === null) return REPLACEMENT.repeat(Math.ceil(coded.length / width));
  const bytes: number[] = [];
  const end = coded.length - (coded.length % width);
  for (let at = 0; at < end; at += 1) {
    if (prefix !== undefined && at % width === 0) bytes.push(prefix);
    bytes.push(coded.charCodeAt(at) | 0x80);
  }
  const text = new TextDecoder(encoding).decode(Uint8Array.from(bytes));
  return end < coded.length ? text + REPLACEMENT : text;
}
