import { Injectable } from '@nestjs/common';
import { noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { EventLookup } from '../event-lookup.js';
import { EventsStore, type ExchangeRow, type FoundEvent } from '../events.store.js';

/** The recorded requests and responses of an event. Each request also contains the event's own headers. */
export interface EventExchanges {
  event: FoundEvent;
  rows: ExchangeRow[];
}

const ATTEMPTS_MAX = 50;

@Injectable()
export class Exchanges {
  constructor(
    private readonly lookup: EventLookup,
    private readonly store: EventsStore,
  ) {}

  /** Returns an event with the requests and responses of its failed attempts. Throws 404 if no such event exists. */
  async findByEvent(tenant: Tenant, eventId: Id): Promise<EventExchanges> {
    const event = await this.lookup.find(tenant, eventId);
    if (event === null) throw noSuch('event');
    return { event, rows: await this.store.exchanges(tenant, event, ATTEMPTS_MAX) };
  }
}
