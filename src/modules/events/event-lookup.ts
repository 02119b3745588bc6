import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { Retention } from '#modules/auth/contract.js';
import { EventsStore, type FoundEvent } from './events.store.js';

/** Events by their ids. */
@Injectable()
export class EventLookup {
  constructor(
    private readonly store: EventsStore,
    private readonly retention: Retention,
  ) {}

  /**
   * Null when there is none in this environment. It is looked for where it expires by its id and the environment's retention, and everywhere
   * when it is not there: the retention has changed since, or it was accepted later than it was made.
   */
  async find(tenant: Tenant, id: Id): Promise<FoundEvent | null> {
    const expiresOnDay = await this.retention.expiresOnDay(tenant.environmentId, id);
    return (await this.store.findOn(tenant, id, expiresOnDay)) ?? this.store.find(tenant, id);
  }
}
