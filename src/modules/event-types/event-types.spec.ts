import type { Clock } from '#kernel/clock.js';
import type { Notifications } from '#kernel/database/notifications.js';
import type { Environments } from '#modules/auth/environments/environments.js';
import type { RuleEvaluator } from '#sandbox/rule-evaluator.js';
import { EventTypes } from './event-types.js';
import type { EventTypesStore } from './event-types.store.js';

interface World {
  nowMs: number;
  isEnforced: boolean;
  loads: number;
  schema: object;
  judged: string[];
}

/**
 * Returns an `EventTypes` whose store enforces one type while `world.isEnforced` is true. `announce` simulates a
 * change.
 */
function arrange(): { enforcement: EventTypes; announce: (id: string) => void; world: World } {
  const world: World = { nowMs: 0, isEnforced: false, loads: 0, schema: { required: ['b'] }, judged: [] };
  const store = {
    enforced: async () => {
      world.loads += 1;
      return world.isEnforced ? [{ id: '1', name: 'a', version: 1, bytes: 10 }] : [];
    },
    find: async () => ({ id: '1', name: 'a', version: 1, bytes: 10, enforce: true, schema: world.schema }),
  } as unknown as EventTypesStore;
  let announce = (_id: string): void => undefined;
  const notifications = {
    on: (_topic: string, listener: (id: string) => void) => {
      announce = listener;
    },
  } as unknown as Notifications;
  const environments = { get: async () => ({ organizationId: 'o' }) } as unknown as Environments;
  const judge = {
    schema: async (_owner: object, _schema: string, value: string) => {
      world.judged.push(value);
      return { schemaFaults: [], valueFaults: [{ path: 'c', message: 'was judged elsewhere' }] };
    },
  } as unknown as RuleEvaluator;
  const enforcement = new EventTypes(store, notifications, { nowMs: () => world.nowMs } as Clock, environments, judge);
  return { enforcement, announce: (id) => announce(id), world };
}

describe('EventTypes.check', () => {
  it('answers synchronously if it is known that nothing is enforced', async () => {
    const { enforcement, world } = arrange();
    await enforcement.check(7, 'a', {});
    world.nowMs = 4_999;

    expect(enforcement.check(7, 'a', {})).toBeUndefined();
    expect(world.loads).toBe(1);
  });

  it('uses no data older than five seconds from its load, even if it was cached later', async () => {
    const { enforcement, announce, world } = arrange();
    const first = enforcement.check(7, 'a', {});
    // A change of environment 8 arrives while environment 7 is being loaded. The loaded data is then stored only in
    // `cache`, not in `known`.
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

  it.each<[string, object, object]>([
    [
      'a slow value',
      { properties: { list: { uniqueItems: true } } },
      { list: Array.from({ length: 50_000 }, (_, i) => `${i}`) },
    ],
    [
      'alternatives within alternatives',
      {
        $ref: '#/$defs/a0',
        $defs: Object.fromEntries(
          Array.from({ length: 20 }, (_, i) => [
            `a${i}`,
            i === 19 ? { type: 'string' } : { anyOf: [{ $ref: `#/$defs/a${i + 1}` }, { $ref: `#/$defs/a${i + 1}` }] },
          ]),
        ),
      },
      {},
    ],
    [
      'a schema that takes long to compile',
      { properties: Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`k${i}`, { type: 'string' }])) },
      {},
    ],
  ])('has %s validated off the event loop', async (_what, schema, payload) => {
    const { enforcement, world } = arrange();
    Object.assign(world, { isEnforced: true, schema });

    await expect(enforcement.check(7, 'a', payload)).rejects.toThrow('payload.c: was judged elsewhere');
    // The first call has cached the schema.
    await expect(enforcement.check(7, 'a', payload)).rejects.toThrow('payload.c: was judged elsewhere');

    expect(world.judged).toEqual([JSON.stringify(payload), JSON.stringify(payload)]);
  });

  it('validates fast schemas synchronously', async () => {
    const { enforcement, world } = arrange();
    world.isEnforced = true;

    await expect(enforcement.check(7, 'a', {})).rejects.toThrow('payload.b: is required');
    expect(() => enforcement.check(7, 'a', {})).toThrow('payload.b: is required');
    expect(enforcement.check(7, 'a', { b: 1 })).toBeUndefined();

    expect(world.judged).toEqual([]);
  });
});
