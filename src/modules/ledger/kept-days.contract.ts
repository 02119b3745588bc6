/** The daily partitions of the tables that have a retention. */
export abstract class KeptDays {
  /** In a transaction of its own. Call it after an insert failed with 23514, as retention has just changed. */
  abstract ensure(): Promise<void>;
}
