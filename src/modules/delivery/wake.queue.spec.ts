import { jest } from '@jest/globals';
import type { Queue } from 'bullmq';
import { SystemClock } from '#kernel/clock.js';
import { Ids } from '#kernel/ids.js';
import { type WakeJob, WakeQueue } from './wake.queue.js';

const ids = new Ids(new SystemClock());
const keysOf = (count: number) =>
  Array.from({ length: count }, () => ({ environmentId: 1, eventId: ids.next(), ordinal: 0 }));

describe('WakeQueue', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  it.each([
    { load: 'low', each: 3, jobs: [3, 3, 3], later: [3, 3, 3] },
    { load: 'high', each: 20, jobs: [20], later: [20, 40] },
  ])('adds a job at once, and further ones later only under high load: $load', async ({ each, jobs, later }) => {
    const { wakeQueue, added } = queueOf();
    for (let n = 0; n < 3; n += 1) {
      wakeQueue.announce(keysOf(each));
      await new Promise(setImmediate);
    }
    expect(added()).toEqual(jobs);

    await jest.advanceTimersByTimeAsync(20);

    expect(added()).toEqual(later);
  });

  it('adds full jobs without a pause', async () => {
    const { wakeQueue, added } = queueOf();
    wakeQueue.announce(keysOf(1_200));
    await new Promise(setImmediate);

    expect(added()).toEqual([500, 500, 200]);
  });
});

function queueOf() {
  const jobs: WakeJob[] = [];
  const queue = {
    on: () => undefined,
    add: async (_name: string, job: WakeJob) => void jobs.push(job),
  };
  const added = (): number[] => jobs.map(({ keys }) => keys.length);
  return { wakeQueue: new WakeQueue(queue as unknown as Queue<WakeJob>), added };
}
