/** One guarantee of a destination type. */
export interface ConformanceCheck {
  name: string;
  /** Rejects if the guarantee does not hold. Takes up to one minute. */
  run(): Promise<void>;
}
