import { Injectable } from '@nestjs/common';
import type { EndpointSummary, LiveRoute } from '#modules/endpoints/contract.js';
import type { Redelivered } from '#modules/ledger/accept.contract.js';
import { ReceivedEvents, type ReceivedRange, type ReceivedRow } from '#modules/events/recovery.contract.js';
import { RequestView } from '#engine/conditions/request-view.js';
import type { Id } from '#kernel/ids.js';
import type { ReplayJob } from './replay-job.js';

const STEP_WITH_BODIES = 100;

/** What a page of events came to. */
export interface ReplayPage {
  /** Oldest first. */
  deliveries: Redelivered[];
  scanned: number;
  /** Events with at least one delivery. */
  replayed: number;
  /** Events that no route takes, or that were cancelled. */
  skipped: number;
  /** Events that are never sent again: quarantined, parked, or without a payload any more. */
  excluded: number;
  /** The oldest event of the page; null for an empty one. */
  lastId: Id | null;
  /** Whether older ones may follow. */
  isFull: boolean;
}

/** What comes next in a job, with the destinations that it goes to; or, as a sentence, why the job cannot go on. */
export type NextPage = { page: ReplayPage; destinations: readonly Id[] } | { obstacle: string };

/** What a job of one kind sends. Called inside the transaction of the page. */
export interface PageSource {
  next(job: ReplayJob): Promise<NextPage>;
}

/** Decides what a replay sends: the events of a page, to the routes of now. */
@Injectable()
export class ReplayPages {
  constructor(private readonly received: ReceivedEvents) {}

  /** Looks at up to `limit` events, newest first. */
  async read(range: ReceivedRange, routes: readonly LiveRoute[], limit: number): Promise<ReplayPage> {
    const hasFilters = routes.some(({ filter }) => filter !== null);
    const page: ReplayPage = { deliveries: [], scanned: 0, replayed: 0, skipped: 0, excluded: 0, lastId: null, isFull: false };
    const backwards: Redelivered[][] = [];
    // In steps where bodies come with them, so that a page of large ones fits into memory.
    const step = hasFilters ? STEP_WITH_BODIES : limit;
    for (let looked = 0, isFull = true; isFull && looked < limit; ) {
      const rows = await this.received.page({ ...range, beforeId: page.lastId ?? range.beforeId }, Math.min(step, limit - looked), hasFilters);
      looked += rows.length;
      isFull = rows.length === Math.min(step, limit - looked + rows.length);
      page.isFull = isFull && looked === limit;
      page.lastId = rows.at(-1)?.id ?? page.lastId;
      for (const row of rows) if (row.inStatus) backwards.push(this.count(page, row, range.endpointId, routes));
      // Filters of customers run here: others have their turn in between.
      if (hasFilters) await new Promise((resolve) => setImmediate(resolve));
    }
    // Pages go back in time, each one forwards.
    page.deliveries = backwards.reverse().flat();
    return page;
  }

  private count(page: ReplayPage, row: ReceivedRow, endpointId: Id, routes: readonly LiveRoute[]): Redelivered[] {
    page.scanned += 1;
    if (row.erased || row.disposition === 'quarantined' || row.disposition === 'parked') {
      page.excluded += 1;
      return [];
    }
    const destinations = destinationsOf(row, routes);
    if (destinations.length === 0) page.skipped += 1;
    else page.replayed += 1;
    return destinations.map((targetId) => ({ eventId: row.id, expiresOn: row.expiresOn, targetId, endpointId }));
  }
}

/** The routes that a replay uses: all, or those to the destinations that the caller named. */
export function routesTo(endpoint: EndpointSummary, destinations: readonly Id[] | null): LiveRoute[] {
  return endpoint.routes.filter(({ destinationId }) => destinations === null || destinations.includes(destinationId));
}

function destinationsOf({ request }: ReceivedRow, routes: readonly LiveRoute[]): Id[] {
  const view = request && new RequestView(request, request.verification);
  return routes.filter(({ filter }) => filter === null || (view !== null && filter.matches(view))).map(({ destinationId }) => destinationId);
}
