import { piecesOf } from '../text/text-rows';
import { linesOfJson } from './json-lines';
import { COLORED_LINE_MAX, colorPieces, lineTokens, tokensOf } from './json-tokens';

describe('tokensOf', () => {
  it.each([
    ['{"a": 12345678901234567890}', ['key "a"', 'number 12345678901234567890']],
    [
      '["a", "b:", true, null, -1.10e5]',
      ['string "a"', 'string "b:"', 'keyword true', 'keyword null', 'number -1.10e5'],
    ],
    ['{"\\u0041\\"" : "x"}', ['key "\\u0041\\""', 'string "x"']],
    ['{}', []],
  ])('%s', (text, expected) => {
    expect(tokensOf(text, 0, text.length).map(({ from, to, kind }) => `${kind} ${text.slice(from, to)}`)).toEqual(
      expected,
    );
  });
});

describe('colorPieces', () => {
  it.each<[string, [number, number], string[]]>([
    ['1', [0, 9], ['- {', 'key "a"', '- : ', 'number *1', 'number 0', '- }']],
    ['a', [0, 9], ['- {', 'key "', 'key *a', 'key "', '- : ', 'number 10', '- }']],
    ['', [2, 7], ['key a"', '- : ', 'number 1']],
  ])('matches of %j in the part %j', (wanted, bounds, expected) => {
    const text = '{"a": 10}';
    const matches = wanted === '' ? [] : [text.indexOf(wanted)];
    const pieces = colorPieces(piecesOf(text, bounds, matches, wanted.length), bounds[0], tokensOf(text, 0, 9));

    expect(pieces.map(({ text: shown, match, kind }) => `${kind ?? '-'} ${match === null ? '' : '*'}${shown}`)).toEqual(
      expected,
    );
  });
});

describe('lineTokens', () => {
  it('colors each line, but not a line that is too long', () => {
    const text = `{\n"a": "${'x'.repeat(COLORED_LINE_MAX)}",\n"b": 1\n}`;
    const tokens = lineTokens(text, linesOfJson(text, true));

    expect([0, 1, 2, 3].map((line) => tokens(line).length)).toEqual([0, 0, 2, 0]);
  });
});
