import type { Id } from '#kernel/ids.js';

/** Dead letters of targets. */
export abstract class DeadLetters {
  /** The latest events that are dead letters of each target now, newest first, at most `limit` each. */
  abstract latest(environmentId: number, targetIds: readonly Id[], limit: number): Promise<Map<Id, Id[]>>;
}
