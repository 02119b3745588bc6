import { DEFAULT_RETRY_POLICY } from '#engine/retry.js';
import type { Clock } from '#kernel/clock.js';
import type { Notifications } from '#kernel/database/notifications.js';
import { conflict } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { DestinationSecrets, OpenedKeys } from './destination-secrets.js';
import { DestinationTargets } from './destination-targets.js';
import type { DestinationEntity } from './destinations.entities.js';
import type { DestinationsStore } from './destinations.store.js';
import type { HeaderSecrets } from './header-secrets.js';
import type { RetryPolicies } from './retry-policies.js';

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const KEYS: OpenedKeys = {
  current: { signingKeys: [NEW], privateKeys: [] },
  both: { signingKeys: [NEW, OLD], privateKeys: [] },
  graceUntilMs: 1_000,
  legacySignature: null,
};

/** Creates destinations `1` to `9` of environment 7. Records the ids that each statement loads. */
function arrange() {
  const asked: Id[][] = [];
  const world = { isAway: false, nowMs: 0 };
  const store = {
    findAll: async (environmentId: number, ids: readonly Id[]) => {
      asked.push([...ids]);
      if (world.isAway) throw new Error('Storage is away.');
      return ids
        .filter((id) => environmentId === 7 && /^[1-9]$/.test(id))
        .map(
          (id) =>
            ({
              environmentId,
              id,
              ownerId: null,
              type: 'https',
              url: `https://example.com/${id}`,
              config: {},
              retry: null,
              rateLimit: null,
              headers: id === '9' ? { a: '{{secrets.GROWN}}' } : {},
            }) as unknown as DestinationEntity,
        );
    },
  } as unknown as DestinationsStore;
  const secrets = { open: () => KEYS, openCredentials: () => null } as unknown as DestinationSecrets;
  const headerSecrets = {
    resolve: async (_environmentId: number, headers: Record<string, string>) => {
      if ('a' in headers) throw conflict('The secrets do not fit.');
      return headers;
    },
  } as unknown as HeaderSecrets;
  const retryPolicies = { forSettings: () => DEFAULT_RETRY_POLICY } as unknown as RetryPolicies;
  const notifications = { on: () => undefined, confirmedUntilMs: () => Infinity } as unknown as Notifications;
  const clock = { nowMs: () => world.nowMs } as Clock;
  return {
    targets: new DestinationTargets(store, secrets, headerSecrets, retryPolicies, notifications, clock),
    asked,
    world,
  };
}

describe('DestinationTargets.ofAll', () => {
  it('loads all targets missing in the cache with one statement, and keeps the order of the ids', async () => {
    const { targets, asked } = arrange();
    await targets.find(7, '2');

    const found = await targets.ofAll(7, ['3', '2', 'none', '1', '3']);

    expect(found.map((target) => target?.targetId)).toEqual(['3', '2', undefined, '1', '3']);
    expect(asked).toEqual([['2'], ['3', 'none', '1']]);
  });

  it('runs no statement for cached targets', async () => {
    const { targets, asked } = arrange();
    const first = await targets.ofAll(7, ['1', '2']);

    expect(await targets.ofAll(7, ['2', '1'])).toEqual(first.toReversed());
    expect(await targets.ofAll(7, [])).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  it('shares its statement with a concurrent lookup of one of its targets, and with no other lookup', async () => {
    const { targets, asked } = arrange();

    await Promise.all([
      targets.ofAll(7, ['1', '2']),
      targets.find(7, '1'),
      targets.find(7, '3'),
      targets.ofAll(7, ['2', '4']),
    ]);

    expect(asked).toEqual([['1', '2'], ['3'], ['4']]);
  });

  it('does not return targets of another environment', async () => {
    expect(await arrange().targets.ofAll(8, ['1'])).toEqual([null]);
  });

  it('returns null for a target with a missing secret in its headers, and does not cache it', async () => {
    const { targets, asked } = arrange();

    expect((await targets.ofAll(7, ['8', '9'])).map((target) => target?.targetId ?? null)).toEqual(['8', null]);
    await targets.ofAll(7, ['8', '9']);

    expect(asked).toEqual([['8', '9'], ['9']]);
    await expect(targets.find(7, '9')).rejects.toThrow('do not fit');
  });

  it('rejects while the database is unavailable, and loads again afterwards', async () => {
    const { targets, world } = arrange();
    world.isAway = true;
    await expect(targets.ofAll(7, ['1', '2'])).rejects.toThrow('Storage is not reachable. Try again.');
    world.isAway = false;

    expect((await targets.ofAll(7, ['1', '2'])).map((target) => target?.targetId)).toEqual(['1', '2']);
  });
});

describe('a target', () => {
  it('signs with both keys until the grace period of a rotation ends, however long it has been cached', async () => {
    const { targets, world } = arrange();
    const target = await targets.find(7, '1');

    world.nowMs = 999;
    expect(target?.signingKeys).toEqual([NEW, OLD]);
    world.nowMs = 1_000;
    expect(target?.signingKeys).toEqual([NEW]);
  });
});
