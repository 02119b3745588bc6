import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { SystemClock } from '#kernel/clock.js';
import { Metrics } from '#kernel/observability/metrics.js';
import type { Feed } from './feeds.js';
import type { PullStore } from './pull.store.js';
import { Waiters, WAITERS_MAX, WAITERS_PER_ENVIRONMENT_MAX } from './waiters.js';

beforeEach(() => {
  jest.useFakeTimers();
  Logger.overrideLogger(false);
});

afterEach(() => {
  jest.useRealTimers();
  Logger.overrideLogger(true);
});

const feed = (environmentId = 1, targetId = 'a'): Feed => ({
  environmentId,
  keyId: targetId,
  targetId,
  endpointId: null,
  staticHeaders: {},
});
const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

/** Builds `Waiters` on a fake store. `arrived` contains the targets with new items, and each poll takes `tookMs`. */
function arrange() {
  const arrived = new Set<string>();
  const seen = { polls: [] as number[], tookMs: 0, isAway: false };
  const store: Pick<PullStore, 'peek'> = {
    peek: async (spots) => {
      seen.polls.push(spots.length);
      if (seen.isAway) throw new Error('storage is away');
      await new Promise((resolve) => setTimeout(resolve, seen.tookMs));
      return spots.flatMap((spot, index) => (arrived.has(spot.feed.targetId) ? [index] : []));
    },
  };
  const metrics = new Metrics();
  const waiters = new Waiters(store as PullStore, new SystemClock(), metrics);
  const gauge = async (): Promise<number | undefined> =>
    (await metrics.registry.getSingleMetric('posthorn_pull_waiters')?.get())?.values[0]?.value;
  const answers: string[] = [];
  const wait = (who: string, { of = feed(), waitMs = 20_000, gone = new AbortController().signal } = {}): void => {
    void waiters.wait(of, '1.1.x.0', waitMs, gone).then((has) => answers.push(`${who} ${has}`));
  };
  return { waiters, arrived, seen, answers, wait, gauge };
}

describe('Waiters', () => {
  it('ends, within one poll, only the waits of consumers with new items', async () => {
    const { arrived, answers, wait, gauge } = arrange();
    wait('a', { of: feed(1, 'a') });
    wait('b', { of: feed(1, 'b') });
    await pass(1_000);
    expect([answers, await gauge()]).toEqual([[], 2]);

    arrived.add('b');
    await pass(100);

    expect([answers, await gauge()]).toEqual([['b true'], 1]);
  });

  it('polls once for all waiting consumers, and not at all while there are none', async () => {
    const { seen, wait, answers } = arrange();
    await pass(5_000);
    expect(seen.polls).toEqual([]);

    for (const who of ['a', 'b', 'c']) wait(who, { waitMs: 250 });
    await pass(5_000);
    expect(seen.polls).toEqual([3, 3, 3]);

    wait('d', { waitMs: 50 });
    await pass(5_000);
    expect(seen.polls).toEqual([3, 3, 3, 1]);
    expect(answers).toEqual(['a false', 'b false', 'c false', 'd false']);
  });

  it('pauses at least twice as long as a poll took', async () => {
    const { seen, wait } = arrange();
    seen.tookMs = 1_000;

    wait('a');
    await pass(9_500);

    expect(seen.polls).toHaveLength(4);
  });

  it('ends on time even if storage is unavailable or does not respond, and continues when it is back', async () => {
    const { seen, arrived, wait, answers } = arrange();
    seen.isAway = true;
    wait('short', { waitMs: 300 });
    wait('long', { of: feed(1, 'b') });
    await pass(3_000);
    expect(answers).toEqual(['short false']);
    expect(seen.polls.length).toBeLessThan(8);

    seen.isAway = false;
    arrived.add('b');
    await pass(5_000);

    expect(answers).toEqual(['short false', 'long true']);
  });

  it('ends the wait of a client that disconnects before or during it', async () => {
    const { wait, answers, gauge } = arrange();
    const during = new AbortController();
    wait('before', { gone: AbortSignal.abort() });
    wait('during', { gone: during.signal });
    await pass(200);
    expect([answers, await gauge()]).toEqual([['before false'], 1]);

    during.abort();
    await pass(0);

    expect([answers, await gauge()]).toEqual([['before false', 'during false'], 0]);
  });

  it('does not wait if the wait is zero or negative', async () => {
    const { seen, wait, answers } = arrange();

    wait('none', { waitMs: 0 });
    wait('over', { waitMs: -5 });
    await pass(200);

    expect([answers, seen.polls]).toEqual([['none false', 'over false'], []]);
  });

  it('ends all waits when the process drains, and does not wait afterwards', async () => {
    const { waiters, wait, seen, answers } = arrange();
    wait('a');
    wait('b', { of: feed(2) });
    await pass(100);

    await waiters.onModuleDestroy();
    wait('late');
    await pass(0);
    const polls = seen.polls.length;
    await pass(5_000);

    expect(answers).toEqual(['a false', 'b false', 'late false']);
    expect(seen.polls).toHaveLength(polls);
  });

  it('does not wait if the environment or the process has no room; a free slot is used again', async () => {
    const { wait, answers, gauge } = arrange();
    for (let i = 0; i < WAITERS_PER_ENVIRONMENT_MAX; i += 1) wait('first', { waitMs: 1_000 });
    wait('one too many');
    await pass(0);
    expect(answers).toEqual(['one too many false']);

    for (let i = WAITERS_PER_ENVIRONMENT_MAX; i < WAITERS_MAX; i += 1) wait('other', { of: feed(2 + (i % 8)) });
    wait('nobody has room', { of: feed(99) });
    await pass(0);
    expect([answers.at(-1), await gauge()]).toEqual(['nobody has room false', WAITERS_MAX]);

    await pass(1_000);
    wait('now', { of: feed(99) });
    await pass(0);
    expect(await gauge()).toBe(WAITERS_MAX - WAITERS_PER_ENVIRONMENT_MAX + 1);
  });
});
