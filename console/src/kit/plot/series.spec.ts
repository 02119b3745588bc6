import { drawnSeries, isolatedIndexes, isZero, type Series } from './series';

const series = (kind: Series['kind'], values: readonly (number | null)[]): Series => ({
  label: kind,
  tone: 'good',
  kind,
  values,
});

describe('isZero', () => {
  it.each([
    [[], true],
    [[0, null, 0], true],
    [[0, 0.5], false],
  ])('%j: %s', (values, expected) => {
    expect(isZero({ values })).toBe(expected);
  });
});

describe('drawnSeries', () => {
  const [low, middle, high] = [series('stack', [3, 0, 1]), series('stack', [0, 0, 0]), series('stack', [2, 4, 0])];
  const line = series('line', [0, 2, null]);
  const bars = series('bars', [0, 2, 0]);

  it.each<[string, Series[], [Series, (number | null)[]][]]>([
    ['a line keeps its zeros', [line], [[line, [0, 2, null]]]],
    ['a line without values is not drawn', [series('line', [0, 0])], [[series('line', [0, 0]), [null, null]]]],
    [
      'bars have no zeros, and lines are drawn after them',
      [bars, line],
      [
        [bars, [null, 2, null]],
        [line, [0, 2, null]],
      ],
    ],
    [
      'parts of a stack lie on top of each other, and the highest sum is drawn first',
      [low, line, middle, high],
      [
        [high, [5, 4, null]],
        [middle, [null, null, null]],
        [low, [3, null, 1]],
        [line, [0, 2, null]],
      ],
    ],
  ])('%s', (_, given, expected) => {
    expect(drawnSeries(given).map(({ of, values }) => [of, values])).toEqual(expected);
  });
});

describe('isolatedIndexes', () => {
  it.each<[values: (number | null)[], expected: number[]]>([
    [[], []],
    [[4], [0]],
    [[null, 4, null], [1]],
    [
      [0, null, 4],
      [0, 2],
    ],
    [[1, 2, null, 3, null, null], [3]],
  ])('%j: %j', (values, expected) => {
    expect(isolatedIndexes(values)).toEqual(expected);
  });
});
