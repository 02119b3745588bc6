import { jest } from '@jest/globals';
import fc from 'fast-check';
import { AdaptiveLinger } from '../concurrency/adaptive-linger.js';
import { GroupCommit, type GroupCommitOptions } from './group-commit.js';

interface Write {
  items: number[];
  succeed: (results?: (string | Error)[]) => Promise<void>;
  fail: (error: Error) => Promise<void>;
}

async function settle(): Promise<void> {
  for (let i = 0; i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A group commit whose writes end when the test says so. The weight of an item is its value. */
function arrange(options: Partial<GroupCommitOptions<number, string>> = {}) {
  const writes: Write[] = [];
  const commit = new GroupCommit<number, string>({
    write: (items) =>
      new Promise((resolve, reject) => {
        writes.push({
          items,
          succeed: (results = items.map((item) => `stored ${item}`)) => (resolve(results), settle()),
          fail: (error) => (reject(error), settle()),
        });
      }),
    itemsMax: 100,
    weigh: (item) => item,
    weightMax: 1_000,
    lingerMs: 0,
    gapMs: 0,
    ...options,
  });
  const write = (index: number): Write => {
    const found = writes[index];
    if (!found) throw new Error(`Only ${writes.length} writes have begun.`);
    return found;
  };
  return { commit, writes, write };
}

function watch(promise: Promise<string>): { outcome: string } {
  const seen = { outcome: 'waiting' };
  promise.then(
    (result) => (seen.outcome = result),
    (error: Error) => (seen.outcome = `refused: ${error.message}`),
  );
  return seen;
}

describe('GroupCommit', () => {
  it('writes immediately when it is idle, and items that arrive during a write form the next group', async () => {
    const { commit, writes, write } = arrange();

    const first = watch(commit.add(1));
    await settle();
    expect(write(0).items).toEqual([1]);
    const others = [2, 3, 4].map((item) => watch(commit.add(item)));
    await settle();
    expect(writes).toHaveLength(1);
    expect(commit.backlog).toBe(3);
    await write(0).succeed();

    expect(first.outcome).toBe('stored 1');
    expect(write(1).items).toEqual([2, 3, 4]);
    expect(others.map(({ outcome }) => outcome)).toEqual(['waiting', 'waiting', 'waiting']);
    await write(1).succeed();
    expect(others.map(({ outcome }) => outcome)).toEqual(['stored 2', 'stored 3', 'stored 4']);
    expect(commit.backlog).toBe(0);
  });

  it('groups items that arrive in one event loop iteration', async () => {
    const { commit, write } = arrange();

    for (const item of [1, 2, 3]) void commit.add(item);
    await settle();

    expect(write(0).items).toEqual([1, 2, 3]);
    await write(0).succeed();
  });

  it('returns a result for every item, and an Error only to its item', async () => {
    const { commit, write } = arrange();
    const seen = [1, 2, 3].map((item) => watch(commit.add(item)));
    await settle();

    await write(0).succeed(['one', new Error('taken'), 'three']);

    expect(seen.map(({ outcome }) => outcome)).toEqual(['one', 'refused: taken', 'three']);
  });

  it('rejects all items of a group if its write fails, and continues with the next group', async () => {
    const { commit, write } = arrange();
    const failing = [1, 2].map((item) => watch(commit.add(item)));
    await settle();
    const next = watch(commit.add(3));

    await write(0).fail(new Error('storage is away'));
    expect(failing.map(({ outcome }) => outcome)).toEqual(['refused: storage is away', 'refused: storage is away']);
    await write(1).succeed();

    expect(next.outcome).toBe('stored 3');
  });

  it.each([
    ['no group exceeds the maximum number of items', { itemsMax: 2 }, [1, 1, 1, 1, 1], [[1, 1], [1, 1], [1]]],
    ['no group exceeds the maximum weight', { weightMax: 10 }, [4, 6, 1, 9, 2], [[4, 6], [1, 9], [2]]],
    ['an item that is too heavy for any group is written alone', { weightMax: 10 }, [1, 50, 1, 1], [[1], [50], [1, 1]]],
    ['weightless items are limited by their number', { itemsMax: 3, weightMax: 10 }, [0, 0, 0, 0], [[0, 0, 0], [0]]],
  ])('%s', async (_what, options, items, groups) => {
    const { commit, writes, write } = arrange(options);

    for (const item of items) void commit.add(item);
    await settle();
    for (let i = 0; i < groups.length; i += 1) await write(i).succeed();

    expect(writes.map((each) => each.items)).toEqual(groups);
  });

  it('writes the items separately and in order if an error concerns one of them: only that item is rejected, and items that waited are written after them', async () => {
    const { commit, write, writes } = arrange({ isOfOne: (error) => (error as Error).message === 'refused' });
    const first = [commit.add(1), commit.add(2), commit.add(3)].map((item) =>
      item.catch((error: Error) => error.message),
    );
    await settle();
    const later = commit.add(4);

    await write(0).fail(new Error('refused'));
    await write(1).succeed();
    await write(2).fail(new Error('refused'));
    await write(3).succeed();
    await write(4).succeed();

    expect(writes.map(({ items }) => items)).toEqual([[1, 2, 3], [1], [2], [3], [4]]);
    expect(await Promise.all(first)).toEqual(['stored 1', 'refused', 'stored 3']);
    expect(await later).toBe('stored 4');
  });

  it('a storage error rejects all items; during separate writes it rejects only the item being written', async () => {
    const { commit, write, writes } = arrange({ isOfOne: (error) => (error as Error).message === 'refused' });
    const group = [commit.add(1), commit.add(2)].map((item) => item.catch((error: Error) => error.message));
    await settle();

    await write(0).fail(new Error('refused'));
    await write(1).fail(new Error('away'));
    await write(2).succeed();

    expect(await Promise.all(group)).toEqual(['away', 'stored 2']);
    expect(writes).toHaveLength(3);
  });

  it('is drained once no item waits and no write is running', async () => {
    const { commit, write } = arrange({ itemsMax: 1 });
    await commit.drained();
    void commit.add(1);
    void commit.add(2);
    let drained = 0;
    for (let i = 0; i < 2; i += 1) void commit.drained().then(() => (drained += 1));

    await settle();
    await write(0).succeed();
    expect(drained).toBe(0);
    await write(1).succeed();

    expect(drained).toBe(2);
    await commit.drained();
  });

  it('is also drained after a failed write', async () => {
    const { commit, write } = arrange();
    const refused = watch(commit.add(1));
    const drained = commit.drained();
    await settle();

    await write(0).fail(new Error('no'));

    await drained;
    expect(refused.outcome).toBe('refused: no');
  });

  it('writes every item exactly once, in the order of arrival, and returns its own result to each', async () => {
    const item = fc.record({ weight: fc.integer({ min: 0, max: 12 }), pause: fc.boolean(), fails: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(item, { maxLength: 60, size: 'max' }),
        fc.integer({ min: 1, max: 8 }),
        async (items, itemsMax) => {
          const groups: number[][] = [];
          let writing = 0;
          const commit = new GroupCommit<number, string>({
            write: async (group) => {
              writing += 1;
              expect(writing).toBe(1);
              groups.push(group);
              await new Promise((resolve) => setImmediate(resolve));
              writing -= 1;
              return group.map((n) => (items[n]?.fails ? new Error(`refused ${n}`) : `stored ${n}`));
            },
            itemsMax,
            weigh: (n) => items[n]?.weight ?? 0,
            weightMax: 10,
            lingerMs: 0,
            gapMs: 0,
          });
          const results: Promise<string>[] = [];
          for (const [n, { pause }] of items.entries()) {
            results.push(commit.add(n).catch((error: Error) => error.message));
            if (pause) await new Promise((resolve) => setImmediate(resolve));
          }
          await commit.drained();

          expect(groups.flat()).toEqual(items.map((_, n) => n));
          expect(await Promise.all(results)).toEqual(
            items.map(({ fails }, n) => `${fails ? 'refused' : 'stored'} ${n}`),
          );
          for (const group of groups) {
            expect(group.length).toBeLessThanOrEqual(itemsMax);
            const weight = group.reduce((sum, n) => sum + (items[n]?.weight ?? 0), 0);
            expect(group.length === 1 || weight <= 10).toBe(true);
          }
        },
      ),
    );
  });
});

describe('GroupCommit that lingers', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  it('lingers for the given time, and no longer', async () => {
    const { commit, writes, write } = arrange({ lingerMs: 10, gapMs: 0 });

    void commit.add(1);
    await jest.advanceTimersByTimeAsync(9);
    void commit.add(2);
    expect(writes).toHaveLength(0);
    await jest.advanceTimersByTimeAsync(1);

    expect(write(0).items).toEqual([1, 2]);
    await write(0).succeed();
  });

  it('does not linger if a whole group has formed during a write', async () => {
    const { commit, write } = arrange({ lingerMs: 10, gapMs: 0, itemsMax: 2 });
    void commit.add(1);
    await jest.advanceTimersByTimeAsync(10);
    void commit.add(2);
    void commit.add(3);
    void commit.add(4);

    await write(0).succeed();
    expect(write(1).items).toEqual([2, 3]);
    await write(1).succeed();
    expect(commit.backlog).toBe(1);
    await jest.advanceTimersByTimeAsync(10);

    expect(write(2).items).toEqual([4]);
    await write(2).succeed();
  });

  it('stops lingering once a whole group has formed', async () => {
    const { commit, write } = arrange({ lingerMs: 10, itemsMax: 2 });

    void commit.add(1);
    void commit.add(2);
    await settle();

    expect(write(0).items).toEqual([1, 2]);
    await write(0).succeed();
  });

  it('with a gap, writes immediately when idle, and the next group only after the gap since the start of the last one', async () => {
    const { commit, writes, write } = arrange({ gapMs: 10 });
    void commit.add(1);
    await settle();
    expect(writes).toHaveLength(1);
    await write(0).succeed();

    void commit.add(2);
    await jest.advanceTimersByTimeAsync(9);
    expect(writes).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);

    expect(write(1).items).toEqual([2]);
    await write(1).succeed();
  });

  it('items that waited for a second behind a failed group are rejected with it; later items are written next', async () => {
    const { commit, write } = arrange();
    const first = watch(commit.add(1));
    await jest.advanceTimersByTimeAsync(0);
    const behind = watch(commit.add(2));
    await jest.advanceTimersByTimeAsync(1_000);
    const later = watch(commit.add(3));

    await write(0).fail(new Error('away'));
    await jest.advanceTimersByTimeAsync(0);
    await write(1).succeed();

    expect([first.outcome, behind.outcome, later.outcome]).toEqual(['refused: away', 'refused: away', 'stored 3']);
    expect([commit.backlog, commit.backlogWeight]).toEqual([0, 0]);
  });

  it('is drained after lingering items are written', async () => {
    const { commit, write } = arrange({ lingerMs: 10, gapMs: 0 });
    void commit.add(1);
    let drained = false;
    void commit.drained().then(() => (drained = true));
    await jest.advanceTimersByTimeAsync(10);
    expect(drained).toBe(false);

    await write(0).succeed();

    expect(drained).toBe(true);
  });
});

