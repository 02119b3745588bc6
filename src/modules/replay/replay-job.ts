import type { Id } from '#kernel/ids.js';

export const JOB_STATES = ['pending', 'running', 'completed', 'stopped', 'failed'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** A page takes at most its wait and its commit: a job that made none for so long has nobody. */
export const FORGOTTEN_MS = 15_000;

/** A range replay and how far it has come. */
export interface ReplayJob {
  environmentId: number;
  id: Id;
  replayId: Id;
  endpointId: Id;
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
