import type { Id } from '#kernel/ids.js';

/** `transform_failed` are the parked requests whose transform failed. `dropped` are those that the transform dropped. */
export const SET_ASIDE_STATUSES = ['quarantined', 'parked', 'transform_failed', 'dropped'] as const;

/** Requests of an endpoint that were not routed, as a range of ids. The end of the range is exclusive. */
export interface SetAsideRange {
  environmentId: number;
  endpointId: Id;
  status: (typeof SET_ASIDE_STATUSES)[number];
  fromId: Id;
  beforeId: Id;
}

export interface Released {
  /** False if the request was quarantined, parked or dropped again instead of routed. */
  isReleased: boolean;
  deliveries: number;
}
