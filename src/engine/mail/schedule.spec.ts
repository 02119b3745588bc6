import { readSchedule } from './schedule.js';

const NOW = Date.UTC(2026, 10, 21, 9, 30);

describe('readSchedule', () => {
  it.each<[string, number]>([
    ['2026-11-21T10:30:00Z', 3_600_000],
    ['2026-11-21T11:30:00.000+01:00', 3_600_000],
    ['2026-11-21 11:30:00+0100', 3_600_000],
    ['2026-11-21t10:30z', 3_600_000],
    ['2026-11-21T09:29:59.5Z', -500],
    ['2026-12-21T09:30:00Z', 30 * 86_400_000],
    ['in 1 min', 60_000],
    ['In 5 minutes', 300_000],
    ['in 2h', 7_200_000],
    ['in 30 seconds', 30_000],
    ['in 1 sec', 1_000],
    ['in 1 week', 7 * 86_400_000],
    ['in 2 Weeks', 14 * 86_400_000],
    ['in 2592000s', 30 * 86_400_000],
    ['in 30 days', 30 * 86_400_000],
  ])('%s is %i ms from now', (text, fromNow) => {
    expect(readSchedule(text, NOW)).toEqual({ atMs: NOW + fromNow });
  });

  it.each([
    '2026-11-21T10:30:00',
    '2026-11-21',
    'tomorrow',
    'tomorrow at 10am',
    'in 1 month',
    '',
    '1795253400',
    'in -5 minutes',
    'in 1 year',
    '2026-02-30T00:00:00Z',
    '2026-11-21T25:00:00Z',
    '2026-13-01T00:00:00Z',
  ])('%s is no time', (text) => {
    expect(readSchedule(text, NOW)).toEqual({ fault: expect.stringContaining('with its zone') });
  });

  it.each(['2026-12-21T09:30:01Z', 'in 31 days', 'in 5 weeks', 'in 999999 days', '9999-12-31T00:00:00Z'])(
    '%s is too far ahead',
    (text) => {
      expect(readSchedule(text, NOW)).toEqual({ fault: 'must be at most 30 days ahead' });
    },
  );
});
