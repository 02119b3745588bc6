import { jest } from '@jest/globals';
import type { Notifications } from '#kernel/database/notifications.js';
import type { Cancellations } from '#modules/ledger/cancellations.js';
import type { ClaimedDelivery } from '#modules/ledger/claims.contract.js';
import type { Claims } from '#modules/ledger/claims.js';
import { HeldCancellations } from './held-cancellations.js';
import type { LocalScheduler } from './local-scheduler.js';

const [TARGET, OTHER] = ['0190f0a0-0000-0000-0000-000000000001', '0190f0a0-0000-0000-0000-000000000002'];
const DELIVERY = {
  environmentId: 7,
  eventId: '01563e3a-b5d3-d676-4c61-efb99302bd5b',
  ordinal: 0,
  targetId: TARGET,
} as ClaimedDelivery;

/**
 * Fakes a table in which every delivery is marked as canceled. `held` contains the targets with canceled deliveries,
 * page by page.
 */
function arrange(held: { environmentId: number; targetId: string }[][] = []) {
  const world = {
    evicted: [] as string[],
    released: [] as [number, boolean][],
    after: [] as unknown[],
    asked: 0,
    isDeaf: false,
    notify: (_key: string): void => undefined,
  };
  const scheduler = {
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
    on: (topic: string, listener: (key: string) => void) => topic === 'withdrawal' && (world.notify = listener),
  };
  const cancelled = new HeldCancellations(
    scheduler as unknown as LocalScheduler,
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

  it('does not query storage for a target without cancellations', async () => {
    const { cancelled, world } = arrange();
    world.notify(`7:${OTHER}`);
    world.notify(`8:${TARGET}`);

    expect(await cancelled.reasonOf(DELIVERY)).toBeNull();
    expect(world.asked).toBe(0);
  });

  it('returns a reason that was part of the claim without a query', async () => {
    const { cancelled, world } = arrange();

    expect(await cancelled.reasonOf({ ...DELIVERY, cancelReason: 'erased' })).toBe('erased');
    expect(world.asked).toBe(0);
  });

  it('releases waiting deliveries, queries storage before each start for 30 seconds, and then releases once more', async () => {
    const { cancelled, world } = arrange();

    world.notify(`7:${TARGET}`);
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

  it('restarts the 30 seconds after a second cancellation', async () => {
    const { cancelled, world } = arrange();

    world.notify(`7:${TARGET}`);
    jest.advanceTimersByTime(20_000);
    world.notify(`7:${TARGET}`);
    jest.advanceTimersByTime(20_000);

    expect(await cancelled.reasonOf(DELIVERY)).toBe('cancelled');
    expect(world.evicted).toHaveLength(2);
  });

  it('searches for marked and claimed deliveries after notifications may have been missed', async () => {
    const [first, second] = [
      { environmentId: 7, targetId: TARGET },
      { environmentId: 9, targetId: TARGET },
    ];
    const { cancelled, world } = arrange([[first], [second]]);

    world.notify('*');
    await jest.advanceTimersByTimeAsync(1);

    expect(world.evicted).toEqual([`7:${TARGET}`, `9:${TARGET}`]);
    expect(world.after).toEqual([null, first, second]);
    expect(await cancelled.reasonOf(DELIVERY)).toBe('cancelled');
    expect(await cancelled.reasonOf({ ...DELIVERY, targetId: OTHER })).toBeNull();
  });

  it('queries storage before each start, for every target, while notifications are unavailable', async () => {
    const { cancelled, world } = arrange();

    expect(await cancelled.reasonOf(DELIVERY)).toBeNull();
    world.isDeaf = true;
    expect(await cancelled.reasonOf(DELIVERY)).toBe('cancelled');
    world.isDeaf = false;
    expect(await cancelled.reasonOf(DELIVERY)).toBeNull();
    expect(world.asked).toBe(1);
  });
});
