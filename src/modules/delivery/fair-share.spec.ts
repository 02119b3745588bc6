import { FairShare } from './fair-share.js';

/** Environments 1 and 2 belong to one organization, 3 and 4 to another, and so on. */
async function arrange(...known: number[]) {
  const shares = new FairShare<string>(async (environmentId) => `organization ${Math.ceil(environmentId / 2)}`);
  for (const environmentId of known) {
    shares.hold(environmentId, 1);
    shares.hold(environmentId, -1);
  }
  await Promise.resolve();
  return shares;
}

const turns = (shares: FairShare<string>, mayRetry = true): string[] => {
  const order: string[] = [];
  for (
    let waiter = shares.next({ isFull: false, mayRetry });
    waiter !== null;
    waiter = shares.next({ isFull: false, mayRetry })
  )
    order.push(waiter);
  return order;
};

describe('FairShare.next', () => {
  it('returns the longest-waiting target if there is only one environment', async () => {
    const shares = await arrange(1);
    for (const waiter of ['a', 'b', 'c']) shares.wait(1, waiter, 'first');

    expect(turns(shares)).toEqual(['a', 'b', 'c']);
  });

  it('prefers the organization with the fewest attempts in flight, then its environment with the fewest', async () => {
    const shares = await arrange(1, 2, 3);
    shares.run(1, 900);
    shares.run(2, 100);
    shares.run(3, 500);
    for (const [environmentId, waiter] of [
      [1, 'busy'],
      [2, 'its other one'],
      [3, 'neighbour'],
    ] as const)
      shares.wait(environmentId, waiter, 'first');

    expect(turns(shares)).toEqual(['neighbour', 'its other one', 'busy']);
  });

  it('alternates between targets with first attempts and targets with only retries, and skips the latter while retries use their full share', async () => {
    const shares = await arrange(1);
    const wait = (): void => {
      for (const waiter of ['a', 'b']) shares.wait(1, waiter, 'first');
      for (const waiter of ['x', 'y']) shares.wait(1, waiter, 'retry');
    };
    wait();
    expect(turns(shares)).toEqual(['a', 'x', 'b', 'y']);
    wait();
    expect(turns(shares, false)).toEqual(['a', 'b']);
    shares.wait(1, 'x', 'first');
    expect(turns(shares, false)).toEqual(['x']);

    expect(turns(shares)).toEqual(['y']);
  });

  it('skips a waiter that was removed', async () => {
    const shares = await arrange(1);
    shares.wait(1, 'a', 'first');
    expect(shares.isAnyWaiting()).toBe(true);

    shares.removeWaiter(1, 'a');

    expect(shares.isAnyWaiting()).toBe(false);
    expect(turns(shares)).toEqual([]);
  });
});

describe('FairShare.isAboveShare', () => {
  it('returns true for a single tenant, to leave a share for one that may come', async () => {
    const shares = await arrange(1);
    shares.hold(1, 8_000);

    expect(shares.aboveShare()).toEqual([1]);
    expect(shares.isAboveShare(3)).toBe(false);
  });

  it('returns false for a small organization beside a large one, and for the small environment of a large organization', async () => {
    const shares = await arrange(1, 2, 3);
    shares.hold(1, 7_000);
    shares.hold(2, 10);
    shares.hold(3, 10);

    expect(shares.aboveShare()).toEqual([1]);
  });

  it('sums up by organization as soon as it is known, including what was held before', async () => {
    const shares = await arrange(3);
    shares.hold(1, 50);
    shares.hold(2, 50);
    shares.hold(3, 60);
    expect(shares.isAboveShare(3)).toBe(true);

    await Promise.resolve();

    expect(shares.aboveShare()).toEqual([1, 2, 3]);
    shares.hold(3, -20);
    expect(shares.aboveShare()).toEqual([1, 2]);
  });

  it('removes an environment that holds nothing any more', async () => {
    const shares = await arrange(1);
    shares.hold(1, 5);
    shares.hold(1, -5);

    expect(shares.aboveShare()).toEqual([]);
  });
});
