import { jest } from '@jest/globals';
import type { Job, JobEnd } from '#sandbox/thread-slot.js';
import { runUntil } from './deadline-call.js';

const JOB: Job<string> = {
  call: 'read',
  organization: '1',
  endpoint: '',
  limits: { cpuMsMax: 1, wallMsMax: 1 },
  bytes: 1,
};
const BUSY: JobEnd<string> = { answer: null, why: 'busy', cpuMs: 0 };

describe('a call that waits for a free thread', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  function threadSlot(ends: JobEnd<string>[]): { run: () => Promise<JobEnd<string>>; calls: () => number } {
    let calls = 0;
    return { run: async () => ends[Math.min(calls++, ends.length - 1)] as JobEnd<string>, calls: () => calls };
  }

  it('is retried while the slot is busy', async () => {
    const made = threadSlot([BUSY, BUSY, { answer: 'done', cpuMs: 1 }]);
    const ended = runUntil(made, JOB, performance.now() + 60_000);
    await jest.runAllTimersAsync();
    expect([await ended, made.calls()]).toEqual([{ answer: 'done', cpuMs: 1 }, 3]);
  });

  it('is abandoned at its deadline', async () => {
    const made = threadSlot([BUSY]);
    const ended = runUntil(made, JOB, performance.now() + 60_000);
    await jest.advanceTimersByTimeAsync(59_000);
    expect(made.calls()).toBeGreaterThan(10);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(await ended).toEqual(BUSY);
  });

  it.each<[string, JobEnd<string>, number]>([
    ['without a deadline', BUSY, 0],
    ['that ran and broke its thread', { answer: null, why: 'timeout', cpuMs: 20_000 }, 60_000],
  ])('is made once if it is one %s', async (_what, end, patienceMs) => {
    const made = threadSlot([end]);
    expect([await runUntil(made, JOB, performance.now() + patienceMs), made.calls()]).toEqual([end, 1]);
  });
});
