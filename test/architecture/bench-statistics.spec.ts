import { orderOf, pairsOf } from '../../bench/alternation.mjs';
import { historyOf } from '../../bench/history.mjs';
import { backlogOf, centreOf, quantile, ratioOf, spreadOf, verdictOf } from '../../bench/statistics.mjs';

const RATE = { more: 'faster', less: 'slower' };

/** Returns a generator of numbers from 0 to below 1. The sequence is the same in every run. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns an approximately normally distributed number: the sum of twelve uniform numbers. */
const normal = (draw: () => number): number => Array.from({ length: 12 }, draw).reduce((sum, value) => sum + value, -6);

/** Returns pairs of rates with a known true ratio, on a machine with drift, scatter, and occasional outliers. */
function measured(count: number, trueRatio: number, scatter: number, draw: () => number): [number, number][] {
  return Array.from({ length: count }, (_none, i) => {
    const machine = 6000 * (1 + 0.3 * Math.sin(i / 5));
    const spoilt = (): number => (draw() < 0.03 ? 0.6 : 1);
    return [
      machine * trueRatio * Math.exp(normal(draw) * scatter) * spoilt(),
      machine * Math.exp(normal(draw) * scatter) * spoilt(),
    ];
  });
}

describe('the spread of a row', () => {
  it('is given by its median and its quartiles', () => {
    expect(spreadOf([5, 1, 4, 2, 3])).toEqual({ median: 3, low: 2, high: 4 });
    expect([quantile([1, 2], 0.5), quantile([7], 0.25)]).toEqual([1.5, 7]);
  });
});

describe('the centre of paired values', () => {
  it('has the interval of the signed-rank test: of ten values, the 9th of the 55 means from either end', () => {
    // The published critical value of W for n = 10 at the two-sided level 0.05 is 8. The interval excludes the 8
    // smallest and the 8 largest means.
    const values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    const means = values.flatMap((a, i) => values.slice(i).map((b) => (a + b) / 2)).sort((a, b) => a - b);

    expect(centreOf(values)).toEqual({ centre: 5.5, low: means[8], high: means[46] });
  });

  it('has no interval below six values, and with six the interval of all values', () => {
    expect(centreOf([1, 2, 3, 4, 5])).toEqual({ centre: 3, low: -Infinity, high: Infinity });
    expect(centreOf([1, 2, 3, 4, 5, 6])).toEqual({ centre: 3.5, low: 1, high: 6 });
  });

  it('is not moved by one outlier', () => {
    expect(centreOf([1, 2, 3, 4, 5, 6, 7, 8, 9, 1000]).centre).toBeLessThan(6.1);
  });
});

describe('the ratio of two subjects', () => {
  it('is inverted if the subjects are swapped', () => {
    const pairs = measured(24, 0.93, 0.05, sequence(7));
    const there = ratioOf(pairs);
    const back = ratioOf(pairs.map(([a, b]) => [b, a] as const));

    expect(there.ratio * back.ratio).toBeCloseTo(1);
    expect(there.low * back.high).toBeCloseTo(1);
    expect(there.pairs).toBe(24);
  });

  it('lies within its interval in nineteen of twenty comparisons, whatever the machine does to both subjects', () => {
    const draw = sequence(11);
    const runs = Array.from({ length: 400 }, () => ratioOf(measured(24, 0.95, 0.06, draw)));
    const right = runs.filter(({ low, high }) => low <= 0.95 && high >= 0.95).length;

    expect(right).toBeGreaterThan(400 * 0.92);
    // Shows that the interval is no wider than necessary.
    expect(
      quantile(
        runs.map(({ low, high }) => high / low),
        0.5,
      ),
    ).toBeLessThan(1.09);
  });

  it('leaves out a slice without deliveries', () => {
    const { ratio, pairs } = ratioOf([
      [0, 5],
      [6, 5],
      [5, 0],
      [Infinity, 5],
      [5, Infinity],
      [Infinity, Infinity],
    ]);

    expect(ratio).toBeCloseTo(1.2);
    expect(pairs).toBe(1);
  });
});

