import { jest } from '@jest/globals';
import { ApiError } from '#kernel/errors.js';
import { type FoundAttachment, ThreadedMailReading } from './mail-reading-threads.js';
import type { MailThreads } from './mail-threads.js';

const FILE = { note: { filename: 'a' }, content: Buffer.from('a') } as unknown as FoundAttachment;

describe('ThreadedMailReading', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] }));
  afterEach(() => void jest.useRealTimers());

  function held(): {
    read: (environmentId: number) => Promise<FoundAttachment | null>;
    inMemory: () => number;
    end: () => void;
  } {
    let inMemory = 0;
    const ends: (() => void)[] = [];
    const bytes = async (): Promise<Buffer> => ((inMemory += 1), Buffer.from('a'));
    const attachment = () =>
      new Promise<FoundAttachment>((resolve) => ends.push(() => ((inMemory -= 1), resolve(FILE))));
    const reading = new ThreadedMailReading({ attachment } as unknown as MailThreads);
    return {
      read: (environmentId) => reading.attachment(environmentId, bytes, 0),
      inMemory: () => inMemory,
      end: () => ends.splice(0).forEach((each) => each()),
    };
  }

  it('503 with Retry-After if no slot is free in time; the message is not loaded then', async () => {
    const { read, inMemory, end } = held();
    const served = [1, 1, 2, 2].map((environmentId) => read(environmentId));
    const refused = [1, 2, 3].map((environmentId) => read(environmentId).catch((error: unknown) => error));

    await jest.advanceTimersByTimeAsync(5_000);

    expect(inMemory()).toBe(4);
    for (const error of await Promise.all(refused))
      expect(error).toMatchObject({ type: 'unavailable', retryAfterSeconds: 1 });
    end();
    expect(await Promise.all(served)).toEqual([FILE, FILE, FILE, FILE]);
  });

  it('keeps capacity for others, however much one environment requests', async () => {
    const { read, inMemory, end } = held();
    const flood = Array.from({ length: 20 }, () => read(1).catch((error: unknown) => error));
    const other = read(2);
    await jest.advanceTimersByTimeAsync(1);

    expect(inMemory()).toBe(3);
    end();
    expect(await other).toBe(FILE);
    await jest.advanceTimersByTimeAsync(5_000);
    end();
    expect((await Promise.all(flood)).some((answer) => answer instanceof ApiError)).toBe(true);
  });
});
