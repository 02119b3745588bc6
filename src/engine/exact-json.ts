import { compareDecimals } from './decimals.js';

/** JSON numbers beyond a JavaScript number: integers over 2^53, and more digits than a double keeps. */
export class ExactNumber {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** Matches texts that may hold such a number. All other texts go to `JSON.parse`, which is ten times as fast. */
export const SUSPECT = /[\d.]{16}|\d[eE][+-]?\d{2}/;
export const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERALS: Readonly<Record<string, readonly [text: string, value: boolean | null]>> = {
  t: ['true', true],
  f: ['false', false],
  n: ['null', null],
};

/**
 * Like `JSON.parse`, but a number that would lose digits becomes an `ExactNumber`. Recurses as deeply as the text
 * nests.
 * @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  const value = JSON.parse(text) as unknown;
  return SUSPECT.test(text) ? new Reader(text).read() : value;
}

/**
 * Like `JSON.stringify`, but writes every number in its original spelling. For JSON values and undefined members only.
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

/** Reads a text that is known to be valid JSON. */
class Reader {
  private at = 0;
  private escape = -1;

  constructor(private readonly text: string) {}

  read(): unknown {
    this.skipSpace();
    const first = this.text[this.at] as string;
    if (first === '{') return this.object();
    if (first === '[') return this.list();
    if (first === '"') return this.string();
    const literal = LITERALS[first];
    if (literal === undefined) return this.number();
    this.at += literal[0].length;
    return literal[1];
  }

  private object(): Record<string, unknown> {
    const members: [string, unknown][] = [];
    while (this.goesOn('}')) {
      const name = this.string();
      this.skipSpace();
      this.at += 1;
      members.push([name, this.read()]);
    }
    // Unlike an assignment, fromEntries treats "__proto__" like any other name. The last of several equal names wins.
    return Object.fromEntries(members);
  }

  private list(): unknown[] {
    const values: unknown[] = [];
    while (this.goesOn(']')) values.push(this.read());
    return values;
  }

  /** Steps over the opening bracket or a comma. Returns false after the closing bracket. */
  private goesOn(close: string): boolean {
    this.skipSpace();
    if (this.text[this.at] !== close) {
      this.at += 1;
      this.skipSpace();
      if (this.text[this.at] !== close) return true;
    }
    this.at += 1;
    return false;
  }

  private string(): string {
    const from = this.at;
    let to = this.text.indexOf('"', from + 1);
    let isPlain = true;
    for (let escape = this.escapeFrom(from); escape < to; escape = this.escapeFrom(escape + 2)) {
      isPlain = false;
      if (escape + 1 === to) to = this.text.indexOf('"', to + 1);
    }
    this.at = to + 1;
    return isPlain ? this.text.slice(from + 1, to) : (JSON.parse(this.text.slice(from, this.at)) as string);
  }

  /** Returns the index of the next backslash. Cached, because every string needs it and most texts have none. */
  private escapeFrom(from: number): number {
    if (this.escape < from) {
      const found = this.text.indexOf('\\', from);
      this.escape = found === -1 ? Infinity : found;
    }
    return this.escape;
  }

  private number(): number | ExactNumber {
    NUMBER.lastIndex = this.at;
    const [text = ''] = NUMBER.exec(this.text) ?? [];
    this.at += text.length;
    return numberOf(text);
  }

  private skipSpace(): void {
    for (
      let code = this.text.charCodeAt(this.at);
      code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
      code = this.text.charCodeAt(this.at)
    ) {
      this.at += 1;
    }
  }
}
