import { SystemClock } from './clock.js';

describe('SystemClock', () => {
  it('returns the same instant in both forms', () => {
    const clock = new SystemClock();

    const beforeMs = clock.nowMs();
    const now = clock.now().getTime();
    const afterMs = clock.nowMs();

    expect(now).toBeGreaterThanOrEqual(beforeMs);
    expect(now).toBeLessThanOrEqual(afterMs);
  });

  it('returns random numbers from 0 up to but not including 1, and not always the same', () => {
    const clock = new SystemClock();

    const draws = Array.from({ length: 1000 }, () => clock.random());

    expect(draws.every((draw) => draw >= 0 && draw < 1)).toBe(true);
    expect(new Set(draws).size).toBeGreaterThan(1);
  });
});
