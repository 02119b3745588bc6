import { jest } from '@jest/globals';
import type { Clock } from '#kernel/clock.js';
import type { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import type { Config } from '#kernel/config/config.js';
import type { Ids } from '#kernel/ids.js';
import { MailArrivalSignal } from '../intake/mail-arrival-signal.js';
import type { MailPace } from '../intake/mail-pace.js';
import type { AcceptMessage } from './accept-message.js';
import { MailPipeline } from './mail-pipeline.js';
import type { PipelineMetrics } from './pipeline.metrics.js';
import type { ReadMessage } from './read-message.js';
import type { WaitingMessage, WaitingMessagesStore } from './waiting-messages.store.js';

describe('MailPipeline', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] }));
  afterEach(() => void jest.useRealTimers());

  const nobodyLooks = { register: () => undefined, restMs: (ownMs: number) => ownMs } as unknown as DueWorkPoller;

  it('only polls while there is no mail, and claims after a signal or a poll that finds some', async () => {
    const asked: string[] = [];
    let waiting: WaitingMessage[] = [];
    const store = {
      claim: async () => (asked.push('claim'), { messages: waiting.splice(0), raced: false }),
      isAnyWaiting: async () => (asked.push('look'), waiting.length > 0),
    } as unknown as WaitingMessagesStore;
    const arrivals = new MailArrivalSignal();
    const accepting = { accept: async () => true } as unknown as AcceptMessage;
    const pipeline = new MailPipeline(
      store,
      {} as ReadMessage,
      accepting,
      { readable: (free: number) => free, read: () => undefined } as unknown as MailPace,
      { became: () => undefined } as unknown as PipelineMetrics,
      arrivals,
      { next: () => 'a' } as unknown as Ids,
      { isWorker: true } as Config,
      nobodyLooks,
      { nowMs: () => 0, monotonicMs: () => performance.now() } as Clock,
    );
    const after = async (ms: number): Promise<string[]> => (await jest.advanceTimersByTimeAsync(ms), asked.splice(0));
    pipeline.onApplicationBootstrap();

    expect(await after(1_400)).toEqual(['claim', 'look', 'look']);
    arrivals.notify();
    expect(await after(100)).toEqual(['claim']);
    waiting = [
      {
        environmentId: 1,
        sizeBytes: 1,
        decided: { reason: null, detail: { isParked: false } },
      } as unknown as WaitingMessage,
    ];
    expect(await after(550)).toEqual(['look', 'claim', 'claim']);
    await pipeline.onApplicationShutdown();
  });

  it('claims from the days in which it found mail, and twice a second from all', async () => {
    const asked: (readonly number[] | null)[] = [];
    const batches = [1, 2, 1].map(
      (expiresOnDay, n) =>
        [
          {
            id: `m${n}`,
            expiresOnDay,
            environmentId: 1,
            sizeBytes: 1,
            decided: { reason: null, detail: { isParked: false } },
          },
        ] as unknown as WaitingMessage[],
    );
    const store = {
      claim: async ({ days }: { days: readonly number[] | null }) => (
        asked.push(days),
        { messages: batches.shift() ?? [], raced: false }
      ),
      isAnyWaiting: async () => false,
    } as unknown as WaitingMessagesStore;
    const pipeline = new MailPipeline(
      store,
      {} as ReadMessage,
      { accept: async () => true } as unknown as AcceptMessage,
      { readable: (free: number) => free, read: () => undefined } as unknown as MailPace,
      { became: () => undefined } as unknown as PipelineMetrics,
      new MailArrivalSignal(),
      { next: () => 'a' } as unknown as Ids,
      { isWorker: true } as Config,
      nobodyLooks,
      { nowMs: () => 0, monotonicMs: () => performance.now() } as Clock,
    );
    pipeline.onApplicationBootstrap();

    await jest.advanceTimersByTimeAsync(400);
    expect(asked.splice(0)).toEqual([null, [1], [1, 2], [1, 2]]);
    await jest.advanceTimersByTimeAsync(1_000);
    // No message is waiting, so the pipeline claims only once.
    expect(asked).toEqual([null]);
    await pipeline.onApplicationShutdown();
  });

  it('holds a message for as long as it takes, and nothing else', async () => {
    const renewed: string[][] = [];
    const waiting = ['quick', 'slow'].map(
      (id) =>
        ({
          id,
          environmentId: 1,
          sizeBytes: 1,
          decided: { reason: null, detail: { isParked: false } },
        }) as unknown as WaitingMessage,
    );
    const store = {
      claim: async () => ({ messages: waiting.splice(0), raced: false }),
      isAnyWaiting: async () => false,
      renew: async (messages: readonly WaitingMessage[]) => void renewed.push(messages.map(({ id }) => id)),
    } as unknown as WaitingMessagesStore;
    const accepting = {
      accept: ({ id }: WaitingMessage) =>
        new Promise((resolve) => setTimeout(() => resolve(true), id === 'slow' ? 10_000 : 100)),
    } as unknown as AcceptMessage;
    const pipeline = new MailPipeline(
      store,
      {} as ReadMessage,
      accepting,
      { readable: (free: number) => free, read: () => undefined } as unknown as MailPace,
      { became: () => undefined } as unknown as PipelineMetrics,
      new MailArrivalSignal(),
      { next: () => 'a' } as unknown as Ids,
      { isWorker: true } as Config,
      nobodyLooks,
      { nowMs: () => 0, monotonicMs: () => performance.now() } as Clock,
    );
    pipeline.onApplicationBootstrap();

    await jest.advanceTimersByTimeAsync(30_000);

    expect(renewed).toEqual([['slow'], ['slow'], ['slow']]);
    await pipeline.onApplicationShutdown();
  });
});
