import type { Id } from '#kernel/ids.js';

/** Quarantined and parked requests of an endpoint, as a range of ids. The end of the range is exclusive. */
export interface SetAsideRange {
  environmentId: number;
  endpointId: Id;
  status: 'quarantined' | 'parked';
  fromId: Id;
  beforeId: Id;
}

/** The result of processing a request again at its endpoint. */
export interface Released {
  /** False if the request was quarantined or parked again. */
  isReleased: boolean;
  /** Number of deliveries created. */
  deliveries: number;
}

/**
 * Requests that endpoints quarantined or parked, and their releases. Duplicates count as the request that they repeat.
 */
export abstract class SetAsideRequests {
  /** Lists the requests that are not released yet, oldest first, and whether their bodies were erased. */
  abstract page(range: SetAsideRange, limit: number): Promise<{ id: Id; isErased: boolean }[]>;

  /** Counts the requests of the range, and those that were erased. */
  abstract count(range: SetAsideRange, max: number): Promise<{ scanned: number; excluded: number }>;

  /**
   * Records on a request, and on the one that it repeats, that the event `madeId` was created from it, unless that
   * event was set aside too.
   */
  abstract note(environmentId: number, requestIds: readonly Id[], madeId: Id): Promise<Released>;
}
