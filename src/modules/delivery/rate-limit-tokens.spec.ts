import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import type { Clock } from '#kernel/clock.js';
import { RateLimitTokens } from './rate-limit-tokens.js';
import type { RateLimitTokensStore } from './rate-limit-tokens.store.js';

beforeAll(() => Logger.overrideLogger(false));
afterAll(() => Logger.overrideLogger(true));

interface Quota {
  perSecond: number;
  burst: number;
  wanted: number;
}

/** A token bucket, as in `rate-limit-tokens.store.ts`. The first draw creates the bucket and grants no tokens. */
class Bucket {
  private tokens: number | null = null;
  private updatedAtMs = 0;

  draw({ perSecond, burst, wanted }: Quota, nowMs: number): number {
    const grown =
      this.tokens === null ? null : Math.min(burst, this.tokens + ((nowMs - this.updatedAtMs) / 1000) * perSecond);
    const granted = grown === null ? 0 : Math.floor(Math.min(grown, wanted));
    this.tokens = grown === null ? burst : grown - granted;
    this.updatedAtMs = nowMs;
    return granted;
  }
}

/** Workers that share one table of token buckets. A draw returns when the test allows it, or immediately. */
function arrange({ workers = 1, answersAtOnce = true } = {}) {
  const time = { nowMs: 1_000_000 };
  const rows = new Map<string, Bucket>();
  const table = { draws: [] as Quota[], isAway: false, answers: [] as (() => void)[] };
  const store = {
    draw: async (environmentId: number, targetId: string, quota: Quota) => {
      table.draws.push(quota);
      if (!answersAtOnce) await new Promise<void>((resolve) => table.answers.push(resolve));
      if (table.isAway) throw new Error('storage is away');
      const key = `${environmentId} ${targetId}`;
      const row = rows.get(key) ?? new Bucket();
      rows.set(key, row);
      return row.draw(quota, time.nowMs);
    },
  } as unknown as RateLimitTokensStore;
  const clock = { nowMs: () => time.nowMs } as unknown as Clock;
  const made = Array.from({ length: workers }, () => new RateLimitTokens(store, clock));
  return { permits: made[0] as RateLimitTokens, workers: made, time, table };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Fills a worker's allotment. The first draw creates the token bucket, and the second draw receives tokens. */
async function fill(rateLimits: RateLimitTokens, time: { nowMs: number }, perSecond: number): Promise<void> {
  for (let i = 0; i < 2; i += 1) {
    rateLimits.consume(1, 'a', perSecond, 0);
    await settle();
    time.nowMs += 200;
  }
}

describe('RateLimitTokens', () => {
  it('has no tokens before the first call, which it makes in the background', async () => {
    const { permits, table } = arrange();

    expect(permits.consume(1, 'a', 100, 1)).toBe(0);

    expect(table.draws).toEqual([{ perSecond: 100, burst: 10, wanted: 5 }]);
  });

  it('consumes the granted tokens and no more', async () => {
    const { permits, time } = arrange();
    await fill(permits, time, 100);

    expect(permits.consume(1, 'a', 100, 3)).toBe(3);
    expect(permits.consume(1, 'a', 100, 3)).toBe(2);
    expect(permits.consume(1, 'a', 100, 3)).toBe(0);
  });

  it('separates targets and environments', async () => {
    const { permits, time } = arrange();
    await fill(permits, time, 100);

    expect(permits.consume(1, 'b', 100, 1)).toBe(0);
    expect(permits.consume(2, 'a', 100, 1)).toBe(0);
    expect(permits.consume(1, 'a', 100, 1)).toBe(1);
  });

  it('discards unused tokens after half a second', async () => {
    const { permits, time } = arrange();
    await fill(permits, time, 100);

    // `fill` has advanced the clock by 200 ms since the last draw, so the tokens are then 499 ms old.
    time.nowMs += 299;
    expect(permits.consume(1, 'a', 100, 1)).toBe(1);
    time.nowMs += 1;

    expect(permits.consume(1, 'a', 100, 1)).toBe(0);
  });

  it('makes one call at a time per target, however many tokens are consumed meanwhile', async () => {
    const { permits, table } = arrange({ answersAtOnce: false });

    for (let i = 0; i < 10; i += 1) permits.consume(1, 'a', 100, 1);

    expect(table.draws).toHaveLength(1);
    for (const answer of table.answers) answer();
    await settle();
  });

  it('makes the next call before the allotment is empty', async () => {
    const { permits, time, table } = arrange();
    await fill(permits, time, 100);
    table.draws.length = 0;

    permits.consume(1, 'a', 100, 2);
    expect(table.draws).toHaveLength(0);
    permits.consume(1, 'a', 100, 1);

    expect(table.draws).toHaveLength(1);
  });

  it('limits its calls while the table grants nothing', async () => {
    const { permits, time, table } = arrange();

    for (let i = 0; i < 1_000; i += 1) {
      permits.consume(1, 'a', 1, 1);
      await settle();
      time.nowMs += 1;
    }

    // At one token per second, a draw that grants nothing is followed by a pause of 200 ms.
    expect(table.draws.length).toBeLessThanOrEqual(6);
  });

  it('grants nothing while storage is unavailable, retries after a second, and recovers', async () => {
    const { permits, time, table } = arrange();
    table.isAway = true;
    permits.consume(1, 'a', 100, 1);
    await settle();
    time.nowMs += 999;
    expect(permits.consume(1, 'a', 100, 1)).toBe(0);
    expect(table.draws).toHaveLength(1);

    table.isAway = false;
    time.nowMs += 1;
    await fill(permits, time, 100);

    expect(permits.consume(1, 'a', 100, 1)).toBe(1);
  });

  it('never consumes more than the rate times the time plus one burst, with any number of workers', async () => {
    const step = fc.record({
      worker: fc.nat(2),
      waitMs: fc.integer({ min: 0, max: 300 }),
      wanted: fc.integer({ min: 1, max: 400 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 2_000 }),
        fc.array(step, { maxLength: 80, size: 'max' }),
        async (perSecond, steps) => {
          const { workers, time } = arrange({ workers: 3 });
          const startedAtMs = time.nowMs;
          let spent = 0;
          for (const { worker, waitMs, wanted } of steps) {
            time.nowMs += waitMs;
            spent += (workers[worker] as RateLimitTokens).consume(1, 'a', perSecond, wanted);
            await settle();
            const seconds = (time.nowMs - startedAtMs) / 1000;
            expect(spent).toBeLessThanOrEqual(perSecond * seconds + Math.max(1, perSecond / 10));
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each([1, 3, 20, 100, 1_000])('lets a steady sender have nearly %i per second', async (perSecond) => {
    const { permits, time } = arrange();
    let spent = 0;

    for (let ms = 0; ms < 20_000; ms += 5) {
      spent += permits.consume(1, 'a', perSecond, 100);
      await settle();
      time.nowMs += 5;
    }

    expect(spent).toBeGreaterThan(perSecond * 20 * 0.8 - 2);
  });

  it('does not accumulate tokens: after any pause, at most two allotments can be consumed at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 2_000 }),
        fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 40, size: 'max' }),
        async (perSecond, pauses) => {
          const { permits, time } = arrange();
          const draw = Math.max(1, Math.ceil(perSecond / 20));
          for (const pauseMs of pauses) {
            permits.consume(1, 'a', perSecond, 0);
            await settle();
            time.nowMs += pauseMs;
          }
          expect(permits.consume(1, 'a', perSecond, 1_000_000)).toBeLessThanOrEqual(2 * draw);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('grants tokens again that were given back, until they expire', async () => {
    const { permits, time } = arrange();
    await fill(permits, time, 200);
    const granted = permits.consume(1, 'a', 200, 100);
    expect(granted).toBeGreaterThan(3);

    permits.giveBack(1, 'a', 3);

    expect(permits.consume(1, 'a', 200, 100)).toBe(3);
    permits.giveBack(1, 'a', 3);
    time.nowMs += 10_000;
    expect(permits.consume(1, 'a', 200, 100)).toBe(0);
  });
});
