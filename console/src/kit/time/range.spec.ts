import { isRangeTime, rangeTime } from './range';

const NOW_MS = Date.parse('2026-11-21T09:30:00Z');

describe('times of a range', () => {
  it.each([
    ['-15m', '2026-11-21T09:15:00.000Z'],
    ['-1h', '2026-11-21T08:30:00.000Z'],
    ['-7d', '2026-11-14T09:30:00.000Z'],
    ['2026-11-20T00:00:00+01:00', '2026-11-19T23:00:00.000Z'],
  ])('%s is %s', (text, time) => {
    expect(isRangeTime(text)).toBe(true);
    expect(rangeTime(text, NOW_MS)).toBe(time);
  });

  it.each([
    '1h',
    '-1y',
    '',
    'x',
    7,
    null,
    '-1h; drop',
    '2026-13-45',
    '2026-02-31',
    '2026-02-31T00:00:00Z',
    '0000-01-01',
    '-271821-04-20',
    '1',
    'May 2026',
  ])('%j is not a time', (value) => {
    expect(isRangeTime(value)).toBe(false);
  });
});
