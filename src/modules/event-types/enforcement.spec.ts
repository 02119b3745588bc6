import type { Clock } from '#kernel/clock.js';
import type { Notifications } from '#kernel/notifications.js';
import { Enforcement } from './enforcement.js';
import type { EventTypesStore } from './event-types.store.js';

/** A storage where one type is enforced once `world.isEnforced`, and notifications that come when `announce` says so. */
function arrange(): { enforcement: Enforcement; announce: (id: string) => void; world: { nowMs: number; isEnforced: boolean; loads: number } } {
  const world = { nowMs: 0, isEnforced: false, loads: 0 };
  const store = {
    enforced: async () => {
      world.loads += 1;
      return world.isEnforced ? [{ id: '1', name: 'a', version: 1, bytes: 10 }] : [];
    },
    find: async () => ({ id: '1', name: 'a', version: 1, bytes: 10, enforce: true, schema: { required: ['b'] } }),
  } as unknown as EventTypesStore;
  let announce = (_id: string): void => undefined;
  const notifications = { on: (_topic: string, listener: (id: string) => void) => { announce = listener; } } as unknown as Notifications;
  const enforcement = new Enforcement(store, notifications, { nowMs: () => world.nowMs } as Clock);
  return { enforcement, announce: (id) => announce(id), world };
}

describe('Enforcement.check', () => {
  it('answers at once where it knows that nothing is enforced', async () => {
    const { enforcement, world } = arrange();
    await enforcement.check(7, 'a', {});
    world.nowMs = 4_999;

    expect(enforcement.check(7, 'a', {})).toBeUndefined();
    expect(world.loads).toBe(1);
  });

  it('knows nothing for longer than five seconds from its load, also what it remembers only later', async () => {
    const { enforcement, announce, world } = arrange();
    const first = enforcement.check(7, 'a', {});
    // A change of another environment while it loads: the cache has the answer, and nothing is remembered of it.
    announce('8');
    await first;
    world.isEnforced = true;
    world.nowMs = 4_999;
    await enforcement.check(7, 'a', {});
    expect(world.loads).toBe(1);
    world.nowMs = 5_000;

    await expect(enforcement.check(7, 'a', {})).rejects.toThrow('payload.b: is required');
    expect(world.loads).toBe(2);
  });
});
