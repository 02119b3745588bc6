import type { Id } from '#kernel/ids.js';

/** Registered workers and their leases. A claim is valid only while its worker is registered. */
export abstract class WorkerRegistry {
  /** Registers or renews a worker's ids. Returns the live ids. The others were declared dead and must be replaced. */
  abstract beat(worker: { ids: readonly Id[]; host: string; pid: number; leaseMs: number }): Promise<ReadonlySet<Id>>;

  /** Returns the number of deliveries freed from workers whose lease has expired. */
  abstract reap(): Promise<number>;

  /** Removes an id and frees its remaining claims. */
  abstract remove(id: Id): Promise<void>;
}
