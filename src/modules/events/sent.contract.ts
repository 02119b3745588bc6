import type { Id } from '#kernel/ids.js';

/** Which events to look at: those that were fanned out to some endpoints, from one id to before another. */
export interface SentRange {
  environmentId: number;
  endpointIds: readonly Id[];
  fromId: Id;
  beforeId: Id;
}

/** An event of a fan-out, for sending it again. */
export interface SentRow {
  id: Id;
  /** The day of its partition, as `YYYY-MM-DD`. */
  expiresOn: string;
  endpointId: Id;
  /** True when there is no payload to send any more. */
  isGone: boolean;
}

/** What was sent to endpoints of applications. */
export abstract class SentEvents {
  /** Newest first. */
  abstract page(range: SentRange, limit: number): Promise<SentRow[]>;

  /** How many there are; counts up to `max`. */
  abstract count(range: SentRange, max: number): Promise<number>;
}
