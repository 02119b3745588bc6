import type { Id } from '#kernel/ids.js';

/** What was delivered, and turned out later not to have arrived: a bounce after the relay took an email. */
export abstract class LateFailures {
  /**
   * Turns the delivered deliveries of an event that stand for its status into failed ones with this reason, inside the
   * caller's transaction. Its attempts and metrics stay: they happened. Safe to repeat.
   */
  abstract fail(environmentId: number, event: { id: Id; expiresOn: string }, reason: string): Promise<void>;
}
