/** One promise of a destination type. */
export interface ConformanceCheck {
  /** What is promised. */
  name: string;
  /** Rejects when it does not hold. Takes up to a minute. */
  run(): Promise<void>;
}
