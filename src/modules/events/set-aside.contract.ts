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
  /** False if the request was quarantined or parked again. */
  isReleased: boolean;
  deliveries: number;
}

/** Quarantined and parked requests, and their releases. Duplicates count as the request that they repeat. */
export abstract class SetAsideRequests {
  /** Lists the requests that are not released yet, oldest first, and whether their bodies were erased. */
  abstract page(range: SetAsideRange, limit: number): Promise<{ id: Id; isErased: boolean }[]>;

  /** `excluded` counts those that were erased. */
  abstract count(range: SetAsideRange, max: number): Promise<{ scanned: number; excluded: number }>;

  /** Records on a request, and on the one it repeats, the event made of it, unless that was set aside too. */
  abstract note(environmentId: number, requestIds: readonly Id[], madeId: Id): Promise<Released>;
}
