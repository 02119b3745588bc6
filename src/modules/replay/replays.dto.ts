import { ApiProperty } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import { idTimeMs, showId } from '#kernel/ids.js';
import { EventFilterQuery } from '#modules/events/contract.dto.js';
import type { DryRun } from './range-replay.js';
import type { ReleaseDryRun } from './release.js';
import { ESTIMATE_MAX, JOB_ACTIONS, JOB_KINDS, JOB_STATES, type ReplayJob, subjectOf } from './replay-job.js';

const STATUSES = ['delivered', 'failed', 'retrying', 'dlq', 'ignored'] as const;

/** Which of an endpoint's events to send again. */
@Examples({
  count: { summary: 'Count only', value: { dry_run: true } },
  all: { summary: 'Everything that is kept', value: {} },
  failed: { summary: 'What ended as a dead letter', value: { status: 'dlq' } },
})
export class RangeReplayBody {
  /** Only events received at or after this time (RFC 3339); from the oldest that is kept when left out. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-14T00:00:00.000Z' })
  since?: string;

  /** Only events received at or before this time (RFC 3339); up to now when left out. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;

  /** Only events in this state. */
  @ApiProperty({ required: false, enum: STATUSES, example: 'dlq' })
  status?: (typeof STATUSES)[number];

  /** Only to these destinations of the endpoint's routes; to all of them when left out. */
  @ApiProperty({
    required: false,
    type: [String],
    minItems: 1,
    maxItems: 100,
    example: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'],
  })
  destinations?: string[];

  /** True to count only: nothing is sent. */
  @ApiProperty({ required: false, default: false, example: false })
  dry_run?: boolean;

  /** For a dry run with route filters: the `next_cursor` of the call before. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;
}

/** Which of the requests that an endpoint set aside to release. */
export class ReleaseBody {
  /** `quarantined`: their signatures did not hold. `parked`: the endpoint was paused, or its transform failed. */
  @ApiProperty({ enum: ['quarantined', 'parked'], example: 'quarantined' })
  status: 'quarantined' | 'parked';

