import type { Id } from '#kernel/ids.js';

/** Requests that an endpoint set aside: from one id to before another. */
export interface SetAsideRange {
  environmentId: number;
  endpointId: Id;
  status: 'quarantined' | 'parked';
  fromId: Id;
  beforeId: Id;
}

/** What became of a request that was run through its endpoint once more. */
export interface Released {
  /** False when it was set aside once more. */
  isReleased: boolean;
  /** Deliveries that it made. */
  deliveries: number;
}

/** What endpoints quarantined and parked, and what was released of it. Repetitions count as the request that they repeat. */
export abstract class SetAsideRequests {
  /** Those that are not released yet, oldest first, and whether their bodies were erased. */
  abstract page(range: SetAsideRange, limit: number): Promise<{ id: Id; isErased: boolean }[]>;

  /** How many there are, and how many of them were erased. */
  abstract count(range: SetAsideRange, max: number): Promise<{ scanned: number; excluded: number }>;

  /** Notes on a request, and on the one that it repeats, that `madeId` came of it, unless that was set aside too. */
  abstract note(environmentId: number, requestIds: readonly Id[], madeId: Id): Promise<Released>;
}
