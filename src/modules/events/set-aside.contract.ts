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
