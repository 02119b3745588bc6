import { jest } from '@jest/globals';
import type { CallEnd } from './call-thread.js';
import { Deadline } from './deadline.js';
import { type JobEnd, type SlotThread, ThreadSlot, type ThreadSlotOptions } from './thread-slot.js';

/** A thread whose calls end when the test ends them. */
class HeldThread implements SlotThread<string, string> {
  readonly ready = Promise.resolve(true);
  isAlive = true;
  call: string | null = null;
  private resolve: (end: CallEnd<string>) => void = () => undefined;

  run(call: string): Promise<CallEnd<string>> {
    this.call = call;
    return new Promise((resolve) => (this.resolve = resolve));
  }

  async end(cpuMs = 1): Promise<void> {
    const answer = this.call ?? '';
    this.call = null;
    this.resolve({ answer, cpuMs });
    await settled();
  }

  async stop(): Promise<void> {
    this.isAlive = false;
    this.resolve({ answer: null, why: 'stopped', cpuMs: 0 });
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Scene {
  threadSlot: ThreadSlot<string, string>;
  threads: HeldThread[];
  run(call: string, endpoint?: string): Promise<JobEnd<string>>;
  running(): (string | null)[];
}

/** Returns a slot with fake threads. Calls are named after their organization: `a1` belongs to `a`. */
function arrange(options: Partial<ThreadSlotOptions<string, string>> = {}): Scene {
  const threads: HeldThread[] = [];
  const startThread = async (): Promise<HeldThread> => {
    const thread = new HeldThread();
    threads.push(thread);
    return thread;
  };
  const threadSlot = new ThreadSlot<string, string>({
    threadsMax: 2,
    admits: (use, organization) => use.ofOrganization(organization) < 1,
    startThread,
    ...options,
  });
  return {
    threadSlot,
    threads,
    run: (call, endpoint = 'e') =>
      threadSlot.run({
        call,
        organization: call.charAt(0),
        endpoint,
        limits: { cpuMsMax: 1, wallMsMax: 1 },
        bytes: call.length,
      }),
    running: () => threads.map(({ call }) => call),
  };
}

describe('ThreadSlot', () => {
  it('an organization cannot occupy the last thread: the next organization gets it at once', async () => {
    const { run, running } = arrange({ hasStandby: true });
    for (const call of ['a1', 'a2', 'a3']) void run(call);
    await settled();
    expect(running()).toEqual(['a1', null]);

    void run('b1');
    await settled();

    expect(running()).toEqual(['a1', 'b1']);
  });

  it('charges the used CPU time: after an expensive call, an organization waits for others that used less', async () => {
    const { run, threads, running } = arrange({ threadsMax: 1 });
    for (const call of ['a1', 'a2', 'b1', 'b2', 'b3']) void run(call);
    await settled();
    const order: (string | null)[] = [];

    for (const cpuMs of [5_000, 1, 1, 1]) {
      order.push(running()[0] ?? null);
      await threads[0]?.end(cpuMs);
    }

    expect([...order, running()[0]]).toEqual(['a1', 'b1', 'b2', 'b3', 'a2']);
  });

  it('endpoints of one organization take turns', async () => {
    const { run, threads, running } = arrange({ threadsMax: 1 });
    for (const [call, endpoint] of [
      ['a1', 'slow'],
      ['a2', 'slow'],
      ['a3', 'slow'],
      ['a4', 'quick'],
    ] as const)
      void run(call, endpoint);
    await settled();

    await threads[0]?.end(4_500);

    expect(running()).toEqual(['a4']);
  });

  it('is busy for a job that waits over five seconds, and for the 501st of one organization', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      const { run } = arrange();
      void run('a0');
      await settled();
      const waiting = Array.from({ length: 500 }, () => run('a'));
      expect(await run('a')).toMatchObject({ why: 'busy' });

      jest.advanceTimersByTime(5_000);

      expect((await Promise.all(waiting)).every((end) => end.answer === null && end.why === 'busy')).toBe(true);
    } finally {
      jest.useRealTimers();
    }
  });

  it('is busy for a job that waits until its deadline, even if others may wait longer', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      const { threadSlot, run } = arrange();
      void run('a0');
      await settled();
      const job = { organization: 'a', endpoint: 'e', bytes: 1 };
      const hurried = threadSlot.run({
        ...job,
        call: 'a1',
        limits: { cpuMsMax: 1, wallMsMax: Infinity, deadline: new Deadline(1_500) },
      });
      const unhurried = threadSlot.run({
        ...job,
        call: 'a2',
        limits: { cpuMsMax: 1, wallMsMax: Infinity, deadline: new Deadline(11_000) },
      });

      jest.advanceTimersByTime(1_500);

      expect(await Promise.race([hurried, unhurried])).toMatchObject({ why: 'busy' });
      expect(threadSlot.queued).toBe(1);
    } finally {
      jest.useRealTimers();
    }
  });

  it('does not count the start of the first thread as waiting', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      let up: (thread: HeldThread) => void = () => undefined;
      const { threadSlot } = arrange({ startThread: () => new Promise<HeldThread>((resolve) => (up = resolve)) });
      const deadline = new Deadline(1_500);
      void threadSlot.run({
        call: 'a1',
        organization: 'a',
        endpoint: 'e',
        limits: { cpuMsMax: 1, wallMsMax: Infinity, deadline },
        bytes: 1,
      });
      jest.advanceTimersByTime(4_000);

      const thread = new HeldThread();
      up(thread);
      await settled();
      await settled();

      expect(thread.call).toBe('a1');
      expect(deadline.leftMs()).toBeGreaterThan(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('holds at most 64 MB of waiting jobs', async () => {
    const { threadSlot, run } = arrange();
    void run('a0');
    await settled();
    const large = {
      call: 'b',
      organization: 'a',
      endpoint: 'e',
      limits: { cpuMsMax: 1, wallMsMax: 1 },
      bytes: 40 * 2 ** 20,
    };
    void threadSlot.run(large);

    expect(await threadSlot.run(large)).toMatchObject({ why: 'busy' });
  });

  it('terminates threads that were idle for long', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      const { threadSlot, run, threads } = arrange({ idleMsMax: 1_000 });
      const call = run('a1');
      await settled();
      await threads[0]?.end();
      await call;
      expect(threadSlot.threadCount).toBe(1);

      jest.advanceTimersByTime(1_000);

      expect([threadSlot.threadCount, threadSlot.restarts, threads[0]?.isAlive]).toEqual([0, 0, false]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('ends waiting jobs as crashed when no thread can be started', async () => {
    const { run } = arrange({ startThread: () => Promise.reject(new Error('none')) });

    expect(await run('a1')).toMatchObject({ why: 'crashed' });
  });
});
