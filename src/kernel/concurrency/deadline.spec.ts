import { jest } from '@jest/globals';
import { DeadlinePassed, withDeadline } from './deadline.js';

describe('withDeadline', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('returns a result in time, and leaves no timer', async () => {
    expect(await withDeadline(1_000, async () => 7)).toBe(7);
    expect(await withDeadline(1_000, () => 8)).toBe(8);
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each<[string, () => Promise<never>]>([
    [
      'throws',
      () => {
        throw new Error('a bug');
      },
    ],
    ['rejects', () => Promise.reject(new Error('a bug'))],
  ])('rejects with the error if work %s, and leaves no timer', async (_what, work) => {
    await expect(withDeadline(1_000, work)).rejects.toThrow('a bug');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('rejects at the deadline, and discards a later result', async () => {
    let fail = (_error: Error): void => undefined;
    const waited = withDeadline(1_000, () => new Promise((_resolve, reject) => (fail = reject)));
    const ended = waited.catch((error: unknown) => error);

    await jest.advanceTimersByTimeAsync(1_000);
    fail(new Error('late'));

    expect(await ended).toBeInstanceOf(DeadlinePassed);
  });
});
