import { isStorageAway } from './database.js';
import { GroupCommit } from './group-commit.js';

/** Minimum time between two statements. Under load, reads are combined. A single read runs immediately. */
const GAP_MS = 2;

/**
 * Batches concurrent reads into one statement. Reads that arrive while a statement runs form the next batch. Nothing is
 * cached, so a result is never older than its request. `read` returns one value per key, in the order of the keys, and
 * uses no transaction.
 */
export class GroupedReads<K, V> {
  private readonly group: GroupCommit<K, V>;

  constructor(read: (keys: readonly K[]) => Promise<V[]>, keysMax: number) {
    this.group = new GroupCommit<K, V>({
      write: (keys) => read(keys),
      isOfOne: (error) => !isStorageAway(error),
      itemsMax: keysMax,
      weigh: () => 1,
      weightMax: keysMax,
      lingerMs: 0,
      gapMs: GAP_MS,
    });
  }

  /** Returns the value of a key. Rejects with the error of `read`. */
  get(key: K): Promise<V> {
    return this.group.add(key);
  }
}
