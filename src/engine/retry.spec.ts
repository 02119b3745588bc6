import fc from 'fast-check';
import { DEFAULT_RETRY_POLICY, dueAt, longestSeconds, type RetryPolicy } from './retry.js';

const FIRST = new Date('2026-11-20T12:00:00.000Z');
const ALMOST_ONE = 1 - Number.EPSILON;
const NOMINAL_TOTAL_SECONDS = 99_305;
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const policies: fc.Arbitrary<RetryPolicy> = fc.record({
  maxAttempts: fc.integer({ min: 1, max: 30 }),
  scheduleSeconds: fc.array(fc.integer({ min: 0, max: 86_400 }), { maxLength: 12 }),
});

const at = (seconds: number): Date => new Date(FIRST.getTime() + seconds * 1000);

/** Returns the earliest and latest start of an attempt, in seconds after the first. Does not use the tested code. */
function nominal(policy: RetryPolicy, attempt: number): { start: number; end: number } {
  const steps = Array.from(
    { length: attempt },
    (_, i) => policy.scheduleSeconds[i] ?? policy.scheduleSeconds.at(-1) ?? 0,
  );
  const end = steps.reduce((sum, step) => sum + step, 0);
  return { start: end - (steps.at(-1) ?? 0), end };
}

describe('dueAt with the default policy', () => {
  it.each([
    [1, 0, 0],
    [2, 0, 5],
    [3, 5, 305],
    [4, 305, 2105],
    [5, 2105, 9305],
    [6, 9305, 27_305],
    [7, 27_305, 63_305],
    [8, 63_305, 99_305],
  ])('schedules attempt %i between %i s and %i s after the first one', (next, start, end) => {
    expect(dueAt(DEFAULT_RETRY_POLICY, next, FIRST, FIRST, 0)).toEqual(at(start));
    expect(dueAt(DEFAULT_RETRY_POLICY, next, FIRST, FIRST, 0.5)).toEqual(at((start + end) / 2));
    const last = dueAt(DEFAULT_RETRY_POLICY, next, FIRST, FIRST, ALMOST_ONE)?.getTime() ?? 0;
    expect(at(end).getTime() - last).toBeLessThanOrEqual(1);
    expect(last).toBeLessThanOrEqual(at(end).getTime());
    // `random` is less than 1, so an attempt with jitter starts before the end of its step. A step without a delay has
    // no jitter.
    expect(last < at(end).getTime()).toBe(end > start);
  });

  it('returns null for a ninth attempt', () => {
    expect(dueAt(DEFAULT_RETRY_POLICY, 9, FIRST, FIRST, 0)).toBeNull();
  });

  it('starts the step now, with its full jitter, when now is later than the nominal start', () => {
    expect(dueAt(DEFAULT_RETRY_POLICY, 3, FIRST, at(1000), 0.5)).toEqual(at(1150));
  });

  it('fits eight attempts of up to 15 s into about 28 hours', () => {
    const durations = fc.array(fc.integer({ min: 0, max: 15_000 }), { minLength: 8, maxLength: 8 });
    const jitters = fc.array(random, { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(durations, jitters, (durationsMs, randoms) => {
        let now = FIRST;
        for (let next = 1; next <= 8; next += 1) {
          const due = dueAt(DEFAULT_RETRY_POLICY, next, FIRST, now, randoms[next - 1] ?? 0) as Date;
          expect(due.getTime()).toBeGreaterThanOrEqual(at(nominal(DEFAULT_RETRY_POLICY, next).start).getTime());
          now = new Date(due.getTime() + (durationsMs[next - 1] ?? 0));
        }
        expect(now.getTime()).toBeLessThanOrEqual(at(NOMINAL_TOTAL_SECONDS + 8 * 15).getTime());
      }),
    );
  });
});

describe('dueAt with any policy', () => {
  it('is null exactly after maxAttempts', () => {
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 40 }), random, (policy, next, r) => {
        expect(dueAt(policy, next, FIRST, FIRST, r) === null).toBe(next > policy.maxAttempts);
      }),
    );
  });

  it('is never before now or the nominal start, and at most one step after both', () => {
    fc.assert(
      fc.property(policies, fc.nat(29), fc.nat(1_000_000), random, (policy, earlier, nowSeconds, r) => {
        const next = Math.min(earlier + 1, policy.maxAttempts);
        const { start, end } = nominal(policy, next);

        const due = (dueAt(policy, next, FIRST, at(nowSeconds), r) as Date).getTime();

        const from = Math.max(start, nowSeconds);
        expect(due).toBeGreaterThanOrEqual(at(from).getTime());
        expect(due).toBeLessThanOrEqual(at(from + end - start).getTime());
      }),
    );
  });

  it('repeats the last step when there are more attempts than steps', () => {
    const policy = { maxAttempts: 5, scheduleSeconds: [0, 10] };

    expect([2, 3, 4, 5].map((next) => dueAt(policy, next, FIRST, FIRST, 0))).toEqual([at(0), at(10), at(20), at(30)]);
    expect(dueAt(policy, 5, FIRST, FIRST, 0.5)).toEqual(at(35));
  });

  it('does not wait with an empty schedule', () => {
    expect(dueAt({ maxAttempts: 3, scheduleSeconds: [] }, 2, FIRST, at(1), 0.9)).toEqual(at(1));
  });
});

describe('longestSeconds', () => {
  it.each<[RetryPolicy, number]>([
    [DEFAULT_RETRY_POLICY, NOMINAL_TOTAL_SECONDS],
    [{ maxAttempts: 1, scheduleSeconds: [0, 60] }, 0],
    [{ maxAttempts: 4, scheduleSeconds: [0, 60] }, 180],
    [{ maxAttempts: 3, scheduleSeconds: [] }, 0],
  ])('of %j is %i', (policy, expected) => {
    expect(longestSeconds(policy)).toBe(expected);
  });

  it('is never before an attempt that is made in time', () => {
    fc.assert(
      fc.property(policies, random, (policy, chance) => {
        const due = dueAt(policy, policy.maxAttempts, FIRST, FIRST, chance);
        expect(due === null || due <= at(longestSeconds(policy))).toBe(true);
      }),
    );
  });
});
