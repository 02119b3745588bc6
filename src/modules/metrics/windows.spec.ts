import fc from 'fast-check';
import { ApiError } from '#kernel/errors.js';
import { KEPT_MS, type MetricsWindow, type Range, spanOf, startsOf, timeMs, WINDOWS } from './windows.js';

const NOW = Date.parse('2026-11-21T09:30:20.500Z');
const LENGTHS_MS = { '1m': 60_000, '1h': 3_600_000, '1d': 86_400_000 };
const range = (since?: string, until?: string): Range => ({
  sinceMs: timeMs('since', since),
  untilMs: timeMs('until', until),
});
const shown = (window: MetricsWindow, given: Range): string[] =>
  startsOf(window, given, NOW).map((ms) => new Date(ms).toISOString());

function refusal(act: () => unknown): string {
  try {
    return `no refusal but ${JSON.stringify(act())}`;
  } catch (error) {
    return error instanceof ApiError ? `${error.type}: ${error.message}` : String(error);
  }
}

describe('startsOf without a range', () => {
  it.each<[MetricsWindow, number, string, string]>([
    ['1m', 60, '2026-11-21T08:31:00.000Z', '2026-11-21T09:30:00.000Z'],
    ['1h', 48, '2026-11-19T10:00:00.000Z', '2026-11-21T09:00:00.000Z'],
    ['1d', 30, '2026-10-23T00:00:00.000Z', '2026-11-21T00:00:00.000Z'],
  ])('%s: the last %d, from %s to the current one at %s', (window, count, first, last) => {
    const starts = shown(window, {});

    expect([starts.length, starts[0], starts.at(-1)]).toEqual([count, first, last]);
  });

  it('ends with the window that begins in this very millisecond', () => {
    expect(startsOf('1h', {}, Date.parse('2026-11-21T09:00:00.000Z')).at(-1)).toBe(
      Date.parse('2026-11-21T09:00:00.000Z'),
    );
  });
});

describe('startsOf with a range', () => {
  it.each<[string, Range, string[]]>([
    ['begins with the window that contains since', range('2026-11-21T08:59:59.999Z'), ['08:00', '09:00']],
    ['begins with the window that begins at since', range('2026-11-21T09:00:00Z'), ['09:00']],
    [
      'excludes the window that begins at until',
      range('2026-11-21T07:00:00Z', '2026-11-21T09:00:00Z'),
      ['07:00', '08:00'],
    ],
    [
      'ends with the window that contains until',
      range('2026-11-21T07:00:00Z', '2026-11-21T09:00:00.001Z'),
      ['07:00', '08:00', '09:00'],
    ],
    ['accepts other time zones', range('2026-11-21T12:30:00+05:30', '2026-11-21T12:31:00+05:30'), ['07:00']],
    ['excludes windows that have not begun', range('2026-11-21T08:00:00Z', '2026-11-22T00:00:00Z'), ['08:00', '09:00']],
  ])('%s', (_what, given, expected) => {
    expect(shown('1h', given)).toEqual(expected.map((time) => `2026-11-21T${time}:00.000Z`));
  });

  it.each<[string, Range]>([
    ['entirely in the future', range('2026-11-22T00:00:00Z', '2026-11-23T00:00:00Z')],
    ['entirely past the retention of windows', range('2020-01-01T00:00:00Z', '2020-01-02T00:00:00Z')],
    ['before the year 1', range('0000-01-01T00:00:00+23:59', '0000-01-02T00:00:00Z')],
    ['after the year 9999', range('9999-12-31T00:00:00Z', '9999-12-31T23:59:00-23:59')],
  ])('returns no windows for a range that is %s', (_what, given) => {
    expect(startsOf('1h', given, NOW)).toEqual([]);
  });

  it('excludes windows past their retention', () => {
    const starts = shown('1m', range('2026-11-14T09:00:00Z', '2026-11-14T10:00:00Z'));

    expect([starts.length, starts[0], starts.at(-1)]).toEqual([
      29,
      '2026-11-14T09:31:00.000Z',
      '2026-11-14T09:59:00.000Z',
    ]);
  });

  it.each<[string, MetricsWindow, Range, RegExp]>([
    [
      'ends where it begins',
      '1h',
      range('2026-11-21T09:00:00Z', '2026-11-21T09:00:00Z'),
      /^bad_request: since must be before until/,
    ],
    [
      'ends before it begins',
      '1h',
      range('2026-11-21T09:00:00Z', '2026-11-21T08:00:00Z'),
      /^bad_request: since must be before until/,
    ],
    ['begins in the future', '1h', range('2026-11-21T09:31:00Z'), /^bad_request: since must be before until/],
    [
      'has 1,441 windows',
      '1m',
      range('2026-11-20T09:30:00Z'),
      /^bad_request: The range has 1441 windows of 1m, but at most 1440 are returned/,
    ],
    ['begins with the calendar', '1m', range('0000-01-01T00:00:00Z'), /^bad_request: The range has \d+ windows of 1m/],
  ])('refuses one that %s', (_what, window, given, message) => {
    expect(refusal(() => startsOf(window, given, NOW))).toMatch(message);
  });

  it('shows 1,440 windows', () => {
    expect(startsOf('1m', range('2026-11-20T09:31:00Z'), NOW)).toHaveLength(1_440);
  });

  it('returns every window that overlaps the range in order and once, or rejects the range', () => {
    const moment = fc.integer({ min: NOW - 500 * LENGTHS_MS['1d'], max: NOW + LENGTHS_MS['1d'] });
    fc.assert(
      fc.property(
        fc.constantFrom(...WINDOWS),
        moment,
        fc.integer({ min: 1, max: 10 * LENGTHS_MS['1d'] }),
        (window, sinceMs, lastsMs) => {
          const [lengthMs, untilMs] = [LENGTHS_MS[window], sinceMs + lastsMs];
          const expected: number[] = [];
          for (let ms = sinceMs - (sinceMs % lengthMs); ms < untilMs; ms += lengthMs) expected.push(ms);
          fc.pre(expected.length <= 1_440);

          expect(startsOf(window, { sinceMs, untilMs }, NOW)).toEqual(
            expected.filter((ms) => ms <= NOW && ms >= NOW - KEPT_MS[window]),
          );
        },
      ),
    );
  });
});

