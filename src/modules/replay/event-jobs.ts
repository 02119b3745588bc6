import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { ApiError, conflict, invalid } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import {
  type EventSelection,
  type SelectionCount,
  type SelectionQuery,
} from '#modules/events/event-selection.contract.js';
import { EventSelections } from '#modules/events/event-selections.js';
import { NamedTargets } from './named-targets.js';
import { EVENTS_MAX, type JobAction, type ReplayJob, subjectOfSelection } from './replay-job.js';
import { windowOf } from './replay-range.js';
import { ReplayStart } from './replay-start.js';

export interface EventJobQuery {
  action: JobAction;
  filter: SelectionQuery;
  limit?: number;
  include_cancelled?: boolean;
}

export interface SelectionEstimate extends SelectionCount {
  max: number;
}

/** Event states that an action can process. `null` if it can process all states. */
const STATES: Readonly<Record<JobAction, readonly string[] | null>> = {
  replay: null,
  recover: ['failed', 'dlq'],
  cancel: ['retrying'],
};

@Injectable()
export class EventJobs {
  constructor(
    private readonly selections: EventSelections,
    private readonly named: NamedTargets,
    private readonly starting: ReplayStart,
    private readonly clock: Clock,
  ) {}

  /**
   * Starts a job. Throws 409 for a disabled target or while a job with the same action and target is unfinished, and
   * 422 for an invalid filter.
   */
  async start(
    tenant: Tenant,
    { action, filter: query, limit = EVENTS_MAX, include_cancelled: includeCancelled = false }: EventJobQuery,
  ): Promise<ReplayJob> {
    const { environmentId } = tenant;
    const window = windowOf(query, this.clock.nowMs(), 'filter.');
    const found = await this.resolve(tenant, action, query);
    if (action !== 'cancel') await this.refuseDisabled(environmentId, query, found);
    const { count, isCapped } = await this.estimate(tenant, action, query, limit);
    // A filter that can match no event gets an empty range, so that its job ends immediately. Otherwise, the range
    // excludes events that arrive while the job runs.
    const filter = found
      ? { ...found, beforeId: earlier(found.beforeId, window.beforeId) }
      : { fromId: window.beforeId, beforeId: window.beforeId };
    return this.starting.start({
      environmentId,
      kind: 'events',
      endpointId: subjectOfSelection(action, filter),
      applicationId: null,
      targetId: null,
      includeCancelled,
      since: window.since,
      until: window.until,
      status: null,
      destinations: null,
      destinationsUsed: [],
      fromId: filter.fromId,
      beforeId: filter.beforeId,
      totalEstimate: count,
      selection: { action, query, filter, max: limit, isCapped },
    });
  }

  /** Returns the number of selected events without starting a job. Throws 422 for an invalid filter. */
  dryRun(tenant: Tenant, { action, filter, limit = EVENTS_MAX }: EventJobQuery): Promise<SelectionEstimate> {
    windowOf(filter, this.clock.nowMs(), 'filter.');
    return this.estimate(tenant, action, filter, limit);
  }

  private async estimate(
    tenant: Tenant,
    action: JobAction,
    query: SelectionQuery,
    max: number,
  ): Promise<SelectionEstimate> {
    const asked = narrowed(action, query);
    if (asked === null) return { count: 0, isCapped: false, searchedTo: null, max };
    const counted = await this.selections.count(tenant, asked).catch(refuseFilter);
    return counted.count < max ? { ...counted, max } : { count: max, isCapped: false, searchedTo: null, max };
  }

  private async resolve(tenant: Tenant, action: JobAction, query: SelectionQuery): Promise<EventSelection | null> {
    const asked = narrowed(action, query);
    return asked && this.selections.resolve(tenant, asked).catch(refuseFilter);
  }

  /** Rejects a filter for a disabled target, because the job could only skip its events. */
  private async refuseDisabled(
    environmentId: number,
    { destination }: SelectionQuery,
    found: EventSelection | null,
  ): Promise<void> {
    const isAdHoc = destination !== undefined && /^https?:/i.test(destination);
    const endpointId = found?.targetId ?? found?.endpointId;
    const reasons = [
      found?.destinationId !== undefined && !isAdHoc
        ? await this.named.reasonAgainst(environmentId, found.destinationId, null)
        : null,
      endpointId === undefined ? null : await this.named.reasonAgainstEndpoint(environmentId, endpointId),
    ];
    const reason = reasons.find((each) => each !== null);
    if (reason) throw conflict(`${reason} Change that first.`, { reason: 'disabled' });
  }
}

/** Returns the filter limited to the states of the action, or `null` if none of the requested states remains. */
function narrowed(action: JobAction, query: SelectionQuery): SelectionQuery | null {
  const states = STATES[action];
  if (states === null) return query;
  const status =
    query.status === undefined ? [...states] : [query.status].flat().filter((each) => states.includes(each));
  return status.length === 0 ? null : { ...query, status };
}

function earlier(a: Id, b: Id): Id {
  return a < b ? a : b;
}

/** Rethrows a filter's 400 as 422, because here the filter is part of the body. Rethrows other errors unchanged. */
function refuseFilter(error: unknown): never {
  if (error instanceof ApiError && error.type === 'bad_request')
    throw invalid([{ path: 'filter', message: error.message }]);
  throw error;
}
