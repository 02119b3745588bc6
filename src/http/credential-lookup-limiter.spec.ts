import type { Clock } from '#kernel/clock.js';
import { Cache } from '#kernel/concurrency/cache.js';
import type { Config } from '#kernel/config/config.js';
import { CredentialLookupLimiter } from './credential-lookup-limiter.js';

const ADDRESS = '198.51.100.7';

/** Creates a limiter with a stopped clock. Only credentials with the prefix `real` exist. */
function scene(config: Partial<Config> = {}) {
  const time = { nowMs: 1_000_000 };
  const table = { looks: 0, isAway: false };
  const cache = new Cache<string | null>(
    async (key) => {
      table.looks += 1;
      await Promise.resolve();
      if (table.isAway) throw new Error('storage is away');
      return key.startsWith('real') ? key : null;
    },
    { entriesMax: 10_000, nowMs: () => time.nowMs },
  );
  const lookups = new CredentialLookupLimiter(
    { rateLimitKey: { count: 6000, periodMs: 60_000 }, rateLimitOrg: null, ...config } as Config,
    { nowMs: () => time.nowMs } as Clock,
  );
  const look = (key: string, from: string | null = ADDRESS): Promise<string | null> => lookups.look(cache, key, from);
  const guess = async (count: number, from = ADDRESS): Promise<{ looked: number; refused: number }> => {
    const before = table.looks;
    const said = await Promise.allSettled(
      Array.from({ length: count }, (_, i) => look(`guess ${time.nowMs} ${i}`, from)),
    );
    return { looked: table.looks - before, refused: said.filter(({ status }) => status === 'rejected').length };
  };
  return { time, table, look, guess };
}

describe('Guesses', () => {
  it('an address has 300 lookups a minute, also concurrently, and they refill evenly', async () => {
    const { guess, time } = scene();

    expect(await guess(1_000)).toEqual({ looked: 300, refused: 700 });
    time.nowMs += 1_000;
    expect(await guess(100)).toEqual({ looked: 5, refused: 95 });
  });

  it('429 with the time to wait for one guess too many; other addresses are not affected', async () => {
    const { guess, look } = scene();
    await guess(300);

    await expect(look('another')).rejects.toMatchObject({ type: 'rate_limited', retryAfterSeconds: 60 });
    expect(await look('another', '198.51.100.8')).toBeNull();
  });

  it('a real credential costs no guess', async () => {
    const { look, guess } = scene();

    for (let i = 0; i < 1_000; i += 1) expect(await look(`real ${i}`)).toBe(`real ${i}`);
    expect(await guess(301)).toEqual({ looked: 300, refused: 1 });
  });

  it('a known credential is looked up again from an address without guesses left, until it no longer exists', async () => {
    const { look, guess, time } = scene();
    await look('real');
    await guess(1_000);

    time.nowMs += 5_000;
    await guess(1_000);
    expect(await look('real')).toBe('real');
    await expect(look('real, never seen')).rejects.toMatchObject({ type: 'rate_limited' });
  });

  it('unavailable storage costs no guess', async () => {
    const { look, guess, table } = scene();
    table.isAway = true;
    for (let i = 0; i < 1_000; i += 1) await expect(look(`real ${i}`)).rejects.toThrow('storage is away');
    table.isAway = false;

    expect(await guess(301)).toEqual({ looked: 300, refused: 1 });
  });

  it('a repeated guess is looked up once in five seconds', async () => {
    const { look, table } = scene();
    for (let i = 0; i < 1_000; i += 1) expect(await look('guess')).toBeNull();

    expect(table.looks).toBe(1);
  });

  it.each<[string, Partial<Config>, number]>([
    ['a smaller quota of addresses applies here too', { rateLimitKey: { count: 20, periodMs: 60_000 } }, 20],
    [
      'the quota of organizations applies if keys have none',
      { rateLimitKey: null, rateLimitOrg: { count: 30, periodMs: 60_000 } },
      30,
    ],
    ['without both quotas nothing is rejected', { rateLimitKey: null }, 1_000],
  ])('%s', async (_case, config, looked) => {
    expect(await scene(config).guess(1_000)).toEqual({ looked, refused: 1_000 - looked });
  });

  it('a lookup without an address is not counted', async () => {
    const { look } = scene();

    for (let i = 0; i < 1_000; i += 1) expect(await look(`guess ${i}`, null)).toBeNull();
  });
});