describe('GroupCommit with an AdaptiveLinger', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  const arrangeWithAdaptiveLinger = () =>
    arrange({ adaptiveLinger: new AdaptiveLinger({ waitMsMax: 6, lingerAndWriteMs: 8, batchSize: 3 }) });

  /** Adds items every 2 ms, each written immediately, until a linger is worthwhile. Returns the number of items. */
  async function busy(seen: ReturnType<typeof arrangeWithAdaptiveLinger>): Promise<number> {
    for (let n = 0; n < 7; n += 1) {
      void seen.commit.add(1);
      await settle();
      await seen.write(n).succeed();
      await jest.advanceTimersByTimeAsync(2);
    }
    return 7;
  }

  it('writes a single item immediately, and items within the linger of the first together', async () => {
    const seen = arrangeWithAdaptiveLinger();
    const next = await busy(seen);

    void seen.commit.add(2);
    await jest.advanceTimersByTimeAsync(3);
    void seen.commit.add(3);
    await jest.advanceTimersByTimeAsync(2);
    expect(seen.writes).toHaveLength(next);
    await jest.advanceTimersByTimeAsync(1);

    expect(seen.write(next).items).toEqual([2, 3]);
    await seen.write(next).succeed();
    await jest.advanceTimersByTimeAsync(1_000);
    void seen.commit.add(4);
    await settle();
    expect(seen.write(next + 1).items).toEqual([4]);
    await seen.write(next + 1).succeed();
  });

  it('counts the linger from the arrival of the first item, even behind a write', async () => {
    const seen = arrangeWithAdaptiveLinger();
    const next = await busy(seen);
    void seen.commit.add(2);
    await jest.advanceTimersByTimeAsync(3);
    void seen.commit.add(2);
    await jest.advanceTimersByTimeAsync(3);
    void seen.commit.add(3);
    await jest.advanceTimersByTimeAsync(4);

    await seen.write(next).succeed();
    await jest.advanceTimersByTimeAsync(1);
    expect(seen.writes).toHaveLength(next + 1);
    await jest.advanceTimersByTimeAsync(1);

    expect(seen.write(next + 1).items).toEqual([3]);
    await seen.write(next + 1).succeed();
  });

  it('stops lingering if the next item is not expected in time', async () => {
    const seen = arrangeWithAdaptiveLinger();
    const next = await busy(seen);

    void seen.commit.add(2);
    await jest.advanceTimersByTimeAsync(5);
    expect(seen.writes).toHaveLength(next);
    void seen.commit.add(3);
    await settle();

    expect(seen.write(next).items).toEqual([2, 3]);
    await seen.write(next).succeed();
  });

  it('stops lingering once the batch size is reached', async () => {
    const seen = arrangeWithAdaptiveLinger();
    const next = await busy(seen);

    for (const item of [2, 3, 4]) void seen.commit.add(item);
    await settle();

    expect(seen.write(next).items).toEqual([2, 3, 4]);
    await seen.write(next).succeed();
  });
});

