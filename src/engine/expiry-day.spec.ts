import { expiryDay, isDaily } from './expiry-day.js';

/** All retention periods in days that PATCH /v1/org accepts. */
const RETENTIONS = Array.from({ length: 365 }, (_, i) => i + 1);
const DAYS = Array.from({ length: 730 }, (_, i) => 20_000 + i);

describe('expiryDay', () => {
  it.each([
    [1, 20_001],
    [30, 20_030],
    [59, 20_059],
    [60, 20_061],
    [90, 20_091],
    [180, 20_184],
    [365, 20_376],
  ])('after %i days', (retentionDays, day) => {
    expect(expiryDay(20_000, retentionDays)).toBe(day);
  });

  it('is never before the end of the retention, and at most a thirtieth of it later', () => {
    for (const retentionDays of RETENTIONS) {
      const longerBy = DAYS.map((day) => expiryDay(day, retentionDays) - day - retentionDays);

      expect(Math.min(...longerBy)).toBe(0);
      expect(Math.max(...longerBy)).toBeLessThanOrEqual(retentionDays / 30);
    }
  });

  it('results in at most sixty days at a time, and in 31 for a year', () => {
    const atOnce = (retentionDays: number): number =>
      new Set(DAYS.slice(0, retentionDays + 1).map((day) => expiryDay(day, retentionDays))).size;

    expect(Math.max(...RETENTIONS.map(atOnce))).toBeLessThanOrEqual(60);
    expect([30, 90, 180, 365].map(atOnce)).toEqual([31, 31, 31, 31]);
  });

  it('a day of a longer step is also a day of each shorter step', () => {
    for (const day of DAYS)
      expect([180, 90].map((shorter) => expiryDay(expiryDay(day, 365) - shorter, shorter))).toEqual([
        expiryDay(day, 365),
        expiryDay(day, 365),
      ]);
  });

  it('is a separate day up to a retention of 59 days', () => {
    expect(RETENTIONS.filter(isDaily)).toEqual(RETENTIONS.slice(0, 59));
  });
});
