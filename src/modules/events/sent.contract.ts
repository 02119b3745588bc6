import type { Id } from '#kernel/ids.js';

/** Events that were fanned out to the given endpoints, as a range of ids. The end of the range is exclusive. */
export interface SentRange {
  environmentId: number;
  endpointIds: readonly Id[];
  fromId: Id;
  beforeId: Id;
}

/** An event of a fan-out, as needed for a replay. */
export interface SentRow {
  id: Id;
  /** Day of the event's partition, as `YYYY-MM-DD`. */
  expiresOn: string;
  endpointId: Id;
  /** True if the payload no longer exists. */
  isGone: boolean;
}

/** Events that were sent to endpoints of applications. */
export abstract class SentEvents {
  /** Lists events, newest first. */
  abstract page(range: SentRange, limit: number): Promise<SentRow[]>;

  /** Counts the events of the range, up to `max`. */
  abstract count(range: SentRange, max: number): Promise<number>;
}
