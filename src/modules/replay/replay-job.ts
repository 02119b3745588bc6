import type { Signal } from '#modules/system-events/contract.js';
import { type Id, showId } from '#kernel/ids.js';

export const JOB_STATES = ['pending', 'running', 'completed', 'stopped', 'failed'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Of the specification: order holds within so many events. */
export const PAGE_EVENTS = 1_000;

/** A page takes at most its wait and its commit: a job that made none for so long has nobody. */
export const FORGOTTEN_MS = 15_000;

/** What a job sends again: what an endpoint received in a time, or what failed at a target. */
export const JOB_KINDS = ['range', 'recover'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** A replay of many events, and how far it has come. */
export interface ReplayJob {
  environmentId: number;
  id: Id;
  kind: JobKind;
  replayId: Id;
  /** What has one live job at a time: an endpoint that receives, an application's endpoint, or a destination. */
  endpointId: Id;
  /** Of a recovery: the application of the endpoint; null for a destination. */
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
  const { environmentId, id, kind, state, error, scanned, replayed, enqueued, skipped, excluded } = job;
  const counts = { scanned, replayed, enqueued, skipped, excluded };
  const prefix = subjectOf(job);
  const subject = { [prefix === 'dst' ? 'destination' : 'endpoint']: showId(prefix, job.endpointId) };
  const details = { replay: showId('rpj', id), kind, ...subject, state, ...(error !== null && { error }), ...counts };
  return { environmentId, type: 'replay.completed', subject: id, details };
}

/** What a job is before anybody works on it. */
export type NewReplayJob = Pick<
  ReplayJob,
  | 'environmentId' | 'id' | 'kind' | 'replayId' | 'endpointId' | 'applicationId' | 'targetId' | 'includeCancelled' | 'since' | 'until' | 'status'
  | 'destinations' | 'destinationsUsed' | 'beforeId' | 'fromId' | 'totalEstimate' | 'createdAt'
>;

/** The prefix of the id that a job is about. */
export function subjectOf({ kind, applicationId }: Pick<ReplayJob, 'kind' | 'applicationId'>): 'ep' | 'dst' {
  return kind === 'recover' && applicationId === null ? 'dst' : 'ep';
}
