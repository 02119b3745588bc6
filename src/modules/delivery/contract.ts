import type { AttemptError } from '#engine/outcome.js';

export interface AttemptReport {
  environmentId: number;
  /** `msg_…` or `evt_…`, as receivers see it in the `webhook-id` header. */
  webhookId: string;
  eventType: string;
  /** `dst_…`, or null for an ad-hoc URL. For an application's endpoint, the destination that the endpoint owns. */
  destination: string | null;
  type: string;
  /** Number of the attempt within its delivery, starting at 1. */
  number: number;
  startedAt: Date;
  durationMs: number;
  /** HTTP status of the response. Null if there was none. */
  status: number | null;
  /** Reason why there was no response. Null if there was one. */
  error: AttemptError | null;
  replayed: boolean;
}

export interface FailedAttemptReport extends AttemptReport {
  /** `retrying`, or the final status: `failed` if a retry cannot help, `dlq` when the attempts are used up. */
  next: 'retrying' | 'failed' | 'dlq';
  /** Time until the next attempt. Null if there is none. */
  retryInMs: number | null;
}

/**
 * Observes attempts in the process that made them, right after they are recorded. Intended for metrics, traces and
 * caches. A provider of an extension is registered as a listener if its class extends this one.
 *
 * Calls are neither persisted nor repeated: if the process crashes, they are lost. Use `SystemEvents` for reliable
 * notifications. Posthorn does not wait for a listener, and logs its errors.
 */
export abstract class DeliveryListener {
  /** Called after a successful delivery. Not called for pulled deliveries, because nothing is sent for them. */
  delivered?(report: AttemptReport): void | Promise<void>;

  /** Called after a failed attempt, and after a response that requests a lower rate. */
  attemptFailed?(report: FailedAttemptReport): void | Promise<void>;
}
