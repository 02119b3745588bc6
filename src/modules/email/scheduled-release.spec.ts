import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Clock } from '#kernel/clock.js';
import type { BackgroundJobs } from '#kernel/concurrency/background-jobs.js';
import { Loop } from '#kernel/concurrency/loop.js';
import type { Database } from '#kernel/database/database.js';
import { jobsOf } from '../../../test/support/jobs-of.js';
import type { ScheduledEmailsStore } from './scheduled-emails.store.js';
import { ScheduledRelease } from './scheduled-release.js';

function releasing(claim: () => Promise<unknown>, monotonicMs: () => number): BackgroundJobs {
  const database = {
    unitOfWork: (work: () => unknown) => work(),
    transaction: (work: () => unknown) => work(),
  } as unknown as Database;
  const due = async () => [{ environmentId: 1, id: '019aa4c0-0000-7000-8000-000000000000' }];
  const scheduled = { due, claim, postpone: async () => undefined } as unknown as ScheduledEmailsStore;
  const nothing = {} as never;
  const clock = { nowMs: () => 0, monotonicMs } as Clock;
  const release = new ScheduledRelease(
    scheduled,
    nothing,
    nothing,
    nothing,
    nothing,
    nothing,
    nothing,
    nothing,
    nothing,
    nothing,
    nothing,
    nothing,
    nothing,
    database,
    clock,
  );
  return jobsOf(() => [release]);
}

describe('ScheduledRelease', () => {
  beforeAll(() => Logger.overrideLogger(false));

  it('ends an iteration after ten seconds, however many emails are due', async () => {
    let nowMs = 0;
    let begun = (): void => undefined;
    const first = new Promise<void>((resolve) => (begun = resolve));
    const jobs = releasing(
      async () => {
        begun();
        nowMs += 1_000;
        return { environmentId: 1, id: '019aa4c0-0000-7000-8000-000000000000' };
      },
      () => nowMs,
    );

    jobs.start();
    await first;
    await jobs.stop();

    expect(nowMs).toBe(10_000);
  });

  it('does not make a process unready if there is much to do', async () => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
    try {
      let end = (): void => undefined;
      const jobs = releasing(
        () => new Promise((resolve) => (end = () => resolve(null))),
        () => 0,
      );
      jobs.start();

      await jest.advanceTimersByTimeAsync(60_000);

      expect([...Loop.running()].map((loop) => loop.isLate())).toEqual([false]);
      end();
      await jobs.stop();
    } finally {
      jest.useRealTimers();
    }
  });
});
