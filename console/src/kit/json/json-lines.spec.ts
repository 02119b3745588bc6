import { formatJson } from './format-json';
import { linesOfJson, parentOf, unfoldedAt, visibleLines } from './json-lines';

const TEXT = formatJson('{"a":{"b":[1,2],"c":"} [ {"},"d":[],"e":1}') ?? '';
const LINES = linesOfJson(TEXT, true);

describe('linesOfJson', () => {
  it.each<[string, [number, number][]]>([
    ['1', []],
    ['{}', []],
    ['{"a":"{"}', [[0, 2]]],
    [
      '[[1],{"a":2}]',
      [
        [0, 7],
        [1, 3],
        [4, 6],
      ],
    ],
  ])('%s has the objects and arrays %j', (text, folds) => {
    expect([...linesOfJson(formatJson(text) ?? '', true).folds].sort(([a], [b]) => a - b)).toEqual(folds);
  });

  it('the lines together are the whole text, and each offset is found in its line', () => {
    expect(Array.from({ length: LINES.count }, (_, line) => TEXT.slice(...LINES.bounds(line))).join('\n')).toBe(TEXT);
    for (let offset = 0; offset < TEXT.length; offset += 1) {
      const [from, to] = LINES.bounds(LINES.lineAt(offset));
      expect(offset >= from && offset <= to).toBe(true);
    }
  });

  it('finds no objects in text that is not formatted', () => {
    expect(linesOfJson('{\n"a": [\n1]}', false).folds.size).toBe(0);
  });
});

describe('folding', () => {
  it.each<[number[], number[]]>([
    [[], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [[2], [0, 1, 2, 6, 7, 8, 9, 10]],
    [
      [1, 2],
      [0, 1, 8, 9, 10],
    ],
    [[0], [0]],
  ])('with the folded lines %j, the lines %j are visible', (folded, visible) => {
    expect(visibleLines(LINES, new Set(folded))).toEqual(visible);
  });

  it.each<[number[], number, number[]]>([
    [[1, 2], 3, []],
    [[1, 2], 1, [1, 2]],
    [[2], 6, [2]],
  ])('of the folded lines %j, those that hide line %i are unfolded', (folded, line, rest) => {
    expect([...unfoldedAt(LINES, new Set(folded), line)]).toEqual(rest);
  });

  it.each([
    [3, 2],
    [2, 1],
    [1, 0],
    [0, null],
  ])('line %i is in the object or array of line %j', (line, parent) => {
    expect(parentOf(LINES, line)).toBe(parent);
  });
});
