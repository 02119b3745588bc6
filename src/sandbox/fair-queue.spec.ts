import fc from 'fast-check';
import { FairQueue } from './fair-queue.js';

const all = (): boolean => true;

function drained(queue: FairQueue<string>, costMs: (item: string) => number): string[] {
  const taken: string[] = [];
  for (let turn = queue.take(all); turn; turn = queue.take(all)) {
    taken.push(turn.item);
    queue.settle(turn, costMs(turn.item));
  }
  return taken;
}

const queue = (...items: string[]): FairQueue<string> => {
  const queue = new FairQueue<string>();
  // For example, the item 'a1x' belongs to organization a and to its endpoint a1.
  for (const item of items) queue.push(item.charAt(0), item.slice(0, 2), item);
  return queue;
};

describe('FairQueue', () => {
  it('organizations take turns at equal cost, each in order of arrival', () => {
    expect(drained(queue('a1x', 'a1y', 'a1z', 'b1x', 'c1x', 'b1y'), () => 1)).toEqual([
      'a1x',
      'b1x',
      'c1x',
      'a1y',
      'b1y',
      'a1z',
    ]);
  });

  it('charges CPU time: an organization with ten times the cost gets one turn in ten', () => {
    const order = drained(queue(...Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? 'a1' : 'b1'))), (item) =>
      item.startsWith('a') ? 10 : 1,
    );

    const firstTwelve = order.slice(0, 12);
    expect(firstTwelve.filter((item) => item.startsWith('a')).length).toBeLessThanOrEqual(3);
    expect(order).toHaveLength(40);
  });

  it('gives an organization with more endpoints no more turns, and shares its turns between its endpoints', () => {
    const order = drained(queue('a1', 'a2', 'a3', 'a1', 'a2', 'a3', 'b1', 'b1', 'b1', 'b1', 'b1', 'b1'), () => 1);

    expect(order.map((item) => item.charAt(0)).join('')).toBe('abababababab');
    expect(order.filter((item) => item.startsWith('a'))).toEqual(['a1', 'a2', 'a3', 'a1', 'a2', 'a3']);
  });

  it('charges nothing for idle capacity, and gives no credit for idling', () => {
    const turns = queue('a1', 'a1', 'a1', 'a1');
    for (let i = 0; i < 3; i += 1) {
      const turn = turns.take(all);
      if (turn) turns.settle(turn, 1_000);
    }
    turns.push('a', 'a1', 'a1');
    for (let i = 0; i < 4; i += 1) turns.push('b', 'b1', 'b1');

    const order = drained(turns, () => 1_000);

    expect(order.slice(0, 3).filter((item) => item === 'a1')).toHaveLength(1);
    expect(order.slice(0, 5).filter((item) => item === 'a1')).toHaveLength(2);
  });

  it('charges in advance, so that several threads are shared before the first call has ended', () => {
    const turns = queue('a1', 'a1', 'a1', 'b1', 'b1');

    expect([1, 2, 3, 4].map(() => turns.take(all)?.item)).toEqual(['a1', 'b1', 'a1', 'b1']);
  });

  it('skips items that are not admitted, and they keep their turn', () => {
    const turns = queue('a1', 'b1', 'b1');

    expect(turns.take((organization) => organization !== 'a')?.item).toBe('b1');
    expect([
      turns.has((organization) => organization === 'c'),
      turns.take((organization) => organization === 'c'),
    ]).toEqual([false, undefined]);
    expect(turns.take(all)?.item).toBe('a1');
    expect(turns.size).toBe(1);
  });

  it('remove drops only the given item', () => {
    const turns = queue('a1x', 'a1y', 'b1x');

    turns.remove('a', 'a1', 'a1x');
    turns.remove('a', 'a1', 'a1x');
    turns.remove('b', 'b1', 'b1x');
    turns.remove('z', 'z1', 'z');

    expect([turns.size, turns.sizeOf('a'), turns.sizeOf('b')]).toEqual([1, 1, 0]);
    expect(drained(turns, () => 1)).toEqual(['a1y']);
  });

  it('returns every item once, and no organization falls behind by more than one turn of each other', () => {
    const job = fc.record({ organization: fc.constantFrom('a', 'b', 'c'), costMs: fc.constantFrom(1, 5, 100) });
    fc.assert(
      fc.property(fc.array(job, { maxLength: 60 }), (jobs) => {
        const queue = new FairQueue<number>();
        jobs.forEach(({ organization }, i) => queue.push(organization, 'e', i));
        const used = new Map<string, number>();
        const left = new Map<string, number>();
        for (const { organization } of jobs) left.set(organization, (left.get(organization) ?? 0) + 1);

        const taken: number[] = [];
        for (let turn = queue.take(all); turn; turn = queue.take(all)) {
          const { organization, costMs } = jobs[turn.item] ?? { organization: '', costMs: 0 };
          taken.push(turn.item);
          queue.settle(turn, costMs);
          used.set(organization, (used.get(organization) ?? 0) + costMs);
          left.set(organization, (left.get(organization) ?? 0) - 1);
          const waiting = [...left].filter(([, count]) => count > 0).map(([name]) => used.get(name) ?? 0);
          // For any two organizations with waiting items, the CPU times charged to them differ by at most the cost of
          // one call.
          if (waiting.length > 1) expect(Math.max(...waiting) - Math.min(...waiting)).toBeLessThanOrEqual(100);
        }
        expect([...taken].sort((a, b) => a - b)).toEqual(jobs.map((_, i) => i));
      }),
    );
  });
});