  /** Only requests received at or after this time (RFC 3339); from the oldest that is kept when left out. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-14T00:00:00.000Z' })
  since?: string;

  /** Only requests received at or before this time (RFC 3339); up to now when left out. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;

  /** True to count only: nothing is released. */
  @ApiProperty({ required: false, default: false, example: false })
  dry_run?: boolean;
}

/** What a release would look at. */
export class ReleaseDryRunResult {
  /** Id of this call. */
  @ApiProperty({ example: 'rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  replay_id: string;

  /** Always true here. */
  @ApiProperty({ example: true })
  dry_run: boolean;

  /** Requests of the time in that state that were not released yet; repetitions count as what they repeat. */
  @ApiProperty({ type: 'integer', example: 42 })
  scanned: number;

  /** Of those the ones that would be run through the endpoint. What becomes of each is seen then: it may be set aside once more. */
  @ApiProperty({ type: 'integer', example: 41 })
  replayed: number;

  /** Of those the ones that were erased. */
  @ApiProperty({ type: 'integer', example: 1 })
  excluded: number;
}

/** What an erasure did away with. */
export class ErasedItem {
  /** Endpoints of the application. */
  @ApiProperty({ type: 'integer', example: 2 })
  endpoints: number;

  /** Messages whose payload, header values and channels are gone. */
  @ApiProperty({ type: 'integer', example: 1204 })
  messages: number;

  /** Deliveries that waited, and were ended. */
  @ApiProperty({ type: 'integer', example: 3 })
  deliveries: number;

  /** Attempts whose excerpt of the receiver's answer is gone. */
  @ApiProperty({ type: 'integer', example: 2410 })
  attempts: number;
}

/** What a replay would do. */
export class DryRunResult {
  /** Id of this call. */
  @ApiProperty({ example: 'rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  replay_id: string;

  /** Always true here. */
  @ApiProperty({ example: true })
  dry_run: boolean;

  /** Events that were looked at. */
  @ApiProperty({ type: 'integer', example: 120 })
  scanned: number;

  /** Events that would be sent again. */
  @ApiProperty({ type: 'integer', example: 115 })
  replayed: number;

  /** Deliveries that would be made. */
  @ApiProperty({ type: 'integer', example: 230 })
  enqueued: number;

  /** Events that no route takes. */
  @ApiProperty({ type: 'integer', example: 3 })
  skipped: number;

  /** Events that are never replayed: quarantined, parked, dropped by the transform, or without a payload any more. */
  @ApiProperty({ type: 'integer', example: 2 })
  excluded: number;

  /** Where they would go. */
  @ApiProperty({ type: [String], example: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] })
  destinations: string[];

  /** With route filters: pass it as `cursor` to look at older events; null when all were looked at. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** A replay of many events, and how far it has come. */
export class ReplayJobItem {
  /** The job's id. */
  @ApiProperty({ example: 'rpj_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /**
   * `range` for what an endpoint received in a time, `recover` for what failed at an endpoint, a destination or an application, `application` for
   * everything that one was sent, `requests` for what an endpoint set aside, `erase` for the erasure of an application, `events` for what a list of events shows.
   */
  @ApiProperty({ enum: JOB_KINDS, example: 'range' })
  kind: string;

  /** What it is about: an endpoint, or a destination (`dst_`), or an application (`app_`); null for a job over a list of events. */
  @ApiProperty({ type: String, nullable: true, example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  endpoint: string | null;

  /** What a job over a list of events does with them; null for any other job. */
  @ApiProperty({ type: String, nullable: true, enum: [...JOB_ACTIONS, null], example: null })
  action: string | null;

  /** The filters of that list as they were given; null for any other job. */
  @ApiProperty({ type: EventFilterQuery, nullable: true, example: null })
  filter: EventFilterQuery | null;

  /** Of a job over a list of events: at most so many, the newest ones. One that ended with `scanned` at it may have left older ones. */
  @ApiProperty({ type: 'integer', nullable: true, example: null })
  limit: number | null;

  /** `pending` until a worker takes it, `running`, then `completed`, `stopped` or `failed`. */
  @ApiProperty({ enum: JOB_STATES, example: 'running' })
  state: string;

  /** The start of the window as it was asked for. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-14T00:00:00.000Z' })
  since: string | null;

  /** The end of the window as it was asked for. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  until: string | null;

  /** The state that events are filtered by. */
  @ApiProperty({ type: String, nullable: true, example: null })
  status: string | null;

  /** The destinations that were named; empty for all of the routes. */
  @ApiProperty({ type: [String], example: [] })
  destinations: string[];

  /** Id of the replay call. */
  @ApiProperty({ example: 'rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  replay_id: string;

  /** True once it was asked to stop: it does so between two pages. */
  @ApiProperty({ example: false })
  stop_requested: boolean;

  /**
   * Events in the window when it was asked for, of a range whatever their state; requests of a release, messages of an erasure. Counted up to
   * 100,000; of a job over a list of events as the list counts, up to 10,000.
   */
  @ApiProperty({ type: 'integer', example: 120 })
  total_estimate: number;

  /** True when there may be more than `total_estimate`. */
  @ApiProperty({ example: false })
  total_is_capped: boolean;

  /** Events that were looked at so far. */
  @ApiProperty({ type: 'integer', example: 120 })
  scanned: number;

  /** Events that were sent again so far, or requests that were released. */
  @ApiProperty({ type: 'integer', example: 115 })
  replayed: number;

  /** Deliveries that were made so far. */
  @ApiProperty({ type: 'integer', example: 230 })
  enqueued: number;

  /**
   * Events that no route takes; of a recovery those that were cancelled; of an application also those for endpoints that take no deliveries;
   * of a release requests that were set aside once more; of a job over a list of events those that went nowhere, that were cancelled, and
   * those for what takes no deliveries.
   */
  @ApiProperty({ type: 'integer', example: 3 })
  skipped: number;

  /** Events that are never replayed: quarantined, parked, dropped by the transform, or without a payload any more. */
  @ApiProperty({ type: 'integer', example: 2 })
  excluded: number;

  /** What an erasure did away with so far; null for any other job. */
  @ApiProperty({ type: ErasedItem, nullable: true, example: null })
  erased: ErasedItem | null;

  /** Of a cancellation over a list of events: deliveries that it ended so far, or that end with the attempt that is under way; null for any other job. */
  @ApiProperty({ type: 'integer', nullable: true, example: null })
  cancelled: number | null;

  /** Of a job over a list of events: it has looked at those received since then, from the newest on; null before it looked at any, and for any other job. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  searched_to: string | null;

  /** What `scanned` was when the job went on after an interruption; null when there was none. */
  @ApiProperty({ type: 'integer', nullable: true, example: null })
  resumed_from: number | null;

  /** Where events were sent so far. */
  @ApiProperty({ type: [String], example: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] })
  destinations_used: string[];

  /** Why it failed. */
  @ApiProperty({ type: String, nullable: true, example: null })
  error: string | null;

  /** When it was asked for. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** When a worker took it. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T09:30:00.010Z' })
  started_at: string | null;

  /** When it was over. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  finished_at: string | null;
}

/** Filters of the list of replay jobs. */
export class ReplayJobListQuery {
  /** Only jobs of this endpoint, destination or application (`app_`). */
  @ApiProperty({ required: false, maxLength: 64, example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  endpoint?: string;

  /** Only jobs in this state. */
  @ApiProperty({ required: false, enum: JOB_STATES, example: 'running' })
  state?: (typeof JOB_STATES)[number];

  /** Where to go on: the `next_cursor` of the page before, with the same filters. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** One page of replay jobs, newest first. */
export class ReplayJobPage {
  /** The jobs of this page. */
  @ApiProperty({ type: [ReplayJobItem] })
  data: ReplayJobItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

const destination = (id: string): string => showId('dst', id);
const time = (at: Date | null): string | null => at?.toISOString() ?? null;

export function presentJob(job: ReplayJob): ReplayJobItem {
  return {
    id: showId('rpj', job.id),
    kind: job.kind,
    endpoint: job.selection ? null : showId(subjectOf(job), job.endpointId),
    action: job.selection?.action ?? null,
    filter: job.selection ? (job.selection.query as EventFilterQuery) : null,
    limit: job.selection?.max ?? null,
    state: job.state,
    since: time(job.since),
    until: time(job.until),
    status: job.status,
    destinations: (job.destinations ?? []).map(destination),
    replay_id: showId('rpl', job.replayId),
    stop_requested: job.stopRequested,
    total_estimate: job.totalEstimate,
    total_is_capped: job.selection?.isCapped ?? job.totalEstimate >= ESTIMATE_MAX,
    scanned: job.scanned,
    replayed: job.replayed,
    enqueued: job.enqueued,
    skipped: job.skipped,
    excluded: job.excluded,
    erased: job.kind === 'erase' ? (job.erased ?? { endpoints: 0, messages: 0, deliveries: 0, attempts: 0 }) : null,
    cancelled: job.selection?.action === 'cancel' ? job.cancelled : null,
    searched_to:
      job.selection && job.pageAt && job.beforeId !== job.selection.filter.beforeId
        ? new Date(idTimeMs(job.beforeId)).toISOString()
        : null,
    resumed_from: job.resumedFrom,
    destinations_used: job.destinationsUsed.map(destination),
    error: job.error,
    created_at: job.createdAt.toISOString(),
    started_at: time(job.startedAt),
    finished_at: time(job.finishedAt),
  };
}

export function presentJobPage({ rows, nextCursor }: { rows: ReplayJob[]; nextCursor: string | null }): ReplayJobPage {
  return { data: rows.map(presentJob), next_cursor: nextCursor };
}

export function presentDryRun({ replayId, destinations, nextCursor, ...counts }: DryRun): DryRunResult {
  return {
    replay_id: showId('rpl', replayId),
    dry_run: true,
    ...counts,
    destinations: destinations.map(destination),
    next_cursor: nextCursor,
  };
}

export function presentReleaseDryRun({ replayId, scanned, excluded }: ReleaseDryRun): ReleaseDryRunResult {
  return { replay_id: showId('rpl', replayId), dry_run: true, scanned, replayed: scanned - excluded, excluded };
}
