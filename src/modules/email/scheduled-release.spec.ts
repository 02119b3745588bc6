import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Clock } from '#kernel/clock.js';
import type { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import { Loop } from '#kernel/concurrency/loop.js';
import type { Config } from '#kernel/config/config.js';
import type { Database } from '#kernel/database/database.js';
import type { ScheduledEmailsStore } from './scheduled-emails.store.js';
import { ScheduledRelease } from './scheduled-release.js';

function releasing(claim: () => Promise<unknown>, monotonicMs: () => number): ScheduledRelease {
  const database = {
    unitOfWork: (work: () => unknown) => work(),
    transaction: (work: () => unknown) => work(),
  } as unknown as Database;
  const due = async () => [{ environmentId: 1, id: '019aa4c0-0000-7000-8000-000000000000' }];
  const scheduled = { due, claim, postpone: async () => undefined } as unknown as ScheduledEmailsStore;
  const nothing = {} as never;
  const nobodyLooks = { register: () => undefined, restMs: (ownMs: number) => ownMs } as unknown as DueWorkPoller;
  const clock = { nowMs: () => 0, monotonicMs } as Clock;
  return new ScheduledRelease(
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
    { isWorker: true } as Config,
    nobodyLooks,
    clock,
  );
}

describe('ScheduledRelease', () => {
  beforeAll(() => Logger.overrideLogger(false));

  it('ends an iteration after ten seconds, however many emails are due', async () => {
    let nowMs = 0;
    let begun = (): void => undefined;
    const first = new Promise<void>((resolve) => (begun = resolve));
    const release = releasing(
      async () => {
        begun();
        nowMs += 1_000;
        return { environmentId: 1, id: '019aa4c0-0000-7000-8000-000000000000' };
      },
      () => nowMs,
    );

    release.onApplicationBootstrap();
    await first;
    await release.onApplicationShutdown();

    expect(nowMs).toBe(10_000);
  });

  it('does not make a process unready if there is much to do', async () => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
    try {
      let end = (): void => undefined;
      const release = releasing(
        () => new Promise((resolve) => (end = () => resolve(null))),
        () => 0,
      );
      release.onApplicationBootstrap();

      await jest.advanceTimersByTimeAsync(60_000);

      expect([...Loop.running()].map((loop) => loop.isLate())).toEqual([false]);
      end();
      await release.onApplicationShutdown();
    } finally {
      jest.useRealTimers();
    }
  });
});
