import fc from 'fast-check';
import { Cache, STALENESS_MAX_MS } from './cache.js';

function arrange(entriesMax = 10) {
  const time = { nowMs: 1_000 };
  const table = new Map<string, number>([
    ['a', 1],
    ['b', 2],
  ]);
  const loads: string[] = [];
  const cache = new Cache<number>(
    async (key) => {
      loads.push(key);
      const value = table.get(key);
      if (value === undefined) throw new Error(`${key} is not there`);
      return value;
    },
    { entriesMax, nowMs: () => time.nowMs },
  );
  return { cache, time, table, loads };
}

describe('Cache', () => {
  it('loads once while the value is fresh, and again at five seconds', async () => {
    const { cache, time, table, loads } = arrange();

    await cache.get('a');
    table.set('a', 10);
    time.nowMs += STALENESS_MAX_MS - 1;
    expect(await cache.get('a')).toBe(1);
    time.nowMs += 1;
    expect(await cache.get('a')).toBe(10);

    expect(loads).toEqual(['a', 'a']);
    expect(STALENESS_MAX_MS).toBe(5_000);
  });

  it('counts the age from the start of the load, since the loaded value may be that old', async () => {
    const time = { nowMs: 0 };
    let finish: (value: number) => void = () => undefined;
    let loads = 0;
    const cache = new Cache<number>(
      () => {
        loads += 1;
        return new Promise((resolve) => (finish = resolve));
      },
      { entriesMax: 10, nowMs: () => time.nowMs },
    );
    const first = cache.get('a');
    time.nowMs = 4_000;
    finish(1);
    await first;
    time.nowMs = 5_000;
    void cache.get('a');

    expect(loads).toBe(2);
  });

  it('returns synchronously only values that are loaded and fresh', async () => {
    const { cache, time, loads } = arrange();
    expect(cache.known('a')).toBeUndefined();
    const coming = cache.get('a');
    expect(cache.known('a')).toBeUndefined();
    await coming;
    expect(cache.known('a')).toBe(1);

    time.nowMs += STALENESS_MAX_MS - 1;
    expect(cache.known('a')).toBe(1);
    time.nowMs += 1;
    expect(cache.known('a')).toBeUndefined();
    await cache.get('a');
    cache.drop('a');
    expect(cache.known('a')).toBeUndefined();
    await expect(cache.get('c')).rejects.toThrow('c is not there');
    expect(cache.known('c')).toBeUndefined();
    expect(loads).toEqual(['a', 'a', 'c']);
  });

  it('loads once for concurrent requests of the same key', async () => {
    const { cache, loads } = arrange();

    expect(await Promise.all([cache.get('a'), cache.get('a'), cache.get('b')])).toEqual([1, 1, 2]);
    expect(loads).toEqual(['a', 'b']);
  });

  it('does not cache a failure: waiting callers are rejected, the next call loads again', async () => {
    const { cache, table, loads } = arrange();

    await expect(Promise.all([cache.get('c'), cache.get('c')])).rejects.toThrow('c is not there');
    table.set('c', 3);

    expect(await cache.get('c')).toBe(3);
    expect(loads).toEqual(['c', 'c']);
  });

  it('loads again after an invalidation, even during a load', async () => {
    const { cache, table } = arrange();

    const before = cache.get('a');
    table.set('a', 10);
    cache.drop('a');

    expect(await cache.get('a')).toBe(10);
    expect(await before).toBe(1);
    expect(await cache.get('a')).toBe(10);
  });

  it('a failed load that was invalidated does not remove the newer value', async () => {
    const { cache, table, loads } = arrange();

    const failing = cache.get('c');
    cache.drop('c');
    table.set('c', 3);
    const newer = cache.get('c');
    await expect(failing).rejects.toThrow();
    await newer;

    expect(await cache.get('c')).toBe(3);
    expect(loads).toEqual(['c', 'c']);
  });

  it('loads everything again after a clear', async () => {
    const { cache, loads } = arrange();

    await Promise.all([cache.get('a'), cache.get('b')]);
    cache.clear();
    await Promise.all([cache.get('a'), cache.get('b')]);

    expect(loads).toEqual(['a', 'b', 'a', 'b']);
  });

  it('never exceeds its maximum size, and keeps the newest entries', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 100, size: 'max' }),
        async (asked) => {
          const { cache, table, loads } = arrange(5);
          for (let i = 0; i <= 30; i += 1) table.set(`k${i}`, i);
          const kept: number[] = [];
          for (const i of asked) {
            const before = loads.length;
            expect(await cache.get(`k${i}`)).toBe(i);
            expect(loads.length - before).toBe(kept.includes(i) ? 0 : 1);
            if (!kept.includes(i)) kept.push(i);
            if (kept.length > 5) kept.shift();
          }
        },
      ),
    );
  });

  it('never returns a value that was replaced more than five seconds ago, in any order of operations', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('get' as const), key: fc.constantFrom('a', 'b') }),
      fc.record({ do: fc.constant('change' as const), key: fc.constantFrom('a', 'b') }),
      fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 4_000 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
        const { cache, time, table } = arrange();
        const replacedAtMs = new Map<string, number>();
        for (const each of steps) {
          if (each.do === 'wait') time.nowMs += each.ms;
          else if (each.do === 'change') {
            const value = table.get(each.key) as number;
            replacedAtMs.set(`${each.key}${value}`, time.nowMs);
            table.set(each.key, value + 10);
          } else {
            const value = await cache.get(each.key);
            expect(time.nowMs - (replacedAtMs.get(`${each.key}${value}`) ?? time.nowMs)).toBeLessThan(STALENESS_MAX_MS);
          }
        }
      }),
    );
  });
});
