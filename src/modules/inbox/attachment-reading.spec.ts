import { jest } from '@jest/globals';
import { ApiError } from '#kernel/errors.js';
import { AttachmentReading, type FoundAttachment } from './attachment-reading.js';
import type { MailThreads } from './mail-threads.js';
import type { MessageBytes } from './message-bytes.js';

const ID = '019aa4c0-0000-7000-8000-000000000000';
const MESSAGE = { id: ID, sizeBytes: 100 };
const FILE = { note: { filename: 'a' }, content: Buffer.from('a') } as unknown as FoundAttachment;

describe('reading attachments', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] }));
  afterEach(() => void jest.useRealTimers());

  /** How many messages are in memory, and how to let their threads end. */
  function held(): { reading: AttachmentReading; inMemory: () => number; end: () => void } {
    let inMemory = 0;
    const ends: (() => void)[] = [];
    const bytes = { whole: async () => ((inMemory += 1), Buffer.from('a')) } as unknown as MessageBytes;
    const attachment = () => new Promise<FoundAttachment>((resolve) => ends.push(() => ((inMemory -= 1), resolve(FILE))));
    const reading = new AttachmentReading(bytes, { attachment } as unknown as MailThreads);
    return { reading, inMemory: () => inMemory, end: () => ends.splice(0).forEach((each) => each()) };
  }

  it('503 with Retry-After for what finds no place in its time; and no message is read for it', async () => {
    const { reading, inMemory, end } = held();
    const served = [1, 1, 2, 2].map((environmentId) => reading.find(environmentId, MESSAGE, 0));
    const refused = [1, 2, 3].map((environmentId) => reading.find(environmentId, MESSAGE, 0).catch((error: unknown) => error));

    await jest.advanceTimersByTimeAsync(5_000);

    expect(inMemory()).toBe(4);
    for (const error of await Promise.all(refused)) expect(error).toMatchObject({ type: 'unavailable', retryAfterSeconds: 1 });
    end();
    expect(await Promise.all(served)).toEqual([FILE, FILE, FILE, FILE]);
  });

  it('keeps room for others however much one environment asks for', async () => {
    const { reading, inMemory, end } = held();
    const flood = Array.from({ length: 20 }, () => reading.find(1, MESSAGE, 0).catch((error: unknown) => error));
    const other = reading.find(2, MESSAGE, 0);
    await jest.advanceTimersByTimeAsync(1);

    expect(inMemory()).toBe(3);
    end();
    expect(await other).toBe(FILE);
    await jest.advanceTimersByTimeAsync(5_000);
    end();
    expect((await Promise.all(flood)).some((answer) => answer instanceof ApiError)).toBe(true);
  });
});
