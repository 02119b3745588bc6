import { jest } from '@jest/globals';
import fc from 'fast-check';
import { AdaptiveLinger } from '../concurrency/adaptive-linger.js';
import { GroupCommit, type GroupCommitOptions } from './group-commit.js';

/** A group that was handed to `write`, and the two ways in which its write can end. */
interface Write {
  items: number[];
  succeed: (results?: (string | Error)[]) => Promise<void>;
  fail: (error: Error) => Promise<void>;
}

/** One turn of the event loop, after which everything that could move on has moved on. */
async function settle(): Promise<void> {
  for (let i = 0; i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A group commit whose writes end when the test says so; items weigh their own value. */
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

/** What became of a promise so far. */
function watch(promise: Promise<string>): { outcome: string } {
  const seen = { outcome: 'waiting' };
  promise.then(
    (result) => (seen.outcome = result),
    (error: Error) => (seen.outcome = `refused: ${error.message}`),
  );
  return seen;
}

describe('GroupCommit', () => {
  it('writes at once when it is idle, and what comes while it writes becomes the next group', async () => {
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

  it('takes what comes in one turn of the event loop together', async () => {
    const { commit, write } = arrange();

    for (const item of [1, 2, 3]) void commit.add(item);
    await settle();

    expect(write(0).items).toEqual([1, 2, 3]);
    await write(0).succeed();
  });

  it('gives every item its own result, and an Error among them to its item alone', async () => {
    const { commit, write } = arrange();
    const seen = [1, 2, 3].map((item) => watch(commit.add(item)));
    await settle();

    await write(0).succeed(['one', new Error('taken'), 'three']);

    expect(seen.map(({ outcome }) => outcome)).toEqual(['one', 'refused: taken', 'three']);
  });

  it('tells all of a group when its write fails, and goes on with the next one', async () => {
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
    ['no group is larger than its number of items', { itemsMax: 2 }, [1, 1, 1, 1, 1], [[1, 1], [1, 1], [1]]],
    ['no group is heavier than its weight', { weightMax: 10 }, [4, 6, 1, 9, 2], [[4, 6], [1, 9], [2]]],
    ['an item that is too heavy for any group travels alone', { weightMax: 10 }, [1, 50, 1, 1], [[1], [50], [1, 1]]],
    ['weightless items are bounded by their number', { itemsMax: 3, weightMax: 10 }, [0, 0, 0, 0], [[0, 0, 0], [0]]],
  ])('%s', async (_what, options, items, groups) => {
    const { commit, writes, write } = arrange(options);

    for (const item of items) void commit.add(item);
    await settle();
    for (let i = 0; i < groups.length; i += 1) await write(i).succeed();

    expect(writes.map((each) => each.items)).toEqual(groups);
  });

  it('writes each by itself, in their order, when an error is about one of them; that one alone is told, and what waited meanwhile is written after them', async () => {
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

  it('an error of storage is that of all, and in the middle of them that of the one that met it', async () => {
    const { commit, write, writes } = arrange({ isOfOne: (error) => (error as Error).message === 'refused' });
    const group = [commit.add(1), commit.add(2)].map((item) => item.catch((error: Error) => error.message));
    await settle();

    await write(0).fail(new Error('refused'));
    await write(1).fail(new Error('away'));
    await write(2).succeed();

    expect(await Promise.all(group)).toEqual(['away', 'stored 2']);
    expect(writes).toHaveLength(3);
  });

  it('is drained once nothing waits and nothing is being written', async () => {
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

  it('is drained of a failed write too', async () => {
    const { commit, write } = arrange();
    const refused = watch(commit.add(1));
    const drained = commit.drained();
    await settle();

    await write(0).fail(new Error('no'));

    await drained;
    expect(refused.outcome).toBe('refused: no');
  });

  it('writes every item exactly once, in the order of arrival, and answers each with its own result', async () => {
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

  it('waits for company for as long as it may, and no longer', async () => {
    const { commit, writes, write } = arrange({ lingerMs: 10, gapMs: 0 });

    void commit.add(1);
    await jest.advanceTimersByTimeAsync(9);
    void commit.add(2);
    expect(writes).toHaveLength(0);
    await jest.advanceTimersByTimeAsync(1);

    expect(write(0).items).toEqual([1, 2]);
    await write(0).succeed();
  });

  it('does not wait once a whole group has come together while it was writing', async () => {
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

  it('does not wait any longer once a whole group has come together while it lingers', async () => {
    const { commit, write } = arrange({ lingerMs: 10, itemsMax: 2 });

    void commit.add(1);
    void commit.add(2);
    await settle();

    expect(write(0).items).toEqual([1, 2]);
    await write(0).succeed();
  });

  it('with a gap writes at once when idle, and the next group only so long after the start of the last one', async () => {
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

  it('what waited for a second behind a group that could not be written is refused with it; what came later is written next', async () => {
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

  it('is drained after what lingers is written', async () => {
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

describe('GroupCommit that waits for company', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  const arrangeWithCompany = () =>
    arrange({ company: new AdaptiveLinger({ waitMsMax: 6, lingerAndWriteMs: 8, batchSize: 3 }) });

  /** Brings one every 2 ms, written at once, until a wait would pay. */
  async function busy(seen: ReturnType<typeof arrangeWithCompany>): Promise<number> {
    for (let n = 0; n < 7; n += 1) {
      void seen.commit.add(1);
      await settle();
      await seen.write(n).succeed();
      await jest.advanceTimersByTimeAsync(2);
    }
    return 7;
  }

  it('writes at once what comes alone, and together what comes within the wait of the first', async () => {
    const seen = arrangeWithCompany();
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

  it('counts the wait from the coming of the first, also behind a write', async () => {
    const seen = arrangeWithCompany();
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

  it('waits no longer when the next one is not to be expected in time', async () => {
    const seen = arrangeWithCompany();
    const next = await busy(seen);

    void seen.commit.add(2);
    await jest.advanceTimersByTimeAsync(5);
    expect(seen.writes).toHaveLength(next);
    void seen.commit.add(3);
    await settle();

    expect(seen.write(next).items).toEqual([2, 3]);
    await seen.write(next).succeed();
  });

  it('waits no longer once enough have come', async () => {
    const seen = arrangeWithCompany();
    const next = await busy(seen);

    for (const item of [2, 3, 4]) void seen.commit.add(item);
    await settle();

    expect(seen.write(next).items).toEqual([2, 3, 4]);
    await seen.write(next).succeed();
  });
});

describe('GroupCommit whose items go along with something else', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  it('hands over what waits, which is not written, and answers each as it is told', async () => {
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

  it('writes what has missed it as ever, beside what has gathered since', async () => {
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

  it('writes nothing when all of a group went along in the turn in which its write would have begun', async () => {
    const { commit, writes } = arrange();
    void commit.add(1);

    commit.carry()?.arrived(['a']);
    await settle();
    void commit.add(2);
    await settle();

    expect(writes.map(({ items }) => items)).toEqual([[2]]);
    await writes[0]?.succeed();
  });

  it('is drained only when what went along has arrived', async () => {
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
