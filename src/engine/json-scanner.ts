/** Kinds of JSON tokens. Each kind is the code of the token's first character. Numbers use the code of `0`. */
export const END = -1;
export const STRING = 0x22;
export const COMMA = 0x2c;
export const NUMBER = 0x30;
export const COLON = 0x3a;
export const OPEN_ARRAY = 0x5b;
export const CLOSE_ARRAY = 0x5d;
export const FALSE = 0x66;
export const NULL = 0x6e;
export const TRUE = 0x74;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;

const SPACE = 0x20;
const MINUS = 0x2d;
const DIGIT_NINE = 0x39;
const BACKSLASH = 0x5c;

/**
 * Reads the tokens of a JSON text one by one. Positions are indexes of UTF-16 units, as for `slice`.
 *
 * Does not validate the text, so call `JSON.parse` first. For invalid JSON, the tokens are unspecified, but the scanner
 * ends or throws a SyntaxError. It does not use recursion, because deeply nested JSON could overflow the stack.
 */
export class JsonScanner {
  /** Index of the current token's first character. */
  start = 0;
  /** Index after the current token's last character. */
  end = 0;
  /** Index of the next backslash. Cached, because every string needs it and most texts have no backslash. */
  private backslash = -1;

  constructor(private readonly text: string) {}

  /**
   * Moves to the next token and returns its kind, or `END` after the last one.
   * @throws SyntaxError when the text ends inside a string.
   */
  next(): number {
    const { text } = this;
    for (let at = this.end; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (!isSpace(code)) return this.readToken(at, code);
    }
    this.start = this.end = text.length;
    return END;
  }

  /**
   * Moves to the next value. An object or an array becomes one token, from its opening to its closing bracket.
   * @throws SyntaxError when the text ends inside a string, an object or an array.
   */
  nextValue(): void {
    const first = this.next();
    if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return;
    this.end = nestedEnd(this.text, this.end);
  }

  /** The current token as it is written. */
  get spelling(): string {
    return this.text.slice(this.start, this.end);
  }

  /** Returns the value of the current token, which must be a string. */
  decode(): string {
    if (this.backslash < this.start) {
      const found = this.text.indexOf('\\', this.start);
      this.backslash = found === -1 ? Infinity : found;
    }
    if (this.backslash < this.end) return JSON.parse(this.spelling) as string;
    return this.text.slice(this.start + 1, this.end - 1);
  }

  /** Reads the token that starts at `at` with the character `code`, and returns its kind. */
  private readToken(at: number, code: number): number {
    this.start = at;
    if (code === STRING) this.end = stringEnd(this.text, at);
    else if (code === TRUE || code === NULL) this.end = at + 'true'.length;
    else if (code === FALSE) this.end = at + 'false'.length;
    else if (code === MINUS || (code >= NUMBER && code <= DIGIT_NINE)) {
      this.end = numberEnd(this.text, at + 1);
      return NUMBER;
    } else this.end = at + 1;
    return code;
  }
}

/** Returns the index after the bracket that closes the object or array that opens before `start`. */
function nestedEnd(text: string, start: number): number {
  let depth = 1;
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === STRING) {
      at = stringEnd(text, at);
      continue;
    }
    at += 1;
    // Skips characters with a lower code than `[`, because they are not brackets. Outside strings, these are mostly
    // digits, commas, colons and spaces.
    if (code < OPEN_ARRAY) continue;
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth += 1;
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  throw new SyntaxError('The JSON text ends inside an array or an object.');
}

/** Returns the index after the closing quote of the string that starts at `start`. */
function stringEnd(text: string, start: number): number {
  let close = text.indexOf('"', start + 1);
  while (close !== -1 && isEscaped(text, close)) close = text.indexOf('"', close + 1);
  if (close === -1) throw new SyntaxError('The JSON text ends inside a string.');
  return close + 1;
}

/** Returns whether an odd number of backslashes precedes the quote, which escapes it. */
function isEscaped(text: string, quote: number): boolean {
  let first = quote;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (quote - first) % 2 === 1;
}

/** Returns the index after the last character of the number that contains the index `start`. */
function numberEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === CLOSE_OBJECT || code === CLOSE_ARRAY || isSpace(code)) break;
    at += 1;
  }
  return at;
}

/** Returns whether a character is white space. Outside strings, JSON has no other characters with a code up to 32. */
function isSpace(code: number): boolean {
  return code <= SPACE;
}
