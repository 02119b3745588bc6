import fc from 'fast-check';
import { LEAP_MS, LEAP_WAIT_MS, lookAtClock, type SeenClock } from './clock-leap.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const T = 1_790_000_000_000;

const calm = (seenAtMs: number): SeenClock => ({ seenAtMs, leaptFromMs: null, waitedMs: 0 });

function afterMinutes(from: SeenClock, minutes: number): SeenClock {
  let seen = from;
  for (let i = 0; i < minutes; i += 1)
    seen = lookAtClock(seen, seen.seenAtMs + MINUTE_MS, { nowMs: seen.seenAtMs, elapsedMs: MINUTE_MS });
  return seen;
}

describe('lookAtClock', () => {
  it.each([
    ['a minute', MINUTE_MS, null],
    ['exactly a day, like after a downtime of that length', LEAP_MS, null],
    ['a day and a millisecond', LEAP_MS + 1, T],
    ['a month', 30 * DAY_MS, T],
    ['an hour back', -3_600_000, null],
  ])('forward by %s at the first reading of a process', (_, leapMs, leaptFromMs) => {
    expect(lookAtClock(calm(T), T + leapMs, null)).toEqual({ seenAtMs: T + leapMs, leaptFromMs, waitedMs: 0 });
  });

  it('time that the process has measured itself is not a leap: PostgreSQL was unavailable for a week', () => {
    expect(lookAtClock(calm(T), T + 7 * DAY_MS, { nowMs: T, elapsedMs: 7 * DAY_MS }).leaptFromMs).toBeNull();
  });

  it('the same with a more recent reading by another process: both have measured the week', () => {
    expect(
      lookAtClock(calm(T + MINUTE_MS), T + 7 * DAY_MS, { nowMs: T, elapsedMs: 7 * DAY_MS }).leaptFromMs,
    ).toBeNull();
  });

  it('detects a leap after days without a reading, because those days were measured', () => {
    const ofOther = T + 5 * DAY_MS;

    expect(lookAtClock(calm(ofOther), ofOther + 2 * DAY_MS, { nowMs: T, elapsedMs: 5 * DAY_MS }).leaptFromMs).toBe(
      ofOther,
    );
  });

  it('a leap that another process has recorded is not a second one for a process that reads later', () => {
    const noted = afterMinutes(lookAtClock(calm(T), T + 40 * DAY_MS, null), 100);

    expect(lookAtClock(noted, noted.seenAtMs + 1, { nowMs: T, elapsedMs: 100 * MINUTE_MS })).toMatchObject({
      leaptFromMs: T,
      waitedMs: 100 * MINUTE_MS + 1,
    });
  });

  it('the pause ends after a day of measured time, not a minute earlier', () => {
    const leapt = lookAtClock(calm(T), T + 40 * DAY_MS, null);

    expect(afterMinutes(leapt, 1439).leaptFromMs).toBe(T);
    expect(afterMinutes(leapt, 1440).leaptFromMs).toBeNull();
  });

  it('a further leap does not count as elapsed time and restarts the pause', () => {
    const waiting = afterMinutes(lookAtClock(calm(T), T + 40 * DAY_MS, null), 1400);
    const again = lookAtClock(waiting, waiting.seenAtMs + 40 * DAY_MS, {
      nowMs: waiting.seenAtMs,
      elapsedMs: MINUTE_MS,
    });

    expect(again).toMatchObject({ leaptFromMs: T, waitedMs: 0 });
    expect(afterMinutes(again, 1439).leaptFromMs).toBe(T);
    expect(afterMinutes(again, 1440).leaptFromMs).toBeNull();
  });

  it('several small leaps shorten the pause by no more than the measured time', () => {
    let seen = lookAtClock(calm(T), T + 40 * DAY_MS, null);
    for (let i = 0; i < 100; i += 1)
      seen = lookAtClock(seen, seen.seenAtMs + DAY_MS / 2, { nowMs: seen.seenAtMs, elapsedMs: MINUTE_MS });

    expect(seen.waitedMs).toBe(100 * MINUTE_MS);
  });

  it('two processes that alternate count no time twice', () => {
    let seen = lookAtClock(calm(T), T + 40 * DAY_MS, null);
    for (let i = 0; i < 100; i += 1)
      seen = lookAtClock(seen, seen.seenAtMs + MINUTE_MS / 2, {
        nowMs: seen.seenAtMs - MINUTE_MS / 2,
        elapsedMs: MINUTE_MS,
      });

    expect(seen.waitedMs).toBe(50 * MINUTE_MS);
  });

  it('setting the clock back to its old time ends the pause', () => {
    const waiting = afterMinutes(lookAtClock(calm(T), T + 40 * DAY_MS, null), 60);

    expect(
      lookAtClock(waiting, T + 61 * MINUTE_MS, { nowMs: waiting.seenAtMs, elapsedMs: MINUTE_MS }).leaptFromMs,
    ).toBeNull();
  });

  it('for any clock, a pause lasts until a day was measured or the clock was set back', () => {
    const look = fc.record({
      forwardMs: fc.integer({ min: -60 * DAY_MS, max: 60 * DAY_MS }),
      elapsedMs: fc.integer({ min: 0, max: DAY_MS / 2 }),
    });
    fc.assert(
      fc.property(fc.array(look, { maxLength: 30 }), (looks) => {
        let seen = lookAtClock(calm(T), T + 40 * DAY_MS, null);
        let measuredMs = 0;
        for (const { forwardMs, elapsedMs } of looks) {
          const before = seen;
          measuredMs += elapsedMs;
          seen = lookAtClock(before, before.seenAtMs + forwardMs, { nowMs: before.seenAtMs, elapsedMs });
          if (seen.leaptFromMs !== null) expect(seen.waitedMs).toBeLessThan(LEAP_WAIT_MS);
          else return void expect(measuredMs >= LEAP_WAIT_MS || forwardMs < 0).toBe(true);
        }
      }),
    );
  });
});
