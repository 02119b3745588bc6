/** A check of one guarantee that an extension must keep. */
export interface ConformanceCheck {
  name: string;
  /** Rejects if the guarantee does not hold. Takes up to one minute. */
  run(): Promise<void>;
}
