import type { Id } from '#kernel/ids.js';

/** Deliveries that failed after they were recorded as delivered, such as a bounce after the relay accepted an email. */
export abstract class LateFailures {
  /**
   * Marks delivered deliveries of an event as failed, inside the caller's transaction. Ignores deliveries that do not
   * determine the event's status. Attempts and metrics stay, because the attempts took place. Safe to repeat.
   */
  abstract fail(environmentId: number, event: { id: Id; expiresOn: string }, reason: string): Promise<void>;
}
