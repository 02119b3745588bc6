/** The days that the tables with a retention have partitions of. */
export abstract class KeptDays {
  /**
   * Makes what is missing up to the end of the longest retention, committed by itself: for whoever was refused a row (23514)
   * because retention was raised a moment ago.
   */
  abstract ensure(): Promise<void>;
}
