import fc from 'fast-check';
import { isQuick, mayEnter, type Meter, metered, noteAnswer, PACE_MS_MAX, perSecond, unanswered } from './pressure.js';

describe('mayEnter', () => {
  it.each([
    // Columns: ready deliveries, deliveries per second, deliveries in a commit, milliseconds waited, whether the
    // request may enter
    [0, 0, 0, 0, true],
    [64, 0, 0, 0, true],
    [65, 0, 0, 0, false],
    [40, 0, 25, 0, false],
    [500, 5_000, 0, 0, true],
    [501, 5_000, 0, 0, false],
    [400, 5_000, 101, 0, false],
    [1_000_000, 5_000, 0, 1_999, false],
    [1_000_000, 5_000, 1_000_000, 2_000, true],
  ])(
    '%d ready at %d per second, %d under way, after %d ms: %p',
    (ready, drainPerSecond, underWay, waitedMs, enters) => {
      expect(mayEnter({ ready, drainPerSecond }, underWay, waitedMs)).toBe(enters);
    },
  );

  it('accepts everything after two seconds, and more requests the smaller the backlog and the higher the rate', () => {
    const count = fc.nat(1_000_000);
    fc.assert(
      fc.property(count, count, count, fc.nat(3_000), count, (ready, drainPerSecond, underWay, waitedMs, less) => {
        const enters = mayEnter({ ready, drainPerSecond }, underWay, waitedMs);
        if (waitedMs >= PACE_MS_MAX) expect(enters).toBe(true);
        if (!enters) return;
        expect(mayEnter({ ready: Math.max(0, ready - less), drainPerSecond }, underWay, waitedMs)).toBe(true);
        expect(mayEnter({ ready, drainPerSecond: drainPerSecond + less }, underWay, waitedMs)).toBe(true);
        expect(mayEnter({ ready, drainPerSecond }, underWay, waitedMs + less)).toBe(true);
      }),
    );
  });

  it('leaves at most a tenth of a second of deliveries ready, plus one message', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 50_000 }), fc.integer({ min: 1, max: 100 }), (drainPerSecond, copies) => {
        let ready = 0;
        while (mayEnter({ ready, drainPerSecond }, 0, 0)) ready += copies;

        expect(ready).toBeLessThanOrEqual(Math.max(64, drainPerSecond / 10) + copies);
      }),
    );
  });
});

describe('a meter', () => {
  const after = (times: number[]): Meter => {
    const meter = { weight: 0, atMs: -Infinity };
    for (const atMs of times) metered(meter, atMs);
    return meter;
  };

  it('measures an even rate within a tenth after two seconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 20_000 }), fc.nat(1_000_000), (rate, beginMs) => {
        const times = Array.from({ length: rate * 2 }, (_, i) => beginMs + (i * 1000) / rate);

        const shown = perSecond(after(times), beginMs + 2_000);

        expect(shown / rate).toBeGreaterThan(0.9);
        expect(shown / rate).toBeLessThan(1.1);
      }),
      { numRuns: 20 },
    );
  });

  it('forgets old events, and is 0 before the first event', () => {
    const meter = after(Array.from({ length: 1_000 }, (_, i) => i));

    expect(perSecond(meter, 6_000)).toBeLessThan(1);
    expect(perSecond({ weight: 0, atMs: -Infinity }, 6_000)).toBe(0);
  });
});

describe('isQuick', () => {
  const answeringAfter = (
    answers: { tookMs: number; isSuccess: boolean }[],
    untilMs = 1_000,
  ): ReturnType<typeof unanswered> => {
    const answering = unanswered();
    for (const answer of answers) noteAnswer(answering, answer, untilMs);
    return answering;
  };
  const times = (count: number, tookMs: number, isSuccess = true): { tookMs: number; isSuccess: boolean }[] =>
    Array.from({ length: count }, () => ({ tookMs, isSuccess }));

  it.each([
    ['no answer yet', [], 1_000, false],
    ['a fast first answer', times(1, 20), 1_000, true],
    ['answers after 600 ms', times(50, 600), 1_000, false],
    ['answers after 300 ms', times(50, 300), 1_000, true],
    ['a failure a moment ago', [...times(50, 20), ...times(1, 20, false)], 1_000, false],
    ['a failure thirty answers ago', [...times(50, 20), ...times(1, 20, false), ...times(30, 20)], 1_000, true],
    ['no answer for half a second', times(50, 20), 1_500, false],
  ])('%s', (_case, answers, nowMs, quick) => {
    expect(isQuick(answeringAfter(answers), nowMs)).toBe(quick);
  });
});
