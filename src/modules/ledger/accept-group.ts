import { sqlState } from '#kernel/database.js';

/** A group that PostgreSQL refused, and how to write it again. */
export interface RefusedGroup<T> {
  items: readonly T[];
  error: unknown;
  /** True when the partitions were made for this very item already. */
  partitionsMade: boolean;
  ensurePartitions: () => Promise<void>;
  write: (items: T[], partitionsMade?: boolean) => Promise<(void | Error)[]>;
}

/** Writes a group again, one by one: one item that PostgreSQL refuses must not fail those that travelled with it. */
export async function oneByOne<T>({ items, error, partitionsMade, ensurePartitions, write }: RefusedGroup<T>): Promise<(void | Error)[]> {
  const [only] = items;
  if (items.length === 1 && only !== undefined) {
    // It expires beyond the last partition: retention was raised since they were made.
    if (sqlState(error) !== '23514' || partitionsMade) throw error;
    await ensurePartitions();
    return write([only], true);
  }
  const results: (void | Error)[] = [];
  for (const item of items) results.push(await write([item]).then(([first]) => first, (failure: Error) => failure));
  return results;
}
