import { Injectable } from '@nestjs/common';
import type { Tenant } from '#kernel/tenant.js';
import type { EventFilter } from './event-lists.js';
import {
  type EventSelection,
  type SelectedEvents,
  type SelectionCount,
  type SelectionQuery,
} from './event-selection.contract.js';
import { type EventQuery, EventsService } from './events.service.js';
import { EventsStore } from './events.store.js';

/** Selects all events that a filtered list shows, for bulk operations. */
@Injectable()
export class EventSelections {
  constructor(
    private readonly events: EventsService,
    private readonly store: EventsStore,
  ) {}

  /** Resolves filters to a selection. Returns null if no event can match. Throws 400 for invalid filters. */
  resolve(tenant: Tenant, query: SelectionQuery): Promise<EventSelection | null> {
    return this.events.filter(tenant, query as EventQuery);
  }

  /** Counts the selected events, within the same limits as the list. Throws 400 for invalid filters. */
  count(tenant: Tenant, query: SelectionQuery): Promise<SelectionCount> {
    return this.events.count(tenant, query as EventQuery);
  }

  /** Returns a page of selected events. Scans a bounded number of rows, so an empty page may not be the last. */
  async page(environmentId: number, selection: EventSelection, limit: number): Promise<SelectedEvents> {
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
