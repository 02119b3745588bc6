import fc from 'fast-check';
import { emptyTimeoutHistory, isIsolated, recordAttemptEnd, type TimeoutHistory } from './timeout-isolation.js';

function after(ends: readonly boolean[], nowMs = 0): TimeoutHistory {
  const silence = emptyTimeoutHistory();
  for (const isAnswered of ends) recordAttemptEnd(silence, isAnswered, nowMs);
  return silence;
}

const unanswered = (count: number): boolean[] => Array.from({ length: count }, () => false);
const answered = (count: number): boolean[] => Array.from({ length: count }, () => true);

describe('isIsolated', () => {
  it.each([
    ['nothing was asked', [], false],
    ['too few timeouts to decide', unanswered(31), false],
    ['none did', unanswered(32), true],
    ['one of ten answered', [...unanswered(90), ...answered(10)], true],
    ['more than one of ten answered', [...unanswered(90), ...answered(11)], false],
    ['all did', answered(1_000), false],
  ])('%s', (_name, ends, expected) => {
    expect(isIsolated(after(ends), 0)).toBe(expected);
  });

  it('ends with time', () => {
    const silence = after(unanswered(64));

    expect(isIsolated(silence, 10_000)).toBe(true);
    expect(isIsolated(silence, 11_000)).toBe(false);
  });

  it('lasts while timed-out attempts continue at the rate of a quarter of the slots', () => {
    const silence = emptyTimeoutHistory();
    // At this rate, about 256 attempts are always in progress: 17 start per second, and each times out after 15
    // seconds.
    for (let i = 0; i < 17 * 60; i += 1) recordAttemptEnd(silence, false, i * (1_000 / 17));

    expect(isIsolated(silence, 60_000)).toBe(true);
  });

  it('never counts below zero, whatever the clock does', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 1e6 }))), (ends) => {
        const silence = emptyTimeoutHistory();
        for (const [isAnswered, atMs] of ends) recordAttemptEnd(silence, isAnswered, atMs);
        expect(silence.unanswered).toBeGreaterThanOrEqual(0);
        expect(silence.unanswered + silence.answered).toBeLessThanOrEqual(ends.length);
      }),
    );
  });
});
