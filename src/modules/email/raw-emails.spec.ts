import { jest } from '@jest/globals';
import type { BlobStore } from '#blobs/contract.js';
import type { Config } from '#kernel/config/config.js';
import type { Database } from '#kernel/database/database.js';
import { RawEmails } from './raw-emails.js';

const STORED = Buffer.from('from storage');
const RAW = Buffer.from('from memory');
const MINUTE_MS = 60_000;
const MIB = 1024 * 1024;

const keyOf = (id: string, environmentId = 1) => ({ environmentId, id, expiresOnDay: 0 });

function rawEmails({ isWorker = true } = {}) {
  const blobs = { whole: async () => STORED, remove: async () => undefined } as unknown as BlobStore;
  const database = { unitOfWork: (work: () => unknown) => work() } as unknown as Database;
  return { raw: new RawEmails(blobs, database, { isWorker } as Config) };
}

describe('RawEmails', () => {
  afterEach(() => jest.useRealTimers());

  it('returns a kept message once, and reads it from storage afterwards', async () => {
    const { raw } = rawEmails();
    raw.keepForFirstRead(keyOf('a'), RAW);

    expect(await raw.whole(keyOf('a'))).toBe(RAW);
    expect(await raw.whole(keyOf('a'))).toBe(STORED);
  });

  it('never returns a kept message for another environment', async () => {
    const { raw } = rawEmails();
    raw.keepForFirstRead(keyOf('a', 1), RAW);

    expect(await raw.whole(keyOf('a', 2))).toBe(STORED);
    expect(await raw.whole(keyOf('a', 1))).toBe(RAW);
  });

  it('keeps nothing in a process that sends no emails', async () => {
    const { raw } = rawEmails({ isWorker: false });
    raw.keepForFirstRead(keyOf('a'), RAW);

    expect(await raw.whole(keyOf('a'))).toBe(STORED);
  });

  it('forgets a removed message', async () => {
    const { raw } = rawEmails();
    raw.keepForFirstRead(keyOf('a'), RAW);
    await raw.remove(1, 'a');

    expect(await raw.whole(keyOf('a'))).toBe(STORED);
  });

  it('forgets a message whose commit failed', async () => {
    const { raw } = rawEmails();
    raw.keepForFirstRead(keyOf('a'), RAW);
    raw.forget(1, 'a');

    expect(await raw.whole(keyOf('a'))).toBe(STORED);
  });

  it('counts a message that is kept again once, and keeps its latest bytes', async () => {
    const { raw } = rawEmails();
    for (let i = 0; i < 3; i += 1) raw.keepForFirstRead(keyOf('a'), Buffer.alloc(8 * MIB));
    raw.keepForFirstRead(keyOf('b'), Buffer.alloc(8 * MIB));
    raw.keepForFirstRead(keyOf('a'), RAW);

    expect(await raw.whole(keyOf('b'))).toHaveLength(8 * MIB);
    expect(await raw.whole(keyOf('a'))).toBe(RAW);
  });

  it('keeps at most 16 MiB, and has room again after messages are read or a minute has passed', async () => {
    jest.useFakeTimers();
    const { raw } = rawEmails();
    raw.keepForFirstRead(keyOf('a'), Buffer.alloc(8 * MIB));
    raw.keepForFirstRead(keyOf('b'), Buffer.alloc(8 * MIB));
    raw.keepForFirstRead(keyOf('c'), RAW);
    expect(await raw.whole(keyOf('c'))).toBe(STORED);

    await raw.whole(keyOf('a'));
    raw.keepForFirstRead(keyOf('c'), RAW);
    expect(await raw.whole(keyOf('c'))).toBe(RAW);

    jest.advanceTimersByTime(MINUTE_MS);
    raw.keepForFirstRead(keyOf('d'), Buffer.alloc(16 * MIB));
    expect(await raw.whole(keyOf('b'))).toBe(STORED);
    expect(await raw.whole(keyOf('d'))).toHaveLength(16 * MIB);
  });
});
