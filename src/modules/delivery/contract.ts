import type { AttemptError } from '#engine/outcome.js';

/** An attempt that is on record. */
export interface AttemptReport {
  environmentId: number;
  /** `msg_…` or `evt_…`, as receivers know it. */
  webhookId: string;
  eventType: string;
  /** `dst_…`; null for an ad-hoc URL. Of an endpoint of an application it is the destination that the endpoint owns. */
  destination: string | null;
  /** The destination's type. */
  type: string;
  /** Counts the attempts of the delivery from 1. */
  number: number;
  startedAt: Date;
  durationMs: number;
  /** HTTP status of the answer; null when there was none. */
  status: number | null;
  /** Why there was no answer. */
  error: AttemptError | null;
  replayed: boolean;
}

/** An attempt that did not deliver, and what follows. */
export interface FailedAttemptReport extends AttemptReport {
  /** `retrying`, or the end: `failed` for good, `dlq` when the attempts are used up. */
  next: 'retrying' | 'failed' | 'dlq';
  /** In how many milliseconds it is tried again; null at the end. */
  retryInMs: number | null;
}

/**
 * Hears of attempts in the process that made them, right after they are on record: for figures, traces and caches. Any
 * provider of an extension that extends this is one. What it hears is told once and kept nowhere: a process that dies
 * tells nothing. What has to be heard comes as `SystemEvents`. It is not waited for, and its errors are logged.
 */
export abstract class DeliveryListener {
  /** A delivery has arrived. Never for what is fetched: nobody attempts that. */
  delivered?(report: AttemptReport): void | Promise<void>;

  /** An attempt has failed, or its target asked for less. */
  attemptFailed?(report: FailedAttemptReport): void | Promise<void>;
}
