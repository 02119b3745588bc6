import { createHash } from 'node:crypto';
import { type Id, idFromBytes, showId } from '#kernel/ids.js';
import type { EventSelection, SelectionQuery } from '#modules/events/event-selection.contract.js';
import type { Signal } from '#modules/system-events/contract.js';

export const JOB_STATES = ['pending', 'running', 'completed', 'stopped', 'failed'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Of the specification: order holds within so many events. */
export const PAGE_EVENTS = 1_000;

/** A count on a request goes no further; the job knows the rest when it is done. */
export const ESTIMATE_MAX = 100_000;

/** A page takes at most its wait and its commit: a job that made none for so long has nobody. */
export const FORGOTTEN_MS = 15_000;

/**
 * What a job does: sends again what an endpoint received in a time, what failed at a target or an application, or everything that an
 * application was sent; releases requests that an endpoint set aside; erases an application; or sends again, or cancels, what a
 * list of events shows.
 */
export const JOB_KINDS = ['range', 'recover', 'application', 'requests', 'erase', 'events'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** So many events a job over a list looks at; whoever has more starts the next one with an `until`. */
export const EVENTS_MAX = 1_000_000;

export const JOB_ACTIONS = ['replay', 'recover', 'cancel'] as const;
export type JobAction = (typeof JOB_ACTIONS)[number];

/** What a job over a list of events does, and with which of them. */
export interface JobSelection {
  action: JobAction;
  /** As the caller gave it. */
  query: SelectionQuery;
  /** What it stands for. The range of ids is that of the job. */
  filter: EventSelection;
  /** So many events at most, the newest ones. */
  max: number;
  /** Whether there may be more than the estimate. */
  isCapped: boolean;
}

/**
 * What has one live job over a list of events at a time: sending again, and cancelling, of whatever the filter names, or of the whole
 * environment. A uuid of version 8, which no id of anything else looks like.
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

/** What an erasure did away with. */
export interface Erased {
  /** Endpoints of the application, which went with it. */
  endpoints: number;
  /** Messages whose payload, header values and channels are gone. */
  messages: number;
  /** Deliveries that waited, and were ended. */
  deliveries: number;
  /** Attempts whose excerpt of the receiver's answer is gone. */
  attempts: number;
}

/** A replay of many events, and how far it has come. */
export interface ReplayJob {
  environmentId: number;
  id: Id;
  kind: JobKind;
  replayId: Id;
  /** What has one live job at a time: an endpoint that receives, an application, an application's endpoint, or a destination. */
  endpointId: Id;
  /** The application, or that of the endpoint of a recovery; null for a destination, and for an endpoint that receives. */
  applicationId: Id | null;
  /** Of a recovery: where the deliveries failed. */
  targetId: Id | null;
  /** Of a recovery: whether what was cancelled is sent too. */
  includeCancelled: boolean;
  state: JobState;
  since: Date | null;
  until: Date | null;
  /** Only events in this state, or any. */
  status: string | null;
  /** The destinations that the caller named; null for all that the routes target. */
  destinations: Id[] | null;
  destinationsUsed: Id[];
  stopRequested: boolean;
  /** The next page is older than this. */
  beforeId: Id;
  fromId: Id;
  totalEstimate: number;
  scanned: number;
  replayed: number;
  enqueued: number;
  skipped: number;
  excluded: number;
  /** Of a job over a list of events. */
  selection: JobSelection | null;
  /** Of a cancellation: how many deliveries it ended so far, or marked to end. */
  cancelled: number;
  /** Of an erasure: what it did away with so far. */
  erased: Erased | null;
  /** What was scanned when another process went on with it. */
  resumedFrom: number | null;
  error: string | null;
  failures: number;
  /** The process that works on it. */
  runner: Id | null;
  createdAt: Date;
  startedAt: Date | null;
  pageAt: Date | null;
  finishedAt: Date | null;
}

/** What is told of a job that is over. */
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

/** What a job is before anybody works on it. */
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

/** What jobs are about, by the prefixes of their ids. */
export const SUBJECTS = { ep: 'endpoint', dst: 'destination', app: 'application' } as const;

/** The prefix of the id that a job is about. */
export function subjectOf({
  kind,
  applicationId,
  endpointId,
}: Pick<ReplayJob, 'kind' | 'applicationId' | 'endpointId'>): keyof typeof SUBJECTS {
  if (applicationId === endpointId) return 'app';
  return kind === 'recover' && applicationId === null ? 'dst' : 'ep';
}
