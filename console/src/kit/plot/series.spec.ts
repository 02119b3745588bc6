import { drawnValues, drawOrder, isZero, type Series } from './series';

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

describe('drawnValues', () => {
  it.each<[string, Series[], (number | null)[][]]>([
    ['a line keeps its zeros', [series('line', [0, 2, null])], [[0, 2, null]]],
    ['a line without values is not drawn', [series('line', [0, 0])], [[null, null]]],
    ['bars have no zeros', [series('bars', [0, 2])], [[null, 2]]],
    [
      'parts of a stack lie on top of each other',
      [series('stack', [3, 0, 1]), series('stack', [0, 0, 0]), series('stack', [2, 4, 0])],
      [
        [3, null, 1],
        [null, null, null],
        [5, 4, null],
      ],
    ],
  ])('%s', (_, given, expected) => {
    expect(drawnValues(given)).toEqual(expected);
  });
});

describe('drawOrder', () => {
  it.each<[Series['kind'][], number[]]>([
    [
      ['bars', 'line', 'line'],
      [0, 1, 2],
    ],
    [
      ['stack', 'stack', 'line'],
      [1, 0, 2],
    ],
  ])('%j: %j', (kinds, order) => {
    expect(drawOrder(kinds.map((kind) => series(kind, [])))).toEqual(order);
  });
});