describe('GroupCommit whose items are written by another statement', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  it('passes on waiting items without writing them, and returns the given results', async () => {
    const { commit, writes } = arrange({ lingerMs: 20 });
    const outcomes = [1, 2, 3].map((item) => watch(commit.add(item)));

    const carried = commit.carry();
    expect(carried?.items).toEqual([1, 2, 3]);
    expect([commit.backlog, commit.carry()]).toEqual([0, null]);
    carried?.arrived(['a', new Error('no'), 'c']);
    carried?.missed();
    await jest.advanceTimersByTimeAsync(100);

    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['a', 'refused: no', 'c']);
    expect(writes).toHaveLength(0);
  });

  it('writes items that the other statement did not write, together with newer ones', async () => {
    const { commit, write } = arrange({ lingerMs: 20 });
    const first = watch(commit.add(1));
    const carried = commit.carry();
    const second = watch(commit.add(2));

    carried?.missed();
    carried?.arrived(['late']);
    await settle();
    expect(write(0).items).toEqual([1]);
    await write(0).succeed();
    await jest.advanceTimersByTimeAsync(20);
    expect(write(1).items).toEqual([2]);
    await write(1).succeed();

    expect([first.outcome, second.outcome]).toEqual(['stored 1', 'stored 2']);
  });

  it('writes nothing if all items were passed on in the event loop iteration in which the write would have begun', async () => {
    const { commit, writes } = arrange();
    void commit.add(1);

    commit.carry()?.arrived(['a']);
    await settle();
    void commit.add(2);
    await settle();

    expect(writes.map(({ items }) => items)).toEqual([[2]]);
    await writes[0]?.succeed();
  });

  it('is drained only when the items that were passed on are written', async () => {
    const { commit } = arrange({ lingerMs: 20 });
    void commit.add(1);
    const carried = commit.carry();
    let isDrained = false;
    void commit.drained().then(() => (isDrained = true));
    await settle();
    expect(isDrained).toBe(false);

    carried?.arrived(['a']);
    await settle();

    expect(isDrained).toBe(true);
  });
});
