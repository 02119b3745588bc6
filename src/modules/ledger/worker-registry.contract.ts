import type { Id } from '#kernel/ids.js';

/** A claim is valid only while its worker is registered. */
export abstract class WorkerRegistry {
  /** Registers or renews a worker's ids. Returns the living; all others were declared dead and need replacing. */
  abstract beat(worker: { ids: readonly Id[]; host: string; pid: number; leaseMs: number }): Promise<ReadonlySet<Id>>;

  /** Returns the number of deliveries freed from workers whose lease has expired. */
  abstract reap(): Promise<number>;

  /** Also frees its remaining claims. */
  abstract remove(id: Id): Promise<void>;
}
