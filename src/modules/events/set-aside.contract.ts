import type { Id } from '#kernel/ids.js';

/**
 * Statuses of requests that were not routed. `transform_failed`: parked, because the endpoint's transform failed.
 * `dropped`: discarded by the endpoint's transform.
 */
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
