import { LookupFailed } from './lookup-failed.js';
import { type Found, NameCache } from './name-cache.js';

function arrange(entriesMax = 100) {
  const world = { nowMs: 0, asked: [] as string[], ttlSeconds: 60, fails: false };
  const cache = new NameCache({ entriesMax, nowMs: () => world.nowMs });
  const get = (name: string): Promise<string[]> =>
    cache
      .get(name, async (): Promise<Found> => {
        world.asked.push(name);
        if (world.fails) throw new LookupFailed('ETIMEOUT');
        return { addresses: [{ address: `192.0.2.${world.asked.length}`, family: 4 }], ttlSeconds: world.ttlSeconds };
      })
      .then((addresses) => addresses.map(({ address }) => address));
  return { world, get };
}

describe('NameCache', () => {
  it('looks a name up once during its TTL, and again after that', async () => {
    const { world, get } = arrange();

    await get('a.example');
    world.nowMs = 59_999;
    expect(await get('a.example')).toEqual(['192.0.2.1']);
    world.nowMs = 60_000;

    expect(await get('a.example')).toEqual(['192.0.2.2']);
  });

  it.each([
    ['0 is a second', 0, 999, 1_000],
    ['a day is limited to five minutes', 86_400, 299_999, 300_000],
  ])('a TTL of %s', async (_what, ttlSeconds, before, after) => {
    const { world, get } = arrange();
    world.ttlSeconds = ttlSeconds;

    await get('a.example');
    world.nowMs = before;
    await get('a.example');
    expect(world.asked).toHaveLength(1);
    world.nowMs = after;
    await get('a.example');

    expect(world.asked).toHaveLength(2);
  });

  it('runs one lookup for concurrent requests of the same name', async () => {
    const { world, get } = arrange();

    const answers = await Promise.all(Array.from({ length: 50 }, () => get('a.example')));

    expect(world.asked).toEqual(['a.example']);
    expect(new Set(answers.flat())).toEqual(new Set(['192.0.2.1']));
  });

  it('caches a failure for five seconds', async () => {
    const { world, get } = arrange();
    world.fails = true;
    await expect(get('a.example')).rejects.toThrow('ETIMEOUT');
    world.fails = false;
    world.nowMs = 4_999;
    await expect(get('a.example')).rejects.toThrow('ETIMEOUT');

    world.nowMs = 5_000;

    expect(await get('a.example')).toEqual(['192.0.2.2']);
  });

  it('evicts the oldest result above the maximum size', async () => {
    const { world, get } = arrange(2);

    for (const name of ['a', 'b', 'c', 'c', 'b', 'a']) await get(name);

    expect(world.asked).toEqual(['a', 'b', 'c', 'a']);
  });
});
