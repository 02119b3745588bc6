/** The daily partitions of the tables that have a retention. */
export abstract class KeptDays {
  /** Runs in its own transaction. Call it after an insert failed with 23514: retention has just changed then. */
  abstract ensure(): Promise<void>;
}
