import type { Id } from '#kernel/ids.js';

/** Deliveries that failed after they were recorded as delivered, such as a bounce after the relay accepted an email. */
export abstract class LateFailures {
  /**
   * Marks an event's delivered deliveries, of those that determine its status, as failed, inside the caller's
   * transaction. Attempts and metrics stay, because the attempts took place. Safe to repeat.
   */
  abstract fail(environmentId: number, event: { id: Id; expiresOn: string }, reason: string): Promise<void>;
}
