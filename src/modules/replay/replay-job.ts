import type { Signal } from '#modules/system-events/contract.js';
import { type Id, showId } from '#kernel/ids.js';

export const JOB_STATES = ['pending', 'running', 'completed', 'stopped', 'failed'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Of the specification: order holds within so many events. */
export const PAGE_EVENTS = 1_000;

/** A page takes at most its wait and its commit: a job that made none for so long has nobody. */
export const FORGOTTEN_MS = 15_000;

/**
 * What a job does: sends again what an endpoint received in a time, what failed at a target or an application, or everything that an
 * application was sent; releases requests that an endpoint set aside; or erases an application.
 */
export const JOB_KINDS = ['range', 'recover', 'application', 'requests', 'erase'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

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
  const { environmentId, id, kind, state, error, scanned, replayed, enqueued, skipped, excluded } = job;
  const counts = { scanned, replayed, enqueued, skipped, excluded };
  const prefix = subjectOf(job);
  const subject = { [SUBJECTS[prefix]]: showId(prefix, job.endpointId) };
  const details = { replay: showId('rpj', id), kind, ...subject, state, ...(error !== null && { error }), ...counts, ...(job.erased && { erased: job.erased }) };
  return { environmentId, type: 'replay.completed', subject: id, details };
}

/** What a job is before anybody works on it. */
export type NewReplayJob = Pick<
  ReplayJob,
  | 'environmentId' | 'id' | 'kind' | 'replayId' | 'endpointId' | 'applicationId' | 'targetId' | 'includeCancelled' | 'since' | 'until' | 'status'
  | 'destinations' | 'destinationsUsed' | 'beforeId' | 'fromId' | 'totalEstimate' | 'createdAt'
>;

/** What jobs are about, by the prefixes of their ids. */
export const SUBJECTS = { ep: 'endpoint', dst: 'destination', app: 'application' } as const;

/** The prefix of the id that a job is about. */
export function subjectOf({ kind, applicationId, endpointId }: Pick<ReplayJob, 'kind' | 'applicationId' | 'endpointId'>): keyof typeof SUBJECTS {
  if (applicationId === endpointId) return 'app';
  return kind === 'recover' && applicationId === null ? 'dst' : 'ep';
}
