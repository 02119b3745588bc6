import { ok, strictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  END,
  FALSE,
  JsonScanner,
  NULL,
  NUMBER,
  OPEN_ARRAY,
  OPEN_OBJECT,
  STRING,
  TRUE,
} from './json-scanner.js';

interface Token {
  kind: number;
  start: number;
  end: number;
  /** The value of a string, number or literal. */
  value?: unknown;
}

function tokensOf(text: string): Token[] {
  const scanner = new JsonScanner(text);
  const tokens: Token[] = [];
  for (let kind = scanner.next(); kind !== END; kind = scanner.next()) {
    const { start, end } = scanner;
    tokens.push({ kind, start, end, value: valueOf(kind, scanner) });
    if (tokens.length > text.length) throw new Error('The scanner does not advance.');
  }
  return tokens;
}

function valueOf(kind: number, scanner: JsonScanner): unknown {
  if (kind === STRING) return scanner.decode();
  if (kind === NUMBER) return Number(scanner.spelling);
  return new Map<number, boolean | null>([
    [TRUE, true],
    [FALSE, false],
    [NULL, null],
  ]).get(kind);
}

/** Builds a JSON value from tokens. Checks tokens with `assert`, which is much faster than `expect`. */
function parseTokens(tokens: readonly Token[]): unknown {
  const rest = [...tokens].reverse();
  const read = (): unknown => {
    const { kind, value } = rest.pop() as Token;
    if (kind !== OPEN_OBJECT && kind !== OPEN_ARRAY) return value;
    const entries: [string, unknown][] = [];
    const close = kind === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY;
    if (rest.at(-1)?.kind === close) rest.pop();
    else
      do {
        const name = kind === OPEN_OBJECT ? (rest.pop()?.value as string) : '';
        if (kind === OPEN_OBJECT) strictEqual(rest.pop()?.kind, COLON);
        entries.push([name, read()]);
      } while (expectSeparator(rest.pop()?.kind, close));
    return kind === OPEN_OBJECT ? Object.fromEntries(entries) : entries.map(([, inner]) => inner);
  };
  const value = read();
  expect(rest).toEqual([]);
  return value;
}

function expectSeparator(kind: number | undefined, close: number): boolean {
  ok(kind === COMMA || kind === close);
  return kind === COMMA;
}

function expectSameAsParse(text: string): void {
  const parsed = JSON.parse(text) as unknown;
  const tokens = tokensOf(text);

  // Compares JSON texts, which also show lone surrogates, own `__proto__` members and the order of members.
  expect(JSON.stringify(parseTokens(tokens))).toBe(JSON.stringify(parsed));
  const gaps = tokens.map(({ start }, i) => text.slice(tokens[i - 1]?.end ?? 0, start));
  expect([...gaps, text.slice(tokens.at(-1)?.end)].join('')).toMatch(/^[ \t\r\n]*$/);

  const whole = new JsonScanner(text);
  whole.nextValue();
  expect(whole.spelling).toBe(text.replaceAll(/^[ \t\r\n]+|[ \t\r\n]+$/g, ''));
  expect(whole.next()).toBe(END);
}

const space = fc.array(fc.constantFrom(' ', '\t', '\n', '\r'), { maxLength: 2 }).map((chars) => chars.join(''));

/** Generates JSON string literals of any UTF-16 units, including lone surrogates, with some units as escapes. */
const string = fc
  .array(
    fc.oneof(
      fc.constantFrom('\\"', '\\\\', '\\/', '\\n', '\\uD83D', '\\ude00', '\\u0022', '\\u005C', '{', '}', '[', ',', ':'),
      fc.integer({ min: 0x20, max: 0xffff }).map((code) => {
        const unit = String.fromCharCode(code);
        return unit === '"' || unit === '\\' ? `\\${unit}` : unit;
      }),
    ),
    { maxLength: 8 },
  )
  .map((units) => `"${units.join('')}"`);

