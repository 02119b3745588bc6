import { memoizeAsync } from './memoize-async.js';

describe('memoizeAsync', () => {
  it('calls the factory once for all callers', async () => {
    let made = 0;
    const open = memoizeAsync(async () => (made += 1));

    expect(await Promise.all([open(), open()])).toEqual([1, 1]);
    expect(await open()).toBe(1);
  });

  it('calls the factory again after a failure, which all waiting callers receive', async () => {
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
