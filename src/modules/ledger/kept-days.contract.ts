/** The days that the tables with a retention have partitions of. */
export abstract class KeptDays {
  /**
   * Makes what is missing for what is accepted now, committed by itself: for whoever was refused a row (23514) because a retention
   * was changed a moment ago.
   */
  abstract ensure(): Promise<void>;
}
