import type { Id } from '#kernel/ids.js';

/** Deliveries that nobody is making at the moment. */
export interface WaitingDeliveries {
  count: number;
  /** True when there are at least `count`: no more are looked at. */
  isCapped: boolean;
  /** When the earliest of those that were tried before is due; null without one. */
  nextAttemptAt: Date | null;
}

/** How much waits. */
export abstract class Waiting {
  /** For a target: what an endpoint sent there, or (null) what came to it by itself. */
  abstract count(environmentId: number, targetId: Id, endpointId: Id | null): Promise<WaitingDeliveries>;
}
