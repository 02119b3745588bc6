import type { Id } from '#kernel/ids.js';

/** Registered workers and their leases. A claim is valid only while its worker is registered. */
export abstract class WorkerRegistry {
  /**
   * Registers a worker's ids or renews their leases. Returns the ids that are still valid. The worker must replace ids
   * that are no longer valid.
   */
  abstract beat(worker: { ids: readonly Id[]; host: string; pid: number; leaseMs: number }): Promise<ReadonlySet<Id>>;

  /** Releases the deliveries of workers whose lease has expired. Returns the number of released deliveries. */
  abstract reap(): Promise<number>;

  /** Removes an id and releases its remaining claims. */
  abstract remove(id: Id): Promise<void>;
}
