import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime, IsObjectOf } from '#http/validation.js';
import { idTimeMs, showId } from '#kernel/ids.js';
import { EventFilterQuery } from '#modules/events/contract.dto.js';
import { SET_ASIDE_STATUSES } from '#modules/events/set-aside.contract.js';
import type { DryRun } from './range-replay.js';
import type { ReleaseDryRun } from './release.js';
import { ESTIMATE_MAX, JOB_ACTIONS, JOB_KINDS, JOB_STATES, type ReplayJob, subjectOf } from './replay-job.js';

const STATUSES = ['delivered', 'failed', 'retrying', 'dlq', 'ignored'] as const;

/** Filter for the events of an endpoint to resend. */
@Examples({
  count: { summary: 'Only count, without making changes', value: { dry_run: true } },
  all: { summary: 'Replay all stored events', value: {} },
  failed: { summary: 'Replay the dead letters', value: { status: 'dlq' } },
})
export class RangeReplayBody {
  /** Selects only events received at or after this time (RFC 3339). Defaults to the time of the oldest stored event. */
  @ApiProperty({ example: '2026-11-14T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  since?: string;

  /** Selects only events received at or before this time (RFC 3339). Defaults to the current time. */
  @ApiProperty({ example: '2026-11-21T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  until?: string;

  /** Selects only events in this state. */
  @ApiProperty({ example: 'dlq' })
  @CanBeOmitted()
  @IsIn(STATUSES)
  status?: (typeof STATUSES)[number];

  /** Sends only to these destinations of the endpoint's routes. Defaults to all destinations of the routes. */
  @ApiProperty({ example: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] })
  @CanBeOmitted()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @IsString({ each: true })
  destinations?: string[];

  /** If `true`, only counts the events and sends nothing. */
  @ApiProperty({ default: false, example: false })
  @CanBeOmitted()
  @IsBoolean()
  dry_run?: boolean;

  /** For a dry run with route filters: the `next_cursor` of the previous request. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;
}

/** Filter for the requests of an endpoint to release. */
export class ReleaseBody {
  /**
   * `quarantined`: requests with an invalid signature. `parked`: requests that arrived while the endpoint was paused,
   * or whose transform failed. `transform_failed`: only the parked requests whose transform failed. `dropped`: requests
   * that the transform dropped.
   */
  @ApiProperty({ example: 'quarantined' })
  @IsIn(SET_ASIDE_STATUSES)
  status: (typeof SET_ASIDE_STATUSES)[number];

  /**
   * Selects only requests received at or after this time (RFC 3339). Defaults to the time of the oldest stored request.
   */
  @ApiProperty({ example: '2026-11-14T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  since?: string;

  /** Selects only requests received at or before this time (RFC 3339). Defaults to the current time. */
  @ApiProperty({ example: '2026-11-21T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  until?: string;

  /** If `true`, only counts the requests and releases nothing. */
  @ApiProperty({ default: false, example: false })
  @CanBeOmitted()
  @IsBoolean()
  dry_run?: boolean;
}

/** Result of a dry run of a release. */
export class ReleaseDryRunResult {
  /** Id of this replay request. */
  @ApiProperty({ example: 'rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  replay_id: string;

  /** Always `true` in this response. */
  @ApiProperty({ example: true })
  @IsBoolean()
  dry_run: boolean;

  /**
   * Number of requests in the time range that are in the given state and were not released yet. Replays of a request
   * are not counted separately.
   */
  @ApiProperty({ example: 42 })
  @IsInt()
  scanned: number;

  /**
   * Number of matching requests that the job would process. The outcome is not known in advance: a request may be
   * quarantined, parked or dropped again.
   */
  @ApiProperty({ example: 41 })
  @IsInt()
  replayed: number;

  /** Number of matching requests that were erased and cannot be released. */
  @ApiProperty({ example: 1 })
  @IsInt()
  excluded: number;
}

/** Numbers of items that an erasure has removed. */
export class ErasedItem {
  /** Number of endpoints of the application. */
  @ApiProperty({ example: 2 })
  @IsInt()
  endpoints: number;

  /** Number of messages whose payload, header values and channels were erased. */
  @ApiProperty({ example: 1204 })
  @IsInt()
  messages: number;

  /** Number of waiting deliveries that were ended. */
  @ApiProperty({ example: 3 })
  @IsInt()
  deliveries: number;

  /** Number of attempts whose excerpt of the receiver's response was erased. */
  @ApiProperty({ example: 2410 })
  @IsInt()
  attempts: number;
}

/** Result of a dry run of a replay. */
export class DryRunResult {
  /** Id of this replay request. */
  @ApiProperty({ example: 'rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  replay_id: string;

  /** Always `true` in this response. */
  @ApiProperty({ example: true })
  @IsBoolean()
  dry_run: boolean;

  /** Number of events that were examined. */
  @ApiProperty({ example: 120 })
  @IsInt()
  scanned: number;

  /** Number of events that would be sent again. */
  @ApiProperty({ example: 115 })
  @IsInt()
  replayed: number;

  /** Number of deliveries that would be created. */
  @ApiProperty({ example: 230 })
  @IsInt()
  enqueued: number;

  /** Number of events that match no route. */
  @ApiProperty({ example: 3 })
  @IsInt()
  skipped: number;

  /**
   * Number of events that cannot be replayed: quarantined, parked, dropped by the transform, or with an erased payload.
   * Also includes emails that were canceled before their scheduled time.
   */
  @ApiProperty({ example: 2 })
  @IsInt()
  excluded: number;

  /** Ids of the destinations that would receive the events. */
  @ApiProperty({ example: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] })
  @IsArray()
  @IsString({ each: true })
  destinations: string[];

  /**
   * For a replay with route filters: pass this value as `cursor` to examine older events. `null` if all events were
   * examined.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** A replay job and its progress. */
export class ReplayJobItem {
  /** Id of the job. */
  @ApiProperty({ example: 'rpj_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /**
   * `range` for the events that an endpoint received in a time range, `recover` for failed deliveries to an endpoint, a
   * destination or an application, `application` for all events that were sent to an application, `requests` for
   * requests that an endpoint quarantined, parked or dropped, `erase` for the erasure of an application, `events` for
   * events that a filter selects.
   */
  @ApiProperty({ example: 'range' })
  @IsIn(JOB_KINDS)
  kind: string;

  /**
   * Subject of the job: an endpoint, a destination (`dst_`) or an application (`app_`). `null` for a job of kind
   * `events`.
   */
  @ApiProperty({ example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  endpoint: string | null;

  /** Action of a job of kind `events`. `null` for any other job. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsIn(JOB_ACTIONS)
  action: string | null;

  /** Filters of a job of kind `events`, as given in the request. `null` for any other job. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsObjectOf(() => EventFilterQuery)
  filter: EventFilterQuery | null;

  /**
   * Maximum number of events that a job of kind `events` processes, newest first. If the job ended with `scanned` equal
   * to this number, older events may remain.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsInt()
  limit: number | null;

  /** `pending` until a worker starts the job, then `running`, finally `completed`, `stopped` or `failed`. */
  @ApiProperty({ example: 'running' })
  @IsIn(JOB_STATES)
  state: string;

  /** Start of the time range, as requested. */
  @ApiProperty({ example: '2026-11-14T00:00:00.000Z' })
  @CanBeNull()
  @IsDateTime()
  since: string | null;

  /** End of the time range, as requested. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  until: string | null;

  /** State by which the events were filtered; `null` for all states. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  status: string | null;

  /** Destinations given in the request. Empty means all destinations of the routes. */
  @ApiProperty({ example: [] })
  @IsArray()
  @IsString({ each: true })
  destinations: string[];

  /** Id of the replay request. */
  @ApiProperty({ example: 'rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  replay_id: string;

  /** `true` after a stop was requested. The job stops after the batch of events that it is processing. */
  @ApiProperty({ example: false })
  @IsBoolean()
  stop_requested: boolean;

  /**
   * Number of items in the time range when the job was requested, counted up to 100,000. These are events in any state
   * for a range replay, requests for a release, and messages for an erasure. For a job of kind `events`, counted up to
   * 10,000.
   */
  @ApiProperty({ example: 120 })
  @IsInt()
  total_estimate: number;

  /** `true` if there may be more than `total_estimate` items. */
  @ApiProperty({ example: false })
  @IsBoolean()
  total_is_capped: boolean;

  /** Number of events examined so far. */
  @ApiProperty({ example: 120 })
  @IsInt()
  scanned: number;

  /** Number of events resent so far, or of requests released so far. */
  @ApiProperty({ example: 115 })
  @IsInt()
  replayed: number;

  /** Number of deliveries created so far. */
  @ApiProperty({ example: 230 })
  @IsInt()
  enqueued: number;

  /**
   * Number of events that were skipped because they match no route. A recovery also counts canceled deliveries. A
   * replay of an application also counts events for endpoints that accept no deliveries. A release also counts requests
   * that were quarantined, parked or dropped again. A job of kind `events` also counts events without targets, canceled events,
   * and events for targets that accept no deliveries.
   */
  @ApiProperty({ example: 3 })
  @IsInt()
  skipped: number;

  /**
   * Number of events that cannot be replayed: quarantined, parked, dropped by the transform, or with an erased payload.
   */
  @ApiProperty({ example: 2 })
  @IsInt()
  excluded: number;

  /** Numbers of items that an erasure has removed so far. `null` for any other job. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsObjectOf(() => ErasedItem)
  erased: ErasedItem | null;

  /**
   * For a cancellation of kind `events`: number of deliveries that it has ended so far, including those that end with
   * their attempt in flight. `null` for any other job.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsInt()
  cancelled: number | null;

  /**
   * For a job of kind `events`, which processes the newest event first: all events received since this time were
   * examined. `null` before the first event is examined, and for any other job.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  searched_to: string | null;

  /** Value of `scanned` when the job resumed after an interruption. `null` if it was not interrupted. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsInt()
  resumed_from: number | null;

  /** Ids of the destinations to which events were sent so far. */
  @ApiProperty({ example: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] })
  @IsArray()
  @IsString({ each: true })
  destinations_used: string[];

  /** Reason why the job failed. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  error: string | null;

  /** Time at which the job was requested. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** Time at which a worker started the job. */
  @ApiProperty({ example: '2026-11-21T09:30:00.010Z' })
  @CanBeNull()
  @IsDateTime()
  started_at: string | null;

  /** Time at which the job ended. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  finished_at: string | null;
}

/** Filters of the list of replay jobs. */
export class ReplayJobListQuery {
  /** Returns only jobs of this endpoint, destination or application (`app_`). */
  @ApiProperty({ example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(64)
  endpoint?: string;

  /** Returns only jobs in this state. */
  @ApiProperty({ example: 'running' })
  @CanBeOmitted()
  @IsIn(JOB_STATES)
  state?: (typeof JOB_STATES)[number];

  /**
   * Cursor of the page to return: the `next_cursor` of the previous page, requested with the same filters. Returns the
   * first page if omitted.
   */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of items to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** One page of replay jobs, newest first. */
export class ReplayJobPage {
  /** The jobs of this page. */
  @IsArrayOf(() => ReplayJobItem)
  data: ReplayJobItem[];

  /** Pass this value as `cursor` to get the next page. `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
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
