import { compareDecimals } from './decimals.js';
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  FALSE,
  JsonScanner,
  NUMBER,
  OPEN_ARRAY,
  OPEN_OBJECT,
  STRING,
  TRUE,
} from './json-scanner.js';

/** A JSON number that a JavaScript number cannot represent: an integer over 2^53, or more digits than a double has. */
export class ExactNumber {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** Matches texts that may contain an `ExactNumber`. All other texts go to `JSON.parse`, which is ten times as fast. */
export const SUSPECT = /[\d.]{16}|\d[eE][+-]?\d{2}/;

/** Maximum number of values in a text for `parseSpelled`. More values would block the event loop for over 0.1 s. */
const SPELLED_VALUES_MAX = 20_000;

/** Matches texts that may contain a number that JavaScript writes differently, such as `1.10`, `1E5` or `-0`. */
const RESPELLED = /[\d.]{16}|\d[eE]|\.\d*0(?!\d)|-0/;

/**
 * Parses JSON. A number that would lose digits becomes an `ExactNumber`. Recursive: a deeply nested text can overflow
 * the stack.
 *
 * @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  const value = JSON.parse(text) as unknown;
  return SUSPECT.test(text) ? new Reader(text, numberOf).read() : value;
}

/**
 * Parses JSON and preserves the spelling of its numbers: a number that JavaScript would write differently becomes an
 * `ExactNumber`. Returns undefined if there is no such number, if the text is not JSON, or if the text nests too deeply
 * or has over 20,000 values.
 */
export function parseSpelled(text: string): unknown {
  if (!RESPELLED.test(text)) return undefined;
  try {
    JSON.parse(text);
    const reader = new Reader(
      text,
      (spelling) => (String(Number(spelling)) === spelling ? Number(spelling) : new ExactNumber(spelling)),
      SPELLED_VALUES_MAX,
    );
    const value = reader.read();
    return reader.hasExact ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the original spellings of the numbers that JavaScript would write differently, in the structure of the JSON
 * value. Expects a value from `parseSpelled`. Omits all other object members. Replaces all other array items by 0.
 */
export function spellingsOf(value: unknown): unknown {
  if (value instanceof ExactNumber) return value.toString();
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) {
    const items = value.map(spellingsOf);
    return items.some((item) => item !== 0) ? items : 0;
  }
  const members = Object.entries(value)
    .map(([name, member]) => [name, spellingsOf(member)] as const)
    .filter(([, spellings]) => spellings !== 0);
  return members.length > 0 ? Object.fromEntries(members) : 0;
}

/**
 * Serializes a value as JSON, with every number in its original spelling. Accepts only JSON values and undefined
 * members.
 */
export function writeExact(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof ExactNumber) return value.toString();
  if (Array.isArray(value)) return `[${value.map(writeExact).join(',')}]`;
  return `{${Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${JSON.stringify(name)}:${writeExact(member)}`)
    .join(',')}}`;
}

export function numberOf(text: string): number | ExactNumber {
  const value = Number(text);
  const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
  return isExact && compareDecimals(String(value), text) === 0 ? value : new ExactNumber(text);
}

/** Reads a text that has been validated as JSON. */
class Reader {
  private readonly scanner: JsonScanner;
  hasExact = false;

  constructor(
    text: string,
    private readonly numberOf: (spelling: string) => number | ExactNumber,
    private valuesLeft = Infinity,
  ) {
    this.scanner = new JsonScanner(text);
  }

  /**
   * Reads the value that starts with `token`.
   *
   * @throws RangeError if the text has too many values
   */
  read(token = this.scanner.next()): unknown {
    this.valuesLeft -= 1;
    if (this.valuesLeft < 0) throw new RangeError('The text has too many values.');
    switch (token) {
      case OPEN_OBJECT:
        return this.readObject();
      case OPEN_ARRAY:
        return this.readList();
      case STRING:
        return this.scanner.decode();
      case NUMBER:
        return this.readNumber();
      case TRUE:
        return true;
      case FALSE:
        return false;
      default:
        return null;
    }
  }

  private readNumber(): number | ExactNumber {
    const number = this.numberOf(this.scanner.spelling);
    this.hasExact ||= typeof number !== 'number';
    return number;
  }

  private readObject(): Record<string, unknown> {
    const members: [string, unknown][] = [];
    for (let token = this.scanner.next(); token !== CLOSE_OBJECT; token = this.scanner.next()) {
      if (token === COMMA) this.scanner.next();
      const name = this.scanner.decode();
      // Skips the colon.
      this.scanner.next();
      members.push([name, this.read()]);
    }
    // Uses `fromEntries`, because an assignment to the name `__proto__` would set the prototype. The last of several
    // members with the same name wins.
    return Object.fromEntries(members);
  }

  private readList(): unknown[] {
    const values: unknown[] = [];
    for (let token = this.scanner.next(); token !== CLOSE_ARRAY; token = this.scanner.next()) {
      values.push(this.read(token === COMMA ? this.scanner.next() : token));
    }
    return values;
  }
}
