import { findAll, piecesOf, rowsOfText } from './text-rows';

function drawn(text: string, columns: number): [line: number | null, text: string][] {
  const rows = rowsOfText(text, columns);
  return Array.from({ length: rows.count }, (_, row) => [rows.lineOf(row), text.slice(...rows.bounds(row))]);
}

describe('rowsOfText', () => {
  it.each<[string, [number | null, string][]]>([
    ['', [[1, '']]],
    [
      'ab\ncd',
      [
        [1, 'ab'],
        [2, 'cd'],
      ],
    ],
    [
      'a\n\nb\n',
      [
        [1, 'a'],
        [2, ''],
        [3, 'b'],
        [4, ''],
      ],
    ],
    [
      'abcdefgh',
      [
        [1, 'abcd'],
        [null, 'efgh'],
      ],
    ],
    [
      'abcdefghi\nj',
      [
        [1, 'abcd'],
        [null, 'efgh'],
        [null, 'i'],
        [2, 'j'],
      ],
    ],
    [
      'abc😀def',
      [
        [1, 'abc😀'],
        [null, 'def'],
      ],
    ],
    [
      'a\r\nb',
      [
        [1, 'a\r'],
        [2, 'b'],
      ],
    ],
  ])('%j', (text, expected) => {
    expect(drawn(text, 4)).toEqual(expected);
  });

  it('the rows together are the whole text, and each offset is found in its row', () => {
    const text = Array.from({ length: 300 }, (_, i) => 'x'.repeat((i * 7) % 23)).join('\n');
    const rows = rowsOfText(text, 5);

    expect(
      drawn(text, 5)
        .map(([line, part]) => (line === null || line === 1 ? part : `\n${part}`))
        .join(''),
    ).toBe(text);
    for (let place = 0; place < text.length; place += 1) {
      const [from, to] = rows.bounds(rows.rowAt(place));
      expect(place >= from && place <= to).toBe(true);
    }
  });
});

describe('findAll', () => {
  it.each([
    ['Abc abC', 'abc', [0, 4]],
    ['a.b axb', 'a.b', [0]],
    ['aaaa', 'aa', [0, 2]],
    ['İx', 'x', [1]],
    ['a', '', []],
    ['([{', '[', [1]],
  ])('in %j is %j at %j', (text, wanted, expected) => {
    expect(findAll(text, wanted)).toEqual(expected);
  });
});

describe('piecesOf', () => {
  it.each([
    [
      [0, 10],
      [2, 6],
      [
        ['01', null],
        ['234', 0],
        ['5', null],
        ['678', 1],
        ['9', null],
      ],
    ],
    [
      [3, 7],
      [2, 6],
      [
        ['34', 0],
        ['5', null],
        ['6', 1],
      ],
    ],
    [[0, 2], [2], [['01', null]]],
    [[5, 6], [2], [['5', null]]],
    [[0, 3], [], [['012', null]]],
    [[4, 4], [2], [['', null]]],
  ] as const)('%j with matches at %j', (bounds, matches, expected) => {
    expect(piecesOf('0123456789', bounds, matches, 3).map(({ text, match }) => [text, match])).toEqual(expected);
  });
});
