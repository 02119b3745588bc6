import { Injectable } from '@nestjs/common';
import type { Condition } from '#engine/conditions/condition.js';
import { RequestView } from '#engine/conditions/request-view.js';
import type { Id } from '#kernel/ids.js';
import { Environments } from '#modules/auth/contract.js';
import { ReceivedEvents, type ReceivedRange, type ReceivedRow } from '#modules/events/received.contract.js';
import type { Redelivered } from '#modules/ledger/redelivery.contract.js';
import type { EndpointSummary, LiveRoute } from '#modules/receiving/contract.js';
import { RuleEvaluator } from '#sandbox/rule-evaluator.js';
import type { Erased, ReplayJob } from './replay-job.js';

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
  /** Events that are never sent again: quarantined, parked, dropped by a transform, without a payload any more, or with filters that take too long. */
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

/** What a stretch of work came to. */
export interface WorkDone extends Pick<ReplayPage, 'scanned' | 'replayed' | 'skipped' | 'excluded'> {
  /** Deliveries that it made. */
  enqueued: number;
  /** Where the job goes on; what is left out stays. */
  fromId?: Id;
  beforeId?: Id;
  erased?: Erased;
  /** Deliveries that it ended. */
  cancelled?: number;
  isOver: boolean;
  /** How long to rest before the next stretch. */
  restMs?: number;
}

/**
 * What a job of one kind does besides sending again. It commits by itself, a stretch of a few seconds at a time, and so must bear
 * that a stretch is repeated: this process may die before it is noted how far the job has come.
 */
export interface WorkSource {
  work(job: ReplayJob): Promise<WorkDone | { obstacle: string }>;
}

/** Decides what a replay sends: the events of a page, to the routes of now. */
@Injectable()
export class ReplayPages {
  constructor(
    private readonly received: ReceivedEvents,
    private readonly environments: Environments,
    private readonly rules: RuleEvaluator,
  ) {}

  /** Looks at up to `limit` events, newest first. */
  async read(range: ReceivedRange, routes: readonly LiveRoute[], limit: number): Promise<ReplayPage> {
    const hasFilters = routes.some(({ filter }) => filter !== null);
    const page: ReplayPage = {
      deliveries: [],
      scanned: 0,
      replayed: 0,
      skipped: 0,
      excluded: 0,
      lastId: null,
      isFull: false,
    };
    const backwards: Redelivered[][] = [];
    // In steps where bodies come with them, so that a page of large ones fits into memory.
    const step = hasFilters ? STEP_WITH_BODIES : limit;
    for (let looked = 0, isFull = true; isFull && looked < limit;) {
      const rows = await this.received.page(
        { ...range, beforeId: page.lastId ?? range.beforeId },
        Math.min(step, limit - looked),
        hasFilters,
      );
      looked += rows.length;
      isFull = rows.length === Math.min(step, limit - looked + rows.length);
      page.isFull = isFull && looked === limit;
      page.lastId = rows.at(-1)?.id ?? page.lastId;
      for (const row of rows) if (row.inStatus) backwards.push(await this.count(page, row, range, routes));
      // Filters of customers run here: others have their turn in between.
      if (hasFilters) await new Promise((resolve) => setImmediate(resolve));
    }
    // Pages go back in time, each one forwards.
    page.deliveries = backwards.reverse().flat();
    return page;
  }

  private async count(
    page: ReplayPage,
    row: ReceivedRow,
    { environmentId, endpointId }: ReceivedRange,
    routes: readonly LiveRoute[],
  ): Promise<Redelivered[]> {
    page.scanned += 1;
    const destinations = row.isExcluded ? null : await this.destinations(row, { environmentId, endpointId }, routes);
    if (destinations === null) {
      page.excluded += 1;
      return [];
    }
    if (destinations.length === 0) page.skipped += 1;
    else page.replayed += 1;
    return destinations.map((targetId) => ({ eventId: row.id, expiresOn: row.expiresOn, targetId, endpointId }));
  }

  /** Null where filters take too long, so that nobody knows where it goes. */
  private async destinations(
    { request }: ReceivedRow,
    { environmentId, endpointId }: Pick<ReceivedRange, 'environmentId' | 'endpointId'>,
    routes: readonly LiveRoute[],
  ): Promise<Id[] | null> {
    const view = request && new RequestView(request, request.verification);
    const verdicts = routes.map(({ filter }) => filter === null || (view !== null && filter.matches(view)));
    if (view?.isExhausted !== true)
      return routes.filter((_, at) => verdicts[at]).map(({ destinationId }) => destinationId);
    const filters = routes.flatMap(({ filter }): Condition[] => (filter ? [filter] : []));
    const { organizationId } = await this.environments.get(environmentId);
    const judged = await this.rules.filters({ organization: organizationId, endpoint: endpointId }, filters, view);
    if (judged.includes(null)) return null;
    return routes
      .filter(({ filter }) => filter === null || judged[filters.indexOf(filter)])
      .map(({ destinationId }) => destinationId);
  }
}

/** The routes that a replay uses: all, or those to the destinations that the caller named. */
export function routesTo(endpoint: EndpointSummary, destinations: readonly Id[] | null): LiveRoute[] {
  return endpoint.routes.filter(({ destinationId }) => destinations === null || destinations.includes(destinationId));
}
