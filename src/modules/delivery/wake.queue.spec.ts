import { jest } from '@jest/globals';
import type { Queue } from 'bullmq';
import { SystemClock } from '#kernel/clock.js';
import { Ids } from '#kernel/ids.js';
import { type WakeJob, WakeQueue } from './wake.queue.js';

const ids = new Ids(new SystemClock());
const keysOf = (count: number) =>
  Array.from({ length: count }, () => ({ environmentId: 1, eventId: ids.next(), ordinal: 0 }));

/** Lets announced deliveries reach the queue. Does not advance the faked time. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('WakeQueue', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  it('adds a job at once, and one job for the deliveries of a fan-out after a quiet time', async () => {
    const { wakeQueue, added } = queueOf();
    for (const count of [100, 1, 2]) {
      await jest.advanceTimersByTimeAsync(101);
      wakeQueue.announce(keysOf(count));
      await settled();
    }

    expect(added()).toEqual([100, 1, 2]);
  });

  it.each([
    { load: 'few deliveries', count: 15, soon: [1, 15, 15], later: [1, 15, 15] },
    { load: 'many deliveries', count: 16, soon: [1, 16], later: [1, 16, 16] },
  ])('under high load, waits 20 ms after a job with many deliveries: $load', async ({ count, soon, later }) => {
    const { wakeQueue, added } = queueOf();
    for (const each of [1, count, count]) {
      wakeQueue.announce(keysOf(each));
      await settled();
    }
    await jest.advanceTimersByTimeAsync(19);
    expect(added()).toEqual(soon);

    await jest.advanceTimersByTimeAsync(1);

    expect(added()).toEqual(later);
  });

  it('adds full jobs without a pause', async () => {
    const { wakeQueue, added } = queueOf();
    wakeQueue.announce(keysOf(1));
    await settled();
    wakeQueue.announce(keysOf(1_200));
    await settled();

    expect(added()).toEqual([1, 500, 500, 200]);
  });

  it('adds no job after a shutdown that comes during a pause', async () => {
    const { wakeQueue, added } = queueOf();
    for (const each of [1, 16, 16]) {
      wakeQueue.announce(keysOf(each));
      await settled();
    }
    await wakeQueue.beforeApplicationShutdown();
    await jest.advanceTimersByTimeAsync(20);

    expect(added()).toEqual([1, 16]);
  });
});

function queueOf() {
  const jobs: WakeJob[] = [];
  const queue = {
    on: () => undefined,
    disconnect: async () => undefined,
    add: async (_name: string, job: WakeJob) => void jobs.push(job),
  };
  const added = (): number[] => jobs.map(({ keys }) => keys.length);
  return { wakeQueue: new WakeQueue(queue as unknown as Queue<WakeJob>), added };
}
