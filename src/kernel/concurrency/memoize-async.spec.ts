import { memoizeAsync } from './memoize-async.js';

describe('madeOnce', () => {
  it('makes it once for all who ask', async () => {
    let made = 0;
    const open = memoizeAsync(async () => (made += 1));

    expect(await Promise.all([open(), open()])).toEqual([1, 1]);
    expect(await open()).toBe(1);
  });

  it('makes it again after it failed, which all who asked are told', async () => {
    let tries = 0;
    const open = memoizeAsync(async () => {
      tries += 1;
      if (tries === 1) throw new Error('no');
      return tries;
    });

    const first = [open(), open()];

    for (const each of first) await expect(each).rejects.toThrow('no');
    expect(await open()).toBe(2);
  });
});