describe('timeMs', () => {
  it.each([
    ['2026-11-21T09:30:20.500Z', NOW],
    ['2026-11-21T15:00:20.500+05:30', NOW],
    ['2026-11-21t09:30:20.500z', NOW],
    ['2026-11-21T09:30Z', NOW - 20_500],
  ])('reads %s', (text, ms) => {
    expect(timeMs('since', text)).toBe(ms);
  });

  it.each([
    '',
    'now',
    '2026-11-21',
    '2026-11-21T09:30:20',
    '2026-13-21T09:30:20Z',
    '2026-11-21T25:30:20Z',
    '1800000000000',
    '2026-11-21T09:30:20 00:00',
  ])('refuses %j', (text) => {
    expect(refusal(() => timeMs('until', text))).toMatch(/^bad_request: until must be an RFC 3339 time/);
  });

  it('returns undefined for undefined', () => {
    expect(timeMs('since', undefined)).toBeUndefined();
  });
});

describe('spanOf', () => {
  const NOW_MS = Date.parse('2026-11-21T09:30:30.000Z');
  const shown = (since?: string, until?: string): unknown => {
    const { window, firstMs, lastMs, endMs } = spanOf(range(since, until), NOW_MS);
    return [window, ...[firstMs, lastMs, endMs].map((ms) => new Date(ms).toISOString().slice(0, 16))];
  };

  it.each<[string | undefined, string | undefined, unknown[]]>([
    [undefined, undefined, ['1m', '2026-11-20T09:30', '2026-11-21T09:30', '2026-11-21T09:31']],
    [
      '2026-11-21T09:00:10Z',
      '2026-11-21T09:10:00Z',
      ['1m', '2026-11-21T09:00', '2026-11-21T09:09', '2026-11-21T09:10'],
    ],
    ['2026-11-20T00:00:00Z', undefined, ['1h', '2026-11-20T00:00', '2026-11-21T09:00', '2026-11-21T10:00']],
    // Rollups of minutes are stored for 7 days, and rollups of hours for 90 days.
    [
      '2026-11-10T08:20:00Z',
      '2026-11-10T08:30:00Z',
      ['1h', '2026-11-10T08:00', '2026-11-10T08:00', '2026-11-10T09:00'],
    ],
    [
      '2026-01-01T12:00:00Z',
      '2026-01-02T00:00:00Z',
      ['1d', '2026-01-01T00:00', '2026-01-01T00:00', '2026-01-02T00:00'],
    ],
    [
      '2026-11-21T09:30:00Z',
      '2100-01-01T00:00:00Z',
      ['1m', '2026-11-21T09:30', '2026-11-21T09:30', '2026-11-21T09:31'],
    ],
  ])('from %s to %s: uses the shortest possible windows, in full', (since, until, expected) => {
    expect(shown(since, until)).toEqual(expected);
  });

  it.each([
    ['2026-11-21T09:31:00Z', undefined],
    ['2026-11-21T09:00:00Z', '2026-11-21T09:00:00Z'],
    ['2025-01-01T00:00:00Z', undefined],
  ])('400: from %s to %s', (since, until) => {
    expect(refusal(() => spanOf(range(since, until), NOW_MS))).toMatch(/^bad_request: since /);
  });
});
