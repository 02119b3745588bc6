import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { type CursorQuery, Cursors } from '#kernel/cursors.js';
import { badRequest, conflict, invalid, noSuch } from '#kernel/errors.js';
import { type Id, Ids, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type ReceivedRange } from '#modules/events/received.contract.js';
import { ReceivedStore } from '#modules/events/received.store.js';
import { type EndpointSummary } from '#modules/receiving/contract.js';
import { LiveEndpoints } from '#modules/receiving/live-endpoints.js';
import { ESTIMATE_MAX, type ReplayJob } from './replay-job.js';
import { ReplayPages, routesTo } from './replay-pages.js';
import { type ReplayRange, windowOf } from './replay-range.js';
import { ReplayStart } from './replay-start.js';

export interface RangeQuery {
  since?: string;
  until?: string;
  status?: string;
  destinations?: string[];
  cursor?: string;
}

export interface DryRun {
  replayId: Id;
  scanned: number;
  replayed: number;
  enqueued: number;
  skipped: number;
  excluded: number;
  destinations: Id[];
  nextCursor: string | null;
}

interface Range {
  endpoint: EndpointSummary;
  window: ReplayRange;
  destinations: Id[] | null;
  range: ReceivedRange;
}

/** Maximum number of events that one call of a dry run with route filters examines. */
const DRY_RUN_MAX = 5_000;
const COUNT_MAX = 2_000_000_000;

@Injectable()
export class RangeReplay {
  constructor(
    private readonly endpoints: LiveEndpoints,
    private readonly pages: ReplayPages,
    private readonly received: ReceivedStore,
    private readonly starting: ReplayStart,
    private readonly ids: Ids,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  /**
   * Starts a job. Throws 400 if a cursor is given, 404 for an unknown endpoint, 409 if the endpoint is inactive or has
   * an unfinished job, and 422 for an invalid query.
   */
  async start(tenant: Tenant, endpointId: Id, query: RangeQuery): Promise<ReplayJob> {
    if (query.cursor !== undefined)
      throw badRequest('A real replay takes no cursor: it is one job over the whole time range.');
    const { endpoint, window, destinations, range } = await this.checked(tenant, endpointId, query);
    if (endpoint.status !== 'active')
      throw conflict(`The endpoint is ${endpoint.status}. Make it active first.`, { reason: endpoint.status });
    // Counts events in any state. For a large range, a count by state would take as long as the job itself.
    const { scanned } = await this.received.count({ ...range, status: null }, ESTIMATE_MAX);
    return this.starting.start({
      ...window,
      environmentId: tenant.environmentId,
      kind: 'range',
      endpointId,
      applicationId: null,
      targetId: null,
      includeCancelled: false,
      status: query.status ?? null,
      destinations,
      destinationsUsed: routesTo(endpoint, destinations).map(({ destinationId }) => destinationId),
      totalEstimate: scanned,
    });
  }

  /**
   * Returns the counts of a dry run. Throws 404 for an unknown endpoint, 400 for an invalid cursor, and 422 for an
   * invalid query.
   */
  async dryRun(tenant: Tenant, endpointId: Id, query: RangeQuery): Promise<DryRun> {
    const { cursor, ...filters } = query;
    const { endpoint, destinations, range } = await this.checked(tenant, endpointId, query);
    const routes = routesTo(endpoint, destinations);
    const run = { replayId: this.ids.next(), destinations: routes.map(({ destinationId }) => destinationId) };
    const list: CursorQuery = {
      list: `dry run ${endpointId}`,
      filters: { ...filters, destinations: filters.destinations?.join() },
    };
    if (cursor !== undefined) range.beforeId = this.cursors.read(tenant, list, cursor);
    if (routes.every(({ filter }) => filter === null))
      return { ...run, ...(await this.countAll(range, routes.length)), nextCursor: null };
    const page = await this.pages.read(range, routes, DRY_RUN_MAX);
    const { scanned, replayed, skipped, excluded, isFull, lastId } = page;
    const nextCursor = isFull && lastId ? this.cursors.issue(tenant, list, lastId) : null;
    return { ...run, scanned, replayed, enqueued: page.deliveries.length, skipped, excluded, nextCursor };
  }

  /**
   * Returns the counts of a dry run without filters. Every event matches every route, so it is enough to count the
   * events.
   */
  private async countAll(
    range: ReceivedRange,
    routes: number,
  ): Promise<Pick<DryRun, 'scanned' | 'replayed' | 'enqueued' | 'skipped' | 'excluded'>> {
    const { scanned, excluded } = await this.received.count(range, COUNT_MAX);
    const routable = scanned - excluded;
    return {
      scanned,
      excluded,
      replayed: routes > 0 ? routable : 0,
      enqueued: routable * routes,
      skipped: routes > 0 ? 0 : routable,
    };
  }

  private async checked(tenant: Tenant, endpointId: Id, query: RangeQuery): Promise<Range> {
    const endpoint = await this.endpoints.find(tenant.environmentId, endpointId);
    if (endpoint === null) throw noSuch('endpoint');
    const window = windowOf(query, this.clock.nowMs());
    const { fromId, beforeId } = window;
    return {
      endpoint,
      window,
      destinations: destinationsOf(endpoint, query.destinations),
      range: { environmentId: tenant.environmentId, endpointId, status: query.status ?? null, fromId, beforeId },
    };
  }
}

function destinationsOf(endpoint: EndpointSummary, named: string[] | undefined): Id[] | null {
  if (named === undefined) return null;
  const targets = new Set(endpoint.routes.map(({ destinationId }) => destinationId));
  const ids = named.map((text) => parseId('dst', text));
  const faults = ids.flatMap((id, i) =>
    id !== null && targets.has(id)
      ? []
      : [{ path: `destinations.${i}`, message: 'is no destination of a route of this endpoint' }],
  );
  if (faults.length > 0) throw invalid(faults);
  return ids.filter((id): id is Id => id !== null);
}