describe('a verdict', () => {
  it.each([
    [{ ratio: 1, low: 0.98, high: 1.02 }, 'same', 'the same within 3 %'],
    [{ ratio: 0.985, low: 0.975, high: 0.995 }, 'same', 'the same within 3 %'],
    [{ ratio: 0.93, low: 0.91, high: 0.96 }, 'less', 'slower by 4 to 9 %'],
    [{ ratio: 1.08, low: 1.005, high: 1.155 }, 'more', 'faster by 0.5 to 15.5 %'],
    [{ ratio: 1, low: 0.94, high: 1.06 }, 'unknown', 'undecided: between -6 and +6 %, needs more rounds (about 48)'],
    [{ ratio: 0.99, low: 0.96, high: 1.02 }, 'unknown', 'undecided: between -4 and +2 %, needs more rounds (about 18)'],
    [{ ratio: 1, low: 0, high: Infinity }, 'unknown', 'undecided: fewer than 6 pairs, needs more rounds'],
  ])('of %j is %s', (ratio, kind, text) => {
    expect(verdictOf({ ...ratio, pairs: 24 }, 0.03, RATE)).toEqual({ kind, text });
  });

  it('detects a difference of a twentieth, and none where there is none', () => {
    const draw = sequence(3);
    const told = (trueRatio: number): string[] =>
      Array.from({ length: 200 }, () => verdictOf(ratioOf(measured(40, trueRatio, 0.03, draw)), 0.03, RATE).kind);
    const [equal, slower, quicker] = [told(1), told(0.95), told(1.05)];

    expect(equal.filter((kind) => kind === 'same').length).toBeGreaterThan(150);
    expect(equal.filter((kind) => kind === 'less' || kind === 'more').length).toBeLessThan(12);
    expect(slower.filter((kind) => kind === 'less').length).toBeGreaterThan(180);
    expect(quicker.filter((kind) => kind === 'more').length).toBeGreaterThan(180);
  });
});

describe('turns', () => {
  it('alternate their order, and the next round begins with the other subject', () => {
    expect([orderOf(['a', 'b'], 0), orderOf(['a', 'b'], 1)].map((order) => order.join(''))).toEqual(['abba', 'baab']);
    expect([0, 1, 2, 3].map((round) => orderOf(['a', 'b', 'c'], round).join(''))).toEqual([
      'abccba',
      'bcaacb',
      'cabbac',
      'abccba',
    ]);
  });

  it('are paired within half a round, and a slice without a partner is left out', () => {
    const slices = [
      ...orderOf(['own', 'other'], 0).map((name, place) => ({ name, round: 0, half: place < 2 ? 0 : 1, place })),
      { name: 'own', round: 1, half: 0, place: 4 },
    ];

    expect(pairsOf(slices, 'own', 'other').map((pair) => pair.map(({ place }) => place))).toEqual([
      [0, 1],
      [3, 2],
    ]);
  });
});

describe('the history of a row', () => {
  const slice = (deliveriesPerSecond: number): object => ({
    deliveriesPerSecond,
    cpuMicros: { service: 150, postgres: 50 },
    steal: 0.01,
    others: 0.02,
    fsyncMs: { median: 1.5, max: 4 },
  });
  const entry = {
    date: '2026-11-23T16:00:00.000Z',
    options: { spin: 0 },
    commit: 'abc1234',
    isDirty: true,
    machine: { name: 'box' },
    against: { commit: 'ae3ae03', isDirty: false },
    rounds: { service: [slice(5000), slice(6000), slice(7000)], 'service:against': [slice(6000)] },
    comparisons: [
      {
        name: 'service',
        reference: 'service:against',
        rate: { ratio: 0.95, verdict: 'slower by 4 to 6 %' },
        cpu: { ratio: 1.004, verdict: 'the same within 3 %' },
      },
    ],
  };

  it('has a line for each run that measured it, with its conditions and its comparison', () => {
    expect(historyOf([entry, { ...entry, rounds: {} }], 'service')).toBe(
      '2026-11-23T16:00  abc1234+  box  6000 (5500-6500)/s  200 (200-200) us  3 x  steal 1.0 %, others 2.0 %, fsync 1.50 ms; ' +
        'against ae3ae03: rate 0.950, slower by 4 to 6 %; CPU 1.004, the same within 3 %',
    );
  });

  it('marks a control run that burnt CPU on purpose', () => {
    expect(historyOf([{ ...entry, options: { spin: 15 } }], 'service')).toContain('  abc1234+ burning 15 us  box  ');
  });

  it('reports that there is none', () => {
    expect(historyOf([entry], 'fanout')).toMatch(/No run/);
  });
});

describe('the number of messages that wait for delivery', () => {
  const at = (...times: number[]): Float64Array => Float64Array.from(times);

  it('counts accepted messages that have not arrived, at the end of the window and as a maximum within it', () => {
    // Five messages with two copies each. One message is accepted before the window, two within it, one never, and one
    // after it.
    const acceptedAt = at(5, 20, 22, 0, 60);
    const receivedAt = at(12, 30, 25, 26, 24, 70, 23, 23, 61, 62);

    expect(backlogOf(acceptedAt, receivedAt, 2, [10, 50])).toEqual({ end: 1, max: 5 });
  });

  it('counts messages that never arrived, and none that arrived before their answer was read', () => {
    expect(backlogOf(at(20, 30), at(0, 29), 1, [10, 50])).toEqual({ end: 1, max: 1 });
    expect(backlogOf(at(), at(), 10, [10, 50])).toEqual({ end: 0, max: 0 });
  });
});
