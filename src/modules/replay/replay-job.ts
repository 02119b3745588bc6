import { createHash } from 'node:crypto';
import { type Id, idFromBytes, showId } from '#kernel/ids.js';
import type { EventSelection, SelectionQuery } from '#modules/events/event-selection.contract.js';
import type { Signal } from '#modules/system-events/contract.js';

export const JOB_STATES = ['pending', 'running', 'completed', 'stopped', 'failed'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Number of events per page. Events keep their order within a page. */
export const PAGE_EVENTS = 1_000;

/** Maximum to which a request counts the events of a new job. The job itself determines the exact number. */
export const ESTIMATE_MAX = 100_000;

/**
 * Time without progress after which a job counts as abandoned. A page takes less time, including its pause and commit.
 */
export const FORGOTTEN_MS = 15_000;

/**
 * Kinds of jobs: `range` resends events that an endpoint received in a time range. `recover` resends failed deliveries
 * to a target or an application. `application` resends all events of an application. `requests` releases requests that
 * were not routed. `erase` erases an application. `events` resends or cancels the events that a filter selects.
 */
export const JOB_KINDS = ['range', 'recover', 'application', 'requests', 'erase', 'events'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** Maximum number of events of a job by filter. To process older events, start another job with an `until`. */
export const EVENTS_MAX = 1_000_000;

export const JOB_ACTIONS = ['replay', 'recover', 'cancel'] as const;
export type JobAction = (typeof JOB_ACTIONS)[number];

export interface JobSelection {
  action: JobAction;
  /** The filter as the caller passed it. */
  query: SelectionQuery;
  /** The parsed filter. The range of ids is part of the job. */
  filter: EventSelection;
  /** Maximum number of events. The newest events are processed first. */
  max: number;
  /** True if there may be more events than the estimate. */
  isCapped: boolean;
}

/**
 * Returns an id that a job without an endpoint, which processes events by filter, stores as `endpointId`. It depends on
 * the action (send or cancel) and on the target in the filter or, without a target, on the environment.
 *
 * While such a job is unfinished, no other job with the same id can start. The id is a version 8 UUID, so it differs
 * from all other ids.
 */
export function subjectOfSelection(
  action: JobAction,
  { destinationId, targetId, endpointId, applicationId, messageId }: Partial<EventSelection>,
): Id {
  const names = [destinationId, targetId, endpointId, applicationId, messageId].map((id) => id ?? '');
  const bytes = createHash('sha256')
    .update([action === 'cancel' ? 'cancel' : 'send', ...names].join(' '))
    .digest()
    .subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return idFromBytes(bytes);
}

export interface Erased {
  endpoints: number;
  /** Number of messages whose payload, header values and channels were erased. */
  messages: number;
  deliveries: number;
  /** Number of attempts whose excerpt of the receiver's response was erased. */
  attempts: number;
}

export interface ReplayJob {
  environmentId: number;
  id: Id;
  kind: JobKind;
  replayId: Id;
  /**
   * Subject of the job: the id of an inbound endpoint, application, application's endpoint or destination. For the kind
   * `events`, the result of `subjectOfSelection`. Only one job per subject can be pending or running.
   */
  endpointId: Id;
  /** Set for a job over an application or its endpoint. `null` for a destination or an inbound endpoint. */
  applicationId: Id | null;
  /** For a recovery: the target of the failed deliveries. */
  targetId: Id | null;
  /** For a recovery: true if canceled deliveries are resent as well. */
  includeCancelled: boolean;
  state: JobState;
  since: Date | null;
  until: Date | null;
  /** State of the events to send. `null` for all states. */
  status: string | null;
  /** Destinations to send to. `null` for all destinations of the routes. */
  destinations: Id[] | null;
  destinationsUsed: Id[];
  stopRequested: boolean;
  /** Exclusive upper bound of ids for the next page, which contains only older events. */
  beforeId: Id;
  fromId: Id;
  totalEstimate: number;
  scanned: number;
  replayed: number;
  enqueued: number;
  skipped: number;
  excluded: number;
  /** Set only for a job of kind `events`. */
  selection: JobSelection | null;
  /** For a cancellation: number of deliveries that it has ended so far, or marked to end. */
  cancelled: number;
  /** For an erasure: numbers of items removed so far. */
  erased: Erased | null;
  /** Value of `scanned` when another process resumed the job. `null` if the job was not resumed. */
  resumedFrom: number | null;
  error: string | null;
  failures: number;
  runner: Id | null;
  createdAt: Date;
  startedAt: Date | null;
  pageAt: Date | null;
  finishedAt: Date | null;
}

export function endOf(job: ReplayJob): Signal {
  const { environmentId, id, kind, state, error, scanned, replayed, enqueued, skipped, excluded, cancelled } = job;
  const counts = {
    scanned,
    replayed,
    enqueued,
    skipped,
    excluded,
    ...(job.selection?.action === 'cancel' && { cancelled }),
  };
  const prefix = subjectOf(job);
  const subject = job.selection
    ? { action: job.selection.action }
    : { [SUBJECTS[prefix]]: showId(prefix, job.endpointId) };
  const details = {
    replay: showId('rpj', id),
    kind,
    ...subject,
    state,
    ...(error !== null && { error }),
    ...counts,
    ...(job.erased && { erased: job.erased }),
  };
  return { environmentId, type: 'replay.completed', subject: id, details };
}

export type NewReplayJob = Pick<
  ReplayJob,
  | 'environmentId'
  | 'id'
  | 'kind'
  | 'replayId'
  | 'endpointId'
  | 'applicationId'
  | 'targetId'
  | 'includeCancelled'
  | 'since'
  | 'until'
  | 'status'
  | 'destinations'
  | 'destinationsUsed'
  | 'beforeId'
  | 'fromId'
  | 'totalEstimate'
  | 'createdAt'
> &
  Partial<Pick<ReplayJob, 'selection'>>;

export const SUBJECTS = { ep: 'endpoint', dst: 'destination', app: 'application' } as const;

export function subjectOf({
  kind,
  applicationId,
  endpointId,
}: Pick<ReplayJob, 'kind' | 'applicationId' | 'endpointId'>): keyof typeof SUBJECTS {
  if (applicationId === endpointId) return 'app';
  return kind === 'recover' && applicationId === null ? 'dst' : 'ep';
}
