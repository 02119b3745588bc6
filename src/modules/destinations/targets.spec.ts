import { conflict, unavailable } from '#kernel/errors.js';
import type { AdHocTargets } from './ad-hoc-targets.js';
import type { AdapterRegistry } from './adapter-registry.js';
import type { Target } from './contract.js';
import type { DestinationTargets } from './destination-targets.js';
import type { DestinationsStore } from './destinations.store.js';
import { Targets } from './targets.js';

const PULLED = { type: 'pull', ratePerSecond: 5, concurrency: 2 } as Target;
const DEFAULTS = { pulled: false, ratePerSecond: null, concurrency: null };

/** Returns targets of which `find` loads one that is not cached. */
function over(find: () => Promise<Target | null>): Targets {
  return new Targets(
    { known: () => undefined, find } as unknown as DestinationTargets,
    {} as AdHocTargets,
    { serving: (type: string) => ({ pulled: type === 'pull' }) } as unknown as AdapterRegistry,
    {} as DestinationsStore,
  );
}

describe('Targets.queueing', () => {
  it.each<[string, () => Promise<Target | null>, object]>([
    ['the settings of the destination', async () => PULLED, { pulled: true, ratePerSecond: 5, concurrency: 2 }],
    ['defaults for a deleted destination', async () => null, DEFAULTS],
    ['defaults if a secret is missing', () => Promise.reject(conflict('A secret is missing.')), DEFAULTS],
    ['defaults if a secret cannot be decrypted', () => Promise.reject(new Error('bad key')), DEFAULTS],
  ])('returns %s', async (_what, find, expected) => {
    expect(await over(find).queueing(7, 'd')).toEqual(expected);
  });

  it('throws 503 while storage is unavailable, because a pull destination must get its events in order', async () => {
    const away = unavailable('Storage is not reachable.');

    await expect(over(() => Promise.reject(away)).queueing(7, 'd')).rejects.toBe(away);
  });
});
