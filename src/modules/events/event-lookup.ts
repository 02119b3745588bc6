import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { Retention } from '#modules/auth/environments/retention.js';
import { EventsStore, type FoundEvent } from './events.store.js';

@Injectable()
export class EventLookup {
  constructor(
    private readonly store: EventsStore,
    private readonly retention: Retention,
  ) {}

  /**
   * Returns an event. First searches the partition that the event's id and the current retention imply. Then searches
   * all partitions, because the retention may have changed, or the event may have been accepted later than its id was
   * created.
   */
  async find(tenant: Tenant, id: Id): Promise<FoundEvent | null> {
    const expiresOnDay = await this.retention.expiresOnDay(tenant.environmentId, id);
    return (await this.store.findOn(tenant, id, expiresOnDay)) ?? this.store.find(tenant, id);
  }
}
