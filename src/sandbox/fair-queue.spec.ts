import fc from 'fast-check';
import { FairQueue } from './fair-queue.js';

const all = (): boolean => true;

function drained(queue: FairQueue<string>): string[] {
  const taken: string[] = [];
  for (let item = queue.take(all); item !== undefined; item = queue.take(all)) taken.push(item);
  return taken;
}

describe('FairQueue', () => {
  it('lets keys take turns, each in its order of arrival', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.push(item.charAt(0), item);

    expect(drained(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('passes over a key that is not admitted, without taking its turn away', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a1', 'b1', 'b2']) queue.push(item.charAt(0), item);

    expect(queue.take((key) => key !== 'a')).toBe('b1');
    expect(queue.take(all)).toBe('a1');
    expect(queue.take((key) => key === 'c')).toBeUndefined();
    expect(queue.size).toBe(1);
  });

  it('forgets what was removed, and only that', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a1', 'a2', 'b1']) queue.push(item.charAt(0), item);

    queue.remove('a', 'a1');
    queue.remove('a', 'a1');
    queue.remove('b', 'b1');
    queue.remove('z', 'z1');

    expect(queue.size).toBe(1);
    expect(drained(queue)).toEqual(['a2']);
  });

  it('gives out everything once, and no key waits longer than one round', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 60 }), (keys) => {
      const queue = new FairQueue<string>();
      keys.forEach((key, index) => queue.push(String(key), `${key}:${index}`));

      const taken = drained(queue);

      expect([...taken].sort()).toEqual(keys.map((key, index) => `${key}:${index}`).sort());
      const rounds = new Map<string, number>();
      const roundOf = taken.map((item) => {
        const key = item.split(':')[0] ?? '';
        rounds.set(key, (rounds.get(key) ?? 0) + 1);
        return rounds.get(key) ?? 0;
      });
      expect(roundOf).toEqual([...roundOf].sort((a, b) => a - b));
      expect(queue.size).toBe(0);
    }));
  });
});
