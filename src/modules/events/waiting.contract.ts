import type { Id } from '#kernel/ids.js';

/** Deliveries that are waiting, with no attempt in flight. */
export interface WaitingDeliveries {
  count: number;
  /** True if there may be more than `count`, because counting stopped at a limit. */
  isCapped: boolean;
  /** When the earliest delivery that was already attempted is due; null if there is none. */
  nextAttemptAt: Date | null;
}

export abstract class Waiting {
  /** Deliveries that the endpoint routed to the target or, if `endpointId` is null, that were sent to it directly. */
  abstract count(environmentId: number, targetId: Id, endpointId: Id | null): Promise<WaitingDeliveries>;
}
