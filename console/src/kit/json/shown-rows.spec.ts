import { rowsOfText } from '../text/text-rows';
import { formatJson } from './format-json';
import { linesOfJson, visibleLines } from './json-lines';
import { shownRows } from './shown-rows';

const TEXT = formatJson('{"a":{"b":[1,"a text of several rows"],"c":1},"d":[{"e":2}],"f":3}') ?? '';
const LINES = linesOfJson(TEXT, true);

describe('shownRows', () => {
  it.each([
    [100, []],
    [100, [1]],
    [100, [2, 1]],
    [100, [2, 7]],
    [100, [0]],
    [8, []],
    [8, [2]],
    [8, [1, 2, 7]],
    [8, [0, 8]],
  ])('in rows of %i characters with the folded lines %j, shows the rows of the visible lines', (columns, folded) => {
    const rows = rowsOfText(TEXT, columns);
    const expected = visibleLines(LINES, new Set(folded)).flatMap((line) => {
      const [from, to] = LINES.bounds(line);
      return Array.from({ length: rows.rowAt(to) - rows.rowAt(from) + 1 }, (_, at) => rows.rowAt(from) + at);
    });
    const shown = shownRows(rows, LINES, new Set(folded));

    expect(Array.from({ length: shown.count }, (_, index) => shown.at(index))).toEqual(expected);
    expect(expected.map(shown.indexOf)).toEqual(expected.map((_, index) => index));
    for (let row = 0; row < rows.count; row += 1)
      expect(shown.at(shown.indexOf(row))).toBe(expected.filter((each) => each <= row).at(-1));
  });
});
