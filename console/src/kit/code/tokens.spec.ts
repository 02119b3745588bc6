import { bracketMarks, pairBrackets } from './brackets';
import { newLineAt } from './indentation';
import { type CodeLanguage, lineStartsOf, piecesOf, tokenize } from './tokens';

const shownOf = (text: string, language: CodeLanguage): string[] =>
  tokenize(text, language).map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`);

describe('tokens of JSON', () => {
  it.each([
    ['{"a": "b"}', ['bracket {', 'key "a"', 'string "b"', 'bracket }']],
    ['{"a"\n : -1.5e3}', ['bracket {', 'key "a"', 'number -1.5e3', 'bracket }']],
    ['[true, null, nil]', ['bracket [', 'word true', 'word null', 'bad nil', 'bracket ]']],
    ['{"a": "\\"{"}', ['bracket {', 'key "a"', 'string "\\"{"', 'bracket }']],
    ['{"a": "b\n}', ['bracket {', 'key "a"', 'bad "b', 'bracket }']],
    ['openapi: "3.1.0"', []],
    ['', []],
  ])('%j', (text, expected) => {
    expect(shownOf(text, 'json')).toEqual(expected);
  });
});

describe('tokens of JavaScript', () => {
  it.each([
    ['const a = 1;', ['word const', 'number 1']],
    ['event.default', []],
    ['// a "b"\nx /* y\n */ z', ['comment // a "b"', 'comment /* y\n */']],
    ['a / b / c', []],
    ['return /a"[/]b/g.test(x)', ['word return', 'string /a"[/]b/g', 'bracket (', 'bracket )']],
    ['f(x) / 2', ['bracket (', 'bracket )', 'number 2']],
    [
      '`a${b({})}c`',
      ['string `a$', 'bracket {', 'bracket (', 'bracket {', 'bracket }', 'bracket )', 'bracket }', 'string c`'],
    ],
    ['"a', ['bad "a']],
    ['`a', ['bad `a']],
    ['0xff + 1_000n', ['number 0xff', 'number 1_000n']],
  ])('%j', (text, expected) => {
    expect(shownOf(text, 'javascript')).toEqual(expected);
  });

  it('long texts have no tokens', () => {
    expect(tokenize(`"${'a'.repeat(300_000)}"`, 'javascript')).toEqual([]);
  });
});

describe('piecesOf', () => {
  it.each([['{\n  "a": 1\n}'], ['x = `a\n\nb`; // c\n'], ['/*\n*/ f()'], ['\n\n']])(
    'the pieces of the lines of %j are the text',
    (text) => {
      const starts = lineStartsOf(text);
      const tokens = tokenize(text, text.startsWith('{') ? 'json' : 'javascript');

      const lines = piecesOf(text, tokens, { from: 0, to: starts.length, starts }, new Map());
      const later = piecesOf(text, tokens, { from: 1, to: starts.length, starts }, new Map());

      expect(lines.map((line) => line.map((piece) => piece.text).join('')).join('\n')).toBe(text);
      expect(later).toEqual(lines.slice(1));
    },
  );
});

describe('brackets', () => {
  it.each([
    [
      '[{}]',
      0,
      [
        [0, 'pair'],
        [3, 'pair'],
      ],
    ],
    [
      '[{}]',
      2,
      [
        [1, 'pair'],
        [2, 'pair'],
      ],
    ],
    [
      '[{}]',
      4,
      [
        [0, 'pair'],
        [3, 'pair'],
      ],
    ],
    [
      '[{]',
      null,
      [
        [2, 'lone'],
        [0, 'lone'],
        [1, 'lone'],
      ],
    ],
    [
      '["]"]',
      5,
      [
        [0, 'pair'],
        [4, 'pair'],
      ],
    ],
    ['[]', null, []],
  ] as const)('%j with the caret at %j', (text, caret, marks) => {
    expect([...bracketMarks(pairBrackets(text, tokenize(text, 'json')), caret)].sort()).toEqual([...marks].sort());
  });
});

describe('newLineAt', () => {
  it.each([
    ['  a', 3, '\n  '],
    ['  {', 3, '\n    '],
    ['a\n b', 1, '\n'],
    ['', 0, '\n'],
  ])('%j at %d', (text, caret, inserted) => {
    expect(newLineAt(text, caret)).toBe(inserted);
  });
});
