/** The daily partitions of the tables that have a retention. */
export abstract class KeptDays {
  /**
   * Creates the missing partitions for rows inserted now, in a transaction of its own. Call it after an insert failed
   * with 23514 because a retention setting has just changed.
   */
  abstract ensure(): Promise<void>;
}
