import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { Retention } from '#modules/auth/contract.js';
import { EventsStore, type FoundEvent } from './events.store.js';

/** Finds events by their ids. */
@Injectable()
export class EventLookup {
  constructor(
    private readonly store: EventsStore,
    private readonly retention: Retention,
  ) {}

  /**
   * Returns an event, or null if there is none in this environment. It first searches the partition computed from the
   * event's id and the environment's retention. Otherwise it searches all partitions, because the retention has
   * changed, or the event was accepted later than its id was created.
   */
  async find(tenant: Tenant, id: Id): Promise<FoundEvent | null> {
    const expiresOnDay = await this.retention.expiresOnDay(tenant.environmentId, id);
    return (await this.store.findOn(tenant, id, expiresOnDay)) ?? this.store.find(tenant, id);
  }
}
