import { jest } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { Queue } from 'bullmq';
import { handleQueueErrors } from './queue-errors.queue.js';

type Ending = Queue & { onApplicationShutdown: (signal?: string) => Promise<void> };

describe('queues at shutdown', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  function queueThat(
    closes: () => Promise<void>,
    disconnects = async (): Promise<void> => undefined,
  ): { queue: Ending; left: () => number } {
    let left = 0;
    const queue = Object.assign(Object.create(Queue.prototype) as Ending, {
      on: () => queue,
      disconnect: () => {
        left += 1;
        return disconnects();
      },
      onApplicationShutdown: closes,
    }) as unknown as Ending;
    const app = {
      get: () =>
        new Map([
          [
            'a',
            {
              providers: new Map([
                ['q', { instance: queue }],
                ['other', { instance: {} }],
              ]),
            },
          ],
        ]),
    };
    handleQueueErrors(app as unknown as INestApplicationContext);
    return { queue, left: () => left };
  }

  it('are disconnected if an unresponsive server does not answer the close', async () => {
    const { queue, left } = queueThat(() => new Promise(() => undefined));
    const ended = queue.onApplicationShutdown();

    await jest.advanceTimersByTimeAsync(1_999);
    expect(left()).toBe(0);
    await jest.advanceTimersByTimeAsync(1);

    await ended;
    expect(left()).toBe(1);
  });

  it('are not waited for if the abandoned connection never reports its end', async () => {
    const { queue, left } = queueThat(
      async () => undefined,
      () => new Promise(() => undefined),
    );
    const ended = queue.disconnect();

    await jest.advanceTimersByTimeAsync(500);

    await ended;
    expect(left()).toBe(1);
  });

  it('are closed and not disconnected if the server responds, and errors of closing are ignored', async () => {
    for (const closes of [async () => undefined, async () => Promise.reject(new Error('Connection is closed.'))]) {
      const { queue, left } = queueThat(closes);
      await queue.onApplicationShutdown();
      expect(left()).toBe(0);
    }
    expect(jest.getTimerCount()).toBe(0);
  });
});
