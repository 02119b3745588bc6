import type { Id } from '#kernel/ids.js';

/** Dead letters by target. */
export abstract class DeadLetters {
  /**
   * Returns the latest events that are currently dead letters of each target, newest first, at most `limit` per target.
   */
  abstract latest(environmentId: number, targetIds: readonly Id[], limit: number): Promise<Map<Id, Id[]>>;
}