const digits = fc.stringMatching(/^\d{1,40}$/);
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits.map((all) => all.replace(/^0+(?=\d)/, '')),
    fc.option(
      digits.map((all) => `.${all}`),
      { nil: '' },
    ),
    fc.option(fc.stringMatching(/^[eE][+-]?\d{1,6}$/), { nil: '' }),
  )
  .map((parts) => parts.join(''));

const name = fc.oneof(string, fc.constantFrom('"a"', '"\\u0061"', '"__proto__"', '"10"', '"9"', '""'));
const spaced = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(space, text, space).map((parts) => parts.join(''));
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: spaced(
    fc.oneof(
      { depthSize: 'medium' },
      string,
      number,
      fc.constantFrom('true', 'false', 'null', '[]', '{}', '[ ]', '{\n}'),
      fc.array(tie('json'), { minLength: 1, maxLength: 4 }).map((values) => `[${values.join(',')}]`),
      fc
        .array(fc.tuple(spaced(name), tie('json')), { minLength: 1, maxLength: 4 })
        .map((members) => `{${members.map((member) => member.join(':')).join(',')}}`),
    ),
  ),
}));

const mutation = fc.record({
  place: fc.nat(),
  removed: fc.nat(2),
  added: fc.constantFrom('', '{', '}', '[', ']', '"', '\\', ':', ',', ' ', '0', '-', 'e', '.', 't', '\0', '"a":'),
});

describe('JsonScanner', () => {
  it('reports each token with its kind and position', () => {
    const text = ' {"a\\"": [-1.5e+3,true ,false,null]}\n';

    expect(tokensOf(text)).toEqual([
      { kind: OPEN_OBJECT, start: 1, end: 2 },
      { kind: STRING, start: 2, end: 7, value: 'a"' },
      { kind: COLON, start: 7, end: 8 },
      { kind: OPEN_ARRAY, start: 9, end: 10 },
      { kind: NUMBER, start: 10, end: 17, value: -1500 },
      { kind: COMMA, start: 17, end: 18 },
      { kind: TRUE, start: 18, end: 22, value: true },
      { kind: COMMA, start: 23, end: 24 },
      { kind: FALSE, start: 24, end: 29, value: false },
      { kind: COMMA, start: 29, end: 30 },
      { kind: NULL, start: 30, end: 34, value: null },
      { kind: CLOSE_ARRAY, start: 34, end: 35 },
      { kind: CLOSE_OBJECT, start: 35, end: 36 },
    ]);
  });

  it('reads the value that JSON.parse reads, with duplicate names, escapes, lone surrogates and huge numbers', () => {
    fc.assert(fc.property(json, expectSameAsParse), { numRuns: 2_000 });
  });

  it('reads mutated texts as JSON.parse does, and ends or throws a SyntaxError if JSON.parse rejects them', () => {
    fc.assert(
      fc.property(json, fc.array(mutation, { minLength: 1, maxLength: 3 }), (valid, mutations) => {
        let text = valid;
        for (const { place, removed, added } of mutations) {
          const at = place % (text.length + 1);
          text = text.slice(0, at) + added + text.slice(at + removed);
        }

        if (isJson(text)) expectSameAsParse(text);
        else {
          expectEndOrSyntaxError(() => tokensOf(text));
          expectEndOrSyntaxError(() => new JsonScanner(text).nextValue());
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it('needs no stack for any depth', () => {
    const deep = `${'[{"a":'.repeat(100_000)}0${'}]'.repeat(100_000)}`;

    const scanner = new JsonScanner(deep);
    scanner.nextValue();

    expect([scanner.start, scanner.end]).toEqual([0, deep.length]);
    expect(tokensOf(deep)).toHaveLength(100_000 * 6 + 1);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function expectEndOrSyntaxError(scan: () => unknown): void {
  try {
    scan();
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
  }
}
