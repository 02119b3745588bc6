import { mapAtOnce } from './map-at-once.js';

describe('mapAtOnce', () => {
  it('returns the results in the order of the items, whatever the order in which they are ready', async () => {
    const started: [string, number][] = [];
    const finish: (() => void)[] = [];
    const results = mapAtOnce(['a', 'b', 'c'], 3, async (item, place) => {
      started.push([item, place]);
      await new Promise<void>((resolve) => (finish[place] = resolve));
      return item.toUpperCase();
    });

    for (const place of [2, 0, 1]) finish[place]?.();

    expect(await results).toEqual(['A', 'B', 'C']);
    expect(started).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 2],
    ]);
  });

  it.each([
    [1, 1],
    [4, 4],
    [50, 20],
  ])('with at most %d at once, %d of 20 run at the same time', async (atOnceMax, expected) => {
    let running = 0;
    let runningMax = 0;

    const results = await mapAtOnce(
      Array.from({ length: 20 }, (_, i) => i),
      atOnceMax,
      async (item) => {
        runningMax = Math.max(runningMax, (running += 1));
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return item * 2;
      },
    );

    expect(runningMax).toBe(expected);
    expect(results).toEqual(Array.from({ length: 20 }, (_, i) => i * 2));
  });

  it('rejects with the first error', async () => {
    const failing = mapAtOnce([1, 2, 3], 2, async (item) => {
      if (item > 1) throw new Error(`failed ${item}`);
      return item;
    });

    await expect(failing).rejects.toThrow('failed 2');
  });

  it('returns an empty list for no items', async () => {
    expect(await mapAtOnce([], 8, async () => 1)).toEqual([]);
  });
});
