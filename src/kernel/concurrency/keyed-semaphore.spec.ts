import { jest } from '@jest/globals';
import { KeyedSemaphore } from './keyed-semaphore.js';

function held(): { work: () => Promise<string>; end: () => void; begun: () => boolean } {
  let end = (): void => undefined;
  let begun = false;
  const ended = new Promise<string>((resolve) => (end = () => resolve('done')));
  return { work: () => ((begun = true), ended), end: () => end(), begun: () => begun };
}

describe('KeyedSemaphore', () => {
  it('assigns a free slot to the work that waits longest, and counts by key', async () => {
    const keyedSemaphore = new KeyedSemaphore(1);
    const [first, second, third] = [held(), held(), held()];
    const ends = [first, second, third].map(({ work }) => keyedSemaphore.run('a', 1_000, work));
    expect(await keyedSemaphore.run('b', 1_000, () => Promise.resolve('other'))).toBe('other');
    expect([second.begun(), third.begun()]).toEqual([false, false]);

    first.end();
    await ends[0];

    expect([second.begun(), third.begun()]).toEqual([true, false]);
    second.end();
    third.end();
    expect(await Promise.all(ends)).toEqual(['done', 'done', 'done']);
  });

  it('returns null only for work that gets no slot in its time', async () => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
    try {
      const keyedSemaphore = new KeyedSemaphore(1);
      const first = held();
      const one = keyedSemaphore.run('a', 1_000, first.work);
      const late = keyedSemaphore.run('a', 1_000, () => Promise.resolve('never'));

      await jest.advanceTimersByTimeAsync(1_000);

      expect(await late).toBeNull();
      first.end();
      expect(await one).toBe('done');
      expect(await keyedSemaphore.run('a', 1_000, () => Promise.resolve('again'))).toBe('again');
    } finally {
      jest.useRealTimers();
    }
  });

  it('releases a slot if the work fails', async () => {
    const keyedSemaphore = new KeyedSemaphore(1);
    await expect(keyedSemaphore.run('a', 1_000, () => Promise.reject(new Error('no')))).rejects.toThrow('no');

    expect(await keyedSemaphore.run('a', 1_000, () => Promise.resolve('yes'))).toBe('yes');
  });
});
