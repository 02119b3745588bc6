import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import type { BackgroundJobs } from '#kernel/concurrency/background-jobs.js';
import { jobsOf } from '../../test/support/jobs-of.js';
import type { IdempotencyStore, Reservation } from './idempotency.store.js';
import { IdempotencyReleaseRetry } from './idempotency-release-retry.js';

class TestClock extends Clock {
  ms = 0;
  now = (): Date => new Date(this.ms);
  nowMs = (): number => this.ms;
  random = (): number => 0;
}

const reservation = (key: string): Reservation => ({
  environmentId: 1,
  route: 'POST /v1/send',
  key,
  fingerprint: Buffer.alloc(32),
  fence: 'f',
});

describe('IdempotencyReleaseRetry', () => {
  let clock: TestClock;
  let released: string[];
  let isAway: boolean;
  let keys: IdempotencyReleaseRetry;
  let jobs: BackgroundJobs;
  const pass = async (ms: number): Promise<void> => {
    clock.ms += ms;
    await jest.advanceTimersByTimeAsync(ms);
  };

  beforeEach(() => {
    jest.useFakeTimers();
    Logger.overrideLogger(false);
    [clock, released, isAway] = [new TestClock(), [], true];
    const release = async ({ key }: Reservation): Promise<void> => {
      if (isAway) throw new Error('Connection terminated');
      released.push(key);
    };
    jobs = jobsOf(() => [keys]);
    keys = new IdempotencyReleaseRetry({ release } as unknown as IdempotencyStore, jobs, clock);
    jobs.start();
  });

  afterEach(async () => {
    await jobs.stop();
    jest.useRealTimers();
    Logger.overrideLogger(true);
  });

  it('releases failed reservations once, as soon as storage is available again', async () => {
    keys.enqueue(reservation('a'));
    keys.enqueue(reservation('b'));
    await pass(3_000);
    expect(released).toEqual([]);

    isAway = false;
    await pass(5_000);
    expect(released).toEqual(['a', 'b']);
    await pass(120_000);
    expect(released).toEqual(['a', 'b']);
  });

  it('skips a reservation older than its lease, since another request may own it', async () => {
    keys.enqueue(reservation('old'));
    await pass(11_000);
    keys.enqueue(reservation('new'));
    await pass(1_000);
    isAway = false;
    await pass(10_000);

    expect(released).toEqual(['new']);
  });

  it('holds at most ten thousand reservations', async () => {
    for (let i = 0; i < 10_001; i += 1) keys.enqueue(reservation(`${i}`));
    isAway = false;
    await pass(5_000);

    expect(released).toHaveLength(10_000);
  });
});
