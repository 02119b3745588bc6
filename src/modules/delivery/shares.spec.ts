import { Shares } from './shares.js';

/** Environments 1 and 2 are of one organization, 3 and 4 of another, and so on. */
async function arrange(...known: number[]) {
  const shares = new Shares<string>(async (environmentId) => `organization ${Math.ceil(environmentId / 2)}`);
  for (const environmentId of known) {
    shares.hold(environmentId, 1);
    shares.hold(environmentId, -1);
  }
  await Promise.resolve();
  return shares;
}

const turns = (shares: Shares<string>): string[] => {
  const order: string[] = [];
  for (let waiter = shares.next(new Set(order)); waiter !== null; waiter = shares.next(new Set(order))) order.push(waiter);
  return order;
};

describe('whose turn it is', () => {
  it('is that of who waits longest, where one environment is all there is', async () => {
    const shares = await arrange(1);
    for (const waiter of ['a', 'b', 'c']) shares.wait(1, waiter);

    expect(turns(shares)).toEqual(['a', 'b', 'c']);
  });

  it('is that of the organization with the fewest attempts under way, then of its environment with the fewest', async () => {
    const shares = await arrange(1, 2, 3);
    shares.run(1, 900);
    shares.run(2, 100);
    shares.run(3, 500);
    for (const [environmentId, waiter] of [[1, 'busy'], [2, 'its other one'], [3, 'neighbour']] as const) shares.wait(environmentId, waiter);

    expect(turns(shares)).toEqual(['neighbour', 'its other one', 'busy']);
  });

  it('passes on what waits no more', async () => {
    const shares = await arrange(1);
    shares.wait(1, 'a');
    expect(shares.isAnyWaiting()).toBe(true);

    shares.waitNoMore(1, 'a');

    expect(shares.isAnyWaiting()).toBe(false);
    expect(shares.next(new Set())).toBeNull();
  });
});

describe('who has more than an equal part', () => {
  it('is one tenant alone, who makes room for one that is not here yet', async () => {
    const shares = await arrange(1);
    shares.hold(1, 8_000);

    expect(shares.aboveShare()).toEqual([1]);
    expect(shares.isAboveShare(3)).toBe(false);
  });

  it('is not the small one beside a large one, nor the small environment of a large organization', async () => {
    const shares = await arrange(1, 2, 3);
    shares.hold(1, 7_000);
    shares.hold(2, 10);
    shares.hold(3, 10);

    expect(shares.aboveShare()).toEqual([1]);
  });

  it('is forgotten with the last that it holds', async () => {
    const shares = await arrange(1);
    shares.hold(1, 5);
    shares.hold(1, -5);

    expect(shares.aboveShare()).toEqual([]);
  });
});
