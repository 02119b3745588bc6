import fc from 'fast-check';
import {
  type ConcurrencyWindow,
  hasRoom,
  initialWindow,
  onLinger,
  onSettle,
  onStart,
  setCeiling,
} from './concurrency-window.js';
import type { Outcome } from './outcome.js';

type Sizes = Omit<ConcurrencyWindow, 'ceiling'> & Partial<ConcurrencyWindow>;

describe('a concurrency window', () => {
  it('allows 32 concurrent attempts at first, and another when one ends', () => {
    const w = initialWindow();
    let begun = 0;
    while (hasRoom(w)) {
      onStart(w);
      begun += 1;
    }
    expect(begun).toBe(32);

    onSettle(w, 'failed');

    expect([hasRoom(w), w]).toEqual([true, { limit: 32, inFlight: 31, ceiling: 512 }]);
  });

  it('allows further attempts beside slow ones, which say nothing about the capacity of the target', () => {
    const w = initialWindow(2);
    onStart(w);
    onStart(w);
    onLinger(w);
    expect(hasRoom(w)).toBe(true);
    onStart(w);
    expect(hasRoom(w)).toBe(false);

    onSettle(w, 'success', true);
    expect([hasRoom(w), w.inFlight, w.lingering, w.limit]).toEqual([false, 2, 0, 2]);
    onSettle(w, 'failed');
    expect(hasRoom(w)).toBe(true);
  });

  it('is not shared between callers', () => {
    const w = initialWindow();
    onStart(w);

    expect(initialWindow()).toEqual({ limit: 32, inFlight: 0, ceiling: 512 });
  });
});

describe('a window with a configured concurrency', () => {
  it.each([
    [1, 1],
    [2, 2],
    [32, 32],
    [33, 32],
    [1000, 32],
  ])('of %i begins with %i', (concurrency, limit) => {
    expect(initialWindow(concurrency)).toEqual({ limit, inFlight: 0, ceiling: concurrency });
  });

  it('shrinks at once to a lower limit, and grows to a higher limit only with successes', () => {
    const w: ConcurrencyWindow = { limit: 32, inFlight: 20, ceiling: 512 };

    setCeiling(w, 5);
    expect([hasRoom(w), w]).toEqual([false, { limit: 5, inFlight: 20, ceiling: 5 }]);

    setCeiling(w, null);
    expect(w).toEqual({ limit: 5, inFlight: 20, ceiling: 512 });
  });

  it('grows past 512 if the configured concurrency allows it', () => {
    const w: ConcurrencyWindow = { limit: 512, inFlight: 512, ceiling: 1000 };

    onSettle(w, 'success');

    expect(w.limit).toBe(513);
  });
});

describe('onSettle', () => {
  it.each<[string, Sizes, Outcome, Sizes]>([
    [
      'a success in a full window raises the limit',
      { limit: 32, inFlight: 32 },
      'success',
      { limit: 33, inFlight: 31 },
    ],
    ['a success below the limit keeps the limit', { limit: 32, inFlight: 31 }, 'success', { limit: 32, inFlight: 30 }],
    [
      'a success above a halved limit keeps the limit',
      { limit: 16, inFlight: 31 },
      'success',
      { limit: 16, inFlight: 30 },
    ],
    ['the limit stops at 512', { limit: 512, inFlight: 512 }, 'success', { limit: 512, inFlight: 511 }],
    [
      'the limit stops at the ceiling',
      { limit: 3, inFlight: 3, ceiling: 3 },
      'success',
      { limit: 3, inFlight: 2, ceiling: 3 },
    ],
    ['throttled halves', { limit: 33, inFlight: 5 }, 'throttled', { limit: 16, inFlight: 4 }],
    ['throttled stops at 1', { limit: 1, inFlight: 1 }, 'throttled', { limit: 1, inFlight: 0 }],
    ['failed keeps the limit', { limit: 32, inFlight: 32 }, 'failed', { limit: 32, inFlight: 31 }],
    ['gone keeps the limit', { limit: 32, inFlight: 32 }, 'gone', { limit: 32, inFlight: 31 }],
    [
      'an end without a start does not count below zero',
      { limit: 32, inFlight: 0 },
      'failed',
      { limit: 32, inFlight: 0 },
    ],
  ])('%s', (_title, before, outcome, after) => {
    const w: ConcurrencyWindow = { ceiling: 512, ...before };

    onSettle(w, outcome);

    expect(w).toEqual({ ceiling: 512, ...after });
  });
});

describe('a window over time', () => {
  it('recovers from the floor: full windows of successes bring 1 back to 32', () => {
    const w: ConcurrencyWindow = { limit: 1, inFlight: 0, ceiling: 512 };
    for (let n = 0; n < 31; n += 1) {
      while (hasRoom(w)) onStart(w);
      onSettle(w, 'success');
    }

    expect(w.limit).toBe(32);
  });

  it('stays between 1 and its ceiling and never allows more attempts than the limit, whatever the answers', () => {
    const moves = fc.array(
      fc.constantFrom<Outcome | 'start'>('start', 'start', 'success', 'success', 'throttled', 'failed', 'gone'),
    );
    fc.assert(
      fc.property(
        moves,
        fc.integer({ min: 1, max: 512 }),
        fc.integer({ min: 0, max: 500 }),
        (sequence, limit, more) => {
          const w: ConcurrencyWindow = { limit, inFlight: limit - 1, ceiling: limit + more };
          for (const move of sequence) {
            if (move !== 'start') onSettle(w, move);
            else if (hasRoom(w)) {
              onStart(w);
              expect(w.inFlight).toBeLessThanOrEqual(w.limit);
            }
            expect(w.limit >= 1 && w.limit <= limit + more && w.inFlight >= 0).toBe(true);
          }
        },
      ),
    );
  });
});
