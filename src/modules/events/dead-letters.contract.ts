import type { Id } from '#kernel/ids.js';

export abstract class DeadLetters {
  /** Returns events that are currently dead letters, newest first, at most `limit` per target. */
  abstract latest(environmentId: number, targetIds: readonly Id[], limit: number): Promise<Map<Id, Id[]>>;
}
