import { eventsOf, readRange, windowMsOf } from './range';

describe('readRange', () => {
  it.each([
    [{ range: '7d' }, { range: '7d' }],
    [{ range: '2d' }, {}],
    [{ range: 7 }, {}],
    [{ range: 'toString' }, {}],
    [{}, {}],
    [{ range: '1h', other: 'x' }, { range: '1h' }],
  ])('%j: %j', (search, expected) => {
    expect(readRange(search)).toEqual(expected);
  });
});

describe('windowMsOf', () => {
  it.each([
    ['1m', 60_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
  ])('%s: %i ms', (window, ms) => {
    expect(windowMsOf(window)).toBe(ms);
  });
});

describe('eventsOf', () => {
  it('rounds outward to full seconds', () => {
    expect(eventsOf(1_500, 2_001)).toEqual({ since: '1970-01-01T00:00:01.000Z', until: '1970-01-01T00:00:03.000Z' });
  });
});
