import { Injectable } from '@nestjs/common';
import type { EndpointSummary, LiveRoute } from '#modules/endpoints/contract.js';
import { ReceivedEvents, type ReceivedRange, type ReceivedRow, type Redelivered } from '#modules/events/contract.js';
import { RequestView } from '#engine/conditions/request-view.js';
import type { Id } from '#kernel/ids.js';

/** What a page of events came to. */
export interface ReplayPage {
  /** Oldest first. */
  deliveries: Redelivered[];
  scanned: number;
  /** Events with at least one delivery. */
  replayed: number;
  /** Events that no route takes. */
  skipped: number;
  /** Events that are quarantined or parked. */
  excluded: number;
  /** The oldest event of the page; null for an empty one. */
  lastId: Id | null;
  /** Whether older ones may follow. */
  isFull: boolean;
}

/** Decides what a replay sends: the events of a page, to the routes of now. */
@Injectable()
export class ReplayPages {
  constructor(private readonly received: ReceivedEvents) {}

  async read(range: ReceivedRange, routes: readonly LiveRoute[], limit: number): Promise<ReplayPage> {
    const hasFilters = routes.some(({ filter }) => filter !== null);
    const rows = await this.received.page(range, limit, hasFilters);
    const page: ReplayPage = {
      deliveries: [], scanned: rows.length, replayed: 0, skipped: 0, excluded: 0, lastId: rows.at(-1)?.id ?? null, isFull: rows.length === limit,
    };
    // Pages go back in time, each one forwards.
    for (const row of rows.reverse()) {
      const destinations = isExcluded(row) ? [] : destinationsOf(row, routes);
      if (isExcluded(row)) page.excluded += 1;
      else if (destinations.length === 0) page.skipped += 1;
      else page.replayed += 1;
      for (const targetId of destinations) {
        page.deliveries.push({ eventId: row.id, expiresOn: row.expiresOn, targetId, endpointId: range.endpointId });
      }
    }
    return page;
  }
}

/** The routes that a replay uses: all, or those to the destinations that the caller named. */
export function routesTo(endpoint: EndpointSummary, destinations: readonly Id[] | null): LiveRoute[] {
  return endpoint.routes.filter(({ destinationId }) => destinations === null || destinations.includes(destinationId));
}

function isExcluded({ disposition }: ReceivedRow): boolean {
  return disposition === 'quarantined' || disposition === 'parked';
}

function destinationsOf({ request }: ReceivedRow, routes: readonly LiveRoute[]): Id[] {
  const view = request && new RequestView(request, request.verification);
  return routes.filter(({ filter }) => filter === null || (view !== null && filter.matches(view))).map(({ destinationId }) => destinationId);
}
