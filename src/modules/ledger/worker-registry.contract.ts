import type { Id } from '#kernel/ids.js';

/** Registered workers and their leases. A claim is valid only while its worker is registered. */
export abstract class WorkerRegistry {
  /** Registers or renews a worker's ids. Returns the live ids. Other ids were declared dead and must be replaced. */
  abstract beat(worker: { ids: readonly Id[]; host: string; pid: number; leaseMs: number }): Promise<ReadonlySet<Id>>;

  /** Frees the deliveries of workers whose lease has expired. Returns the number of freed deliveries. */
  abstract reap(): Promise<number>;

  /** Removes an id and frees its remaining claims. */
  abstract remove(id: Id): Promise<void>;
}
