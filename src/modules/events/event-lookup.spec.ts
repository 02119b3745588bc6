import { jest } from '@jest/globals';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { Retention } from '#modules/auth/environments/retention.js';
import { EventLookup } from './event-lookup.js';
import type { EventsStore, FoundEvent } from './events.store.js';

const TENANT = { environmentId: 7 } as Tenant;
const ID = '00000000-0000-0000-0000-00000000be7c' as Id;
const FOUND = { id: ID } as FoundEvent;

/**
 * Builds a lookup whose event is in the partition of `day`. If `day` is null, the event does not exist. The retention
 * points to the partition of day 30.
 */
function arrange(day: number | null) {
  const store = {
    findOn: jest.fn((_tenant: Tenant, _id: Id, expiresOnDay: number) =>
      Promise.resolve(expiresOnDay === day ? FOUND : null),
    ),
    find: jest.fn(() => Promise.resolve(day === null ? null : FOUND)),
  };
  return {
    store,
    lookup: new EventLookup(store as unknown as EventsStore, { expiresOnDay: () => 30 } as unknown as Retention),
  };
}

describe('EventLookup', () => {
  it.each([
    { what: 'in the expected partition only', day: 30, found: FOUND, looks: 0 },
    { what: 'in all partitions after the retention has changed', day: 90, found: FOUND, looks: 1 },
    { what: 'in all partitions before it returns null', day: null, found: null, looks: 1 },
  ])('looks $what', async ({ day, found, looks }) => {
    const { store, lookup } = arrange(day);

    expect(await lookup.find(TENANT, ID)).toBe(found);

    expect(store.findOn.mock.calls).toEqual([[TENANT, ID, 30]]);
    expect(store.find).toHaveBeenCalledTimes(looks);
  });
});
