import { Injectable } from '@nestjs/common';
import type { Tenant } from '#kernel/tenant.js';
import type { EventFilter } from './event-lists.js';
import {
  type EventSelection,
  EventSelections,
  type SelectedEvents,
  type SelectionCount,
  type SelectionQuery,
} from './event-selection.contract.js';
import { type EventQuery, EventsService } from './events.service.js';
import { EventsStore } from './events.store.js';

@Injectable()
export class ListedSelections extends EventSelections {
  constructor(
    private readonly events: EventsService,
    private readonly store: EventsStore,
  ) {
    super();
  }

  override resolve(tenant: Tenant, query: SelectionQuery): Promise<EventSelection | null> {
    return this.events.filter(tenant, query as EventQuery);
  }

  override count(tenant: Tenant, query: SelectionQuery): Promise<SelectionCount> {
    return this.events.count(tenant, query as EventQuery);
  }

  override async page(environmentId: number, selection: EventSelection, limit: number): Promise<SelectedEvents> {
    const filter: EventFilter = selection;
    const windowEnd = await this.store.windowEnd({ environmentId }, filter);
    const events = await this.store.list(
      { environmentId },
      windowEnd === null ? filter : { ...filter, fromId: windowEnd },
      limit,
    );
    return { events, beforeId: events.length === limit ? (events.at(-1)?.id ?? null) : windowEnd };
  }
}
