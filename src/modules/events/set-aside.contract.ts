import type { Id } from '#kernel/ids.js';

/** Quarantined and parked requests of an endpoint, as a range of ids. The end of the range is exclusive. */
export interface SetAsideRange {
  environmentId: number;
  endpointId: Id;
  status: 'quarantined' | 'parked';
  fromId: Id;
  beforeId: Id;
}

export interface Released {
  /** False if the request was quarantined or parked again instead of routed. */
  isReleased: boolean;
  deliveries: number;
}

/** Reads quarantined and parked requests, and records their releases. Repeats of a request are not returned separately. */
export abstract class SetAsideRequests {
  /** Lists requests that are still quarantined or parked, oldest first, and whether their bodies were erased. */
  abstract page(range: SetAsideRange, limit: number): Promise<{ id: Id; isErased: boolean }[]>;

  /** Counts requests of the range. `excluded` counts those that were erased. */
  abstract count(range: SetAsideRange, max: number): Promise<{ scanned: number; excluded: number }>;

  /** Marks requests as released by the event made of them, unless that event was quarantined or parked itself. */
  abstract note(environmentId: number, requestIds: readonly Id[], madeId: Id): Promise<Released>;
}
