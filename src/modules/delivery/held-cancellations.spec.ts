import { jest } from '@jest/globals';
import type { Notifications } from '#kernel/database/notifications.js';
import type { Cancellations } from '#modules/ledger/cancellation.contract.js';
import type { ClaimedDelivery, Claims } from '#modules/ledger/claims.contract.js';
import { HeldCancellations } from './held-cancellations.js';
import type { LocalScheduler } from './local-scheduler.js';

const [TARGET, OTHER] = ['0190f0a0-0000-0000-0000-000000000001', '0190f0a0-0000-0000-0000-000000000002'];
const DELIVERY = {
  environmentId: 7,
  eventId: '01563e3a-b5d3-d676-4c61-efb99302bd5b',
  ordinal: 0,
  targetId: TARGET,
} as ClaimedDelivery;

/** A lane in which deliveries wait, and a table that has everything marked as cancelled; `held` in pages. */
function arrange(held: { environmentId: number; targetId: string }[][] = []) {
  const world = {
    evicted: [] as string[],
    released: [] as [number, boolean][],
    after: [] as unknown[],
    asked: 0,
    isDeaf: false,
    tell: (_key: string): void => undefined,
  };
  const lane = {
    evict: (environmentId: number, targetId: string) => [world.evicted.push(`${environmentId}:${targetId}`)],
  };
  const claims = {
    release: async (deliveries: unknown[], parked: boolean) => void world.released.push([deliveries.length, parked]),
  };
  const cancellations = {
    heldTargets: async (after: unknown) => held[world.after.push(after) - 1] ?? [],
    reasonOf: async () => {
      world.asked += 1;
      return 'cancelled' as const;
    },
  };
  const notifications = {
    isDeaf: () => world.isDeaf,
    on: (topic: string, listener: (key: string) => void) => topic === 'withdrawal' && (world.tell = listener),
  };
  const cancelled = new HeldCancellations(
    lane as unknown as LocalScheduler,
    claims as unknown as Claims,
    cancellations as unknown as Cancellations,
    notifications as unknown as Notifications,
  );
  cancelled.start();
  return { cancelled, world };
}

describe('HeldCancellations', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('asks nobody about a target of which nothing was cancelled', async () => {
    const { cancelled, world } = arrange();
    world.tell(`7:${OTHER}`);
    world.tell(`8:${TARGET}`);

    expect(await cancelled.reasonOf(DELIVERY)).toBeNull();
    expect(world.asked).toBe(0);
  });

  it('says what a claim brought along without asking', async () => {
    const { cancelled, world } = arrange();

    expect(await cancelled.reasonOf({ ...DELIVERY, cancelReason: 'erased' })).toBe('erased');
    expect(world.asked).toBe(0);
  });

  it('gives back what waits, asks before each start for half a minute, and gives back once more', async () => {
    const { cancelled, world } = arrange();

    world.tell(`7:${TARGET}`);
    expect(world.evicted).toEqual([`7:${TARGET}`]);
    expect(await cancelled.reasonOf(DELIVERY)).toBe('cancelled');
    jest.advanceTimersByTime(29_999);
    expect(await cancelled.reasonOf(DELIVERY)).toBe('cancelled');
    jest.advanceTimersByTime(1);

    expect(await cancelled.reasonOf(DELIVERY)).toBeNull();
    expect(world.asked).toBe(2);
    expect(world.released).toEqual([
      [1, true],
      [1, true],
    ]);
  });

  it('a second one begins the half minute anew', async () => {
    const { cancelled, world } = arrange();

    world.tell(`7:${TARGET}`);
    jest.advanceTimersByTime(20_000);
    world.tell(`7:${TARGET}`);
    jest.advanceTimersByTime(20_000);

    expect(await cancelled.reasonOf(DELIVERY)).toBe('cancelled');
    expect(world.evicted).toHaveLength(2);
  });

  it('after changes may have been missed it looks for what is marked and held', async () => {
    const [first, second] = [
      { environmentId: 7, targetId: TARGET },
      { environmentId: 9, targetId: TARGET },
    ];
    const { cancelled, world } = arrange([[first], [second]]);

    world.tell('*');
    await jest.advanceTimersByTimeAsync(1);

    expect(world.evicted).toEqual([`7:${TARGET}`, `9:${TARGET}`]);
    expect(world.after).toEqual([null, first, second]);
    expect(await cancelled.reasonOf(DELIVERY)).toBe('cancelled');
    expect(await cancelled.reasonOf({ ...DELIVERY, targetId: OTHER })).toBeNull();
  });

  it('while word may be missing it asks before each start, whatever the target', async () => {
    const { cancelled, world } = arrange();

    expect(await cancelled.reasonOf(DELIVERY)).toBeNull();
    world.isDeaf = true;
    expect(await cancelled.reasonOf(DELIVERY)).toBe('cancelled');
    world.isDeaf = false;
    expect(await cancelled.reasonOf(DELIVERY)).toBeNull();
    expect(world.asked).toBe(1);
  });
});
