import { Injectable } from '@nestjs/common';
import { RequestView } from '#engine/conditions/request-view.js';
import type { Id } from '#kernel/ids.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { type ReceivedRange, type ReceivedRow } from '#modules/events/received.contract.js';
import { ReceivedStore } from '#modules/events/received.store.js';
import type { Redelivered } from '#modules/ledger/redelivery.contract.js';
import type { EndpointSummary, LiveRoute } from '#modules/receiving/contract.js';
import { RuleEvaluator } from '#sandbox/rule-evaluator.js';
import type { Erased, ReplayJob } from './replay-job.js';

const STEP_WITH_BODIES = 100;

export interface ReplayPage {
  /** Deliveries to send, oldest first. */
  deliveries: Redelivered[];
  scanned: number;
  replayed: number;
  /** Number of events that match no route or were canceled. */
  skipped: number;
  /**
   * Number of events that cannot be sent, because they are quarantined, parked, dropped or erased, or their filters
   * time out.
   */
  excluded: number;
  /** Id of the oldest event of the page. `null` for an empty page. */
  lastId: Id | null;
  /** True if older events may follow. */
  isFull: boolean;
}

/** The next page of a job. Without a page, `obstacle` is a sentence with the reason. */
export type NextPage = { page: ReplayPage; destinations: readonly Id[] } | { obstacle: string };

/** Provides the pages of one kind of job. Each page is read in the transaction that sends it. */
export interface PageSource {
  next(job: ReplayJob): Promise<NextPage>;
}

export interface WorkDone extends Pick<ReplayPage, 'scanned' | 'replayed' | 'skipped' | 'excluded'> {
  enqueued: number;
  /** New lower bound, inclusive, for the ids of the job's events. Unchanged if omitted. */
  fromId?: Id;
  beforeId?: Id;
  erased?: Erased;
  cancelled?: number;
  isOver: boolean;
  restMs?: number;
}

/**
 * Work of a job kind that does not send pages of events. The work commits in batches that take at most a few seconds.
 * It must be possible to repeat a batch, because the process may crash before it records the progress.
 */
export interface WorkSource {
  work(job: ReplayJob): Promise<WorkDone | { obstacle: string }>;
}

@Injectable()
export class ReplayPages {
  constructor(
    private readonly received: ReceivedStore,
    private readonly environments: Environments,
    private readonly rules: RuleEvaluator,
  ) {}

  /** Returns a page. Reads the newest event first. */
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
    // If bodies are included, reads in smaller steps, so that a page of large bodies fits into memory.
    const step = hasFilters ? STEP_WITH_BODIES : limit;
    for (let scanned = 0, isFull = true; isFull && scanned < limit;) {
      const rows = await this.received.page(
        { ...range, beforeId: page.lastId ?? range.beforeId },
        Math.min(step, limit - scanned),
        hasFilters,
      );
      scanned += rows.length;
      isFull = rows.length === Math.min(step, limit - scanned + rows.length);
      page.isFull = isFull && scanned === limit;
      page.lastId = rows.at(-1)?.id ?? page.lastId;
      for (const row of rows) if (row.inStatus) backwards.push(await this.count(page, row, range, routes));
      // Yields to the event loop, because filters of customers may be slow.
      if (hasFilters) await new Promise((resolve) => setImmediate(resolve));
    }
    // Later pages contain older events, but the events of one page are sent oldest first.
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

  /** Returns a request's destinations, or `null` if they are unknown because filters exceeded their time limit. */
  private async destinations(
    { request }: ReceivedRow,
    { environmentId, endpointId }: Pick<ReceivedRange, 'environmentId' | 'endpointId'>,
    routes: readonly LiveRoute[],
  ): Promise<Id[] | null> {
    const filters = routes.map(({ filter }) => filter);
    const matches =
      request === null
        ? filters.map((filter) => filter === null)
        : await this.rules.matches(
            async () => ({
              organization: (await this.environments.get(environmentId)).organizationId,
              endpoint: endpointId,
            }),
            filters,
            new RequestView(request, request.verification),
          );
    return matches.includes(null)
      ? null
      : routes.filter((_, at) => matches[at]).map(({ destinationId }) => destinationId);
  }
}

export function routesTo(endpoint: EndpointSummary, destinations: readonly Id[] | null): LiveRoute[] {
  return endpoint.routes.filter(({ destinationId }) => destinations === null || destinations.includes(destinationId));
}
