import fc from 'fast-check';
import { admits, initialWindow, settled, started, type Window } from './concurrency.js';
import type { Outcome } from './outcome.js';

describe('a concurrency window', () => {
  it('admits 32 attempts at once at first, and another when one ends', () => {
    const w = initialWindow();
    let begun = 0;
    while (admits(w)) {
      started(w);
      begun += 1;
    }
    expect(begun).toBe(32);

    settled(w, 'failed');

    expect([admits(w), w]).toEqual([true, { limit: 32, inFlight: 31 }]);
  });

  it('is its caller\'s own', () => {
    const w = initialWindow();
    started(w);

    expect(initialWindow()).toEqual({ limit: 32, inFlight: 0 });
  });
});

describe('settled', () => {
  it.each<[string, Window, Outcome, Window]>([
    ['a success in a full window raises the limit', { limit: 32, inFlight: 32 }, 'success', { limit: 33, inFlight: 31 }],
    ['a success below the limit leaves it', { limit: 32, inFlight: 31 }, 'success', { limit: 32, inFlight: 30 }],
    ['a success above a halved limit leaves it', { limit: 16, inFlight: 31 }, 'success', { limit: 16, inFlight: 30 }],
    ['the limit stops at 512', { limit: 512, inFlight: 512 }, 'success', { limit: 512, inFlight: 511 }],
    ['throttled halves', { limit: 33, inFlight: 5 }, 'throttled', { limit: 16, inFlight: 4 }],
    ['throttled stops at 1', { limit: 1, inFlight: 1 }, 'throttled', { limit: 1, inFlight: 0 }],
    ['failed leaves the limit', { limit: 32, inFlight: 32 }, 'failed', { limit: 32, inFlight: 31 }],
    ['gone leaves the limit', { limit: 32, inFlight: 32 }, 'gone', { limit: 32, inFlight: 31 }],
    ['an end without a start counts nothing below zero', { limit: 32, inFlight: 0 }, 'failed', { limit: 32, inFlight: 0 }],
  ])('%s', (_title, w, outcome, expected) => {
    settled(w, outcome);

    expect(w).toEqual(expected);
  });
});

describe('a window over time', () => {
  it('recovers from the floor: full windows of successes bring 1 back to 32', () => {
    const w: Window = { limit: 1, inFlight: 0 };
    for (let n = 0; n < 31; n += 1) {
      while (admits(w)) started(w);
      settled(w, 'success');
    }

    expect(w.limit).toBe(32);
  });

  it('stays between 1 and 512 and never lets more in than the limit, whatever is answered', () => {
    const moves = fc.array(fc.constantFrom<Outcome | 'start'>('start', 'start', 'success', 'success', 'throttled', 'failed', 'gone'));
    fc.assert(fc.property(moves, fc.integer({ min: 1, max: 512 }), (sequence, limit) => {
      const w: Window = { limit, inFlight: limit - 1 };
      for (const move of sequence) {
        if (move !== 'start') settled(w, move);
        else if (admits(w)) {
          started(w);
          expect(w.inFlight).toBeLessThanOrEqual(w.limit);
        }
        expect(w.limit >= 1 && w.limit <= 512 && w.inFlight >= 0).toBe(true);
      }
    }));
  });
});
