import { formatAge, formatClock, formatTime } from './format';

const NOW_MS = Date.parse('2026-11-27T16:05:00.000Z');

describe('formatAge', () => {
  it.each([
    ['2026-11-27T16:04:20.000Z', '40 s'],
    ['2026-11-27T16:05:00.900Z', '0 s'],
    ['2026-11-27T15:06:00.000Z', '59 min'],
    ['2026-11-27T13:05:01.000Z', '2 h'],
    ['2026-11-24T16:05:00.000Z', '3 d'],
  ])('%s: %s', (iso, text) => {
    expect(formatAge(iso, NOW_MS, 'en')).toBe(text);
  });
});

describe('formatClock', () => {
  it.each([
    ['en', '2026-11-27T14:05:00.000Z', 'UTC', '14:05'],
    ['de', '2026-11-27T14:05:00.000Z', 'Europe/Berlin', '15:05'],
    ['en', '2026-11-26T23:30:00.000Z', 'Europe/Berlin', '00:30'],
    ['en', '2026-11-26T14:05:00.000Z', 'UTC', 'Nov 26, 14:05'],
    ['de', '2026-11-26T14:05:00.000Z', 'UTC', '26. Nov., 14:05'],
    ['en', 'never', 'UTC', 'never'],
  ])('%s %s in %s: %s', (language, iso, timeZone, text) => {
    expect(formatClock(iso, NOW_MS, language, timeZone)).toBe(text);
  });
});

describe('formatTime', () => {
  it.each([
    ['en', '2026-11-27T14:05:09.000Z', 'Nov 27, 2026, 14:05:09', '14:05:09', 'Nov 27, 14:05'],
    ['en', '2026-11-27T00:05:09.000Z', 'Nov 27, 2026, 00:05:09', '00:05:09', 'Nov 27, 00:05'],
    ['de', '2026-11-27T14:05:09.000Z', '27.11.2026, 14:05:09', '14:05:09', '27. Nov., 14:05'],
  ])('%s: %s has a clock of 24 hours in each format', (language, iso, local, short, near) => {
    expect(formatTime(iso, language, 'UTC')).toMatchObject({ local, short, near });
  });
});
