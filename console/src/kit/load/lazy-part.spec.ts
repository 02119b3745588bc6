import { jest } from '@jest/globals';
import { lazyPart, PartNotLoaded, watchLoads } from './lazy-part';

const Shown = (): null => null;

describe('lazyPart', () => {
  it('retries after failures, and calls `failed` after each of them', async () => {
    let tries = 0;
    const calls: string[] = [];
    watchLoads({
      loaded: () => void calls.push('loaded'),
      failed: (isLastTry) => Promise.resolve(void calls.push(`failed ${isLastTry}`)),
    });
    const part = lazyPart(
      () => ((tries += 1) < 3 ? Promise.reject(new TypeError('Failed to fetch')) : Promise.resolve(Shown)),
      [0, 0],
    );

    await part.preload();
    await part.preload();

    expect(tries).toBe(3);
    expect(calls).toEqual(['failed false', 'failed false', 'loaded']);
  });

  it('fails after the last attempt, and the next call starts over', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(1_000);
    let isAway = true;
    watchLoads({ loaded: () => undefined, failed: (isLastTry) => Promise.resolve(void (lasts += Number(isLastTry))) });
    let lasts = 0;
    const part = lazyPart(
      () => (isAway ? Promise.reject(new TypeError('Failed to fetch')) : Promise.resolve(Shown)),
      [0],
    );

    await expect(part.preload()).rejects.toBeInstanceOf(PartNotLoaded);
    isAway = false;
    await expect(part.preload()).rejects.toBeInstanceOf(PartNotLoaded);
    now.mockReturnValue(2_000);
    await part.preload();

    now.mockRestore();
    expect(lasts).toBe(1);
  });
});
