import { isStorageAway } from './database.js';
import { GroupCommit } from './group-commit.js';

/** Under load this makes one statement of what would be several; who comes alone is asked for at once. */
const GAP_MS = 2;

/**
 * Reads of one kind that many ask for at about the same time, in one statement: what is asked for while one runs goes with the
 * next. Nothing is remembered, so that every answer is of a moment after its question. `read` answers in the order of its keys, on
 * a connection of no transaction.
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

  /** Throws what reading throws. */
  get(key: K): Promise<V> {
    return this.group.add(key);
  }
}
