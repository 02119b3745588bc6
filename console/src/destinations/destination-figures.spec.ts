import { figuresSince, readDestinationFilters } from './destination-figures';

const NOW_MS = Date.parse('2026-11-21T09:31:20.000Z');

describe('figuresSince', () => {
  it.each([
    ['1h', '2026-11-21T08:32:00.000Z'],
    ['24h', '2026-11-20T10:00:00.000Z'],
    ['7d', '2026-11-14T10:00:00.000Z'],
    ['30d', '2026-10-23T00:00:00.000Z'],
  ] as const)('%s: %s', (range, since) => {
    expect(figuresSince(range, NOW_MS)).toBe(since);
  });
});

describe('readDestinationFilters', () => {
  it.each([
    [
      { search: ' Orders ', status: 'disabled', circuit: 'open' },
      { search: 'Orders', status: 'disabled', circuit: 'open' },
    ],
    [{ search: '', status: 'gone', circuit: 1 }, {}],
    [{ search: 42 }, { search: '42' }],
  ])('%j: %j', (search, expected) => {
    expect(readDestinationFilters(search)).toEqual(expected);
  });
});
