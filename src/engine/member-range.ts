/** In UTF-16 units: `text.slice(start, end)`. */
export interface MemberRange {
  start: number;
  end: number;
}

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Returns the range of the value of a JSON object's top-level member, without surrounding white space. `null` when
 * there is none, or the text is no object. The last of several equal names wins, as in `JSON.parse`. A payload is
 * signed and delivered with exactly the characters that the caller sent, because serializing would change numbers and
 * spacing. `text` must be accepted by `JSON.parse`. @throws SyntaxError when it ends inside a string, an array or an
 * object.
 */
export function findMemberRange(text: string, name: string): MemberRange | null {
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN_BRACE) return null;
  let memberRange: MemberRange | null = null;
  at = skipSpace(text, at + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = stringEnd(text, at);
    // Skips the colon, which may have white space on both sides.
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = valueEnd(text, start);
    if (isKey(text, at + 1, keyEnd - 1, name)) memberRange = { start, end };
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return memberRange;
}

function isKey(text: string, start: number, end: number, name: string): boolean {
  // An escape is never shorter than the character it encodes.
  if (end - start < name.length) return false;
  const spelling = text.slice(start, end);
  if (!spelling.includes('\\')) return spelling === name;
  return JSON.parse(`"${spelling}"`) === name;
}

function valueEnd(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return stringEnd(text, start);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return nestedEnd(text, start);
  return scalarEnd(text, start);
}

/** Counts instead of recursing, because the caller controls the depth and could overflow the stack. */
function nestedEnd(text: string, start: number): number {
  let depth = 1;
  let at = start + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at);
      continue;
    }
    at += 1;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  throw new SyntaxError('The JSON text ends inside an array or an object.');
}

function stringEnd(text: string, start: number): number {
  let close = text.indexOf('"', start + 1);
  while (close !== -1 && isEscaped(text, close)) close = text.indexOf('"', close + 1);
  if (close === -1) throw new SyntaxError('The JSON text ends inside a string.');
  return close + 1;
}

/** An odd number of backslashes precedes the quote. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

function scalarEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === CLOSE_BRACE || isSpace(code)) break;
    at += 1;
  }
  return at;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function isSpace(code: number): boolean {
  return code === SPACE || code === LF || code === TAB || code === CR;
}
