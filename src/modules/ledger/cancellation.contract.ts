import type { Id } from '#kernel/ids.js';

/** Reason to end a delivery early: it was canceled through the API, or its payload was erased. */
export type CancelReason = 'cancelled' | 'erased';

export interface WaitingSelection {
  environmentId: number;
  targetId: Id;
  /** Restricts the selection to deliveries of this endpoint; null for all deliveries of the target. */
  endpointId: Id | null;
  /** Restricts the selection to events of exactly this type; null for any type. */
  eventType: string | null;
  /** Exclusive upper bound of event ids. Null selects all events accepted before the call. */
  beforeId: Id | null;
}
