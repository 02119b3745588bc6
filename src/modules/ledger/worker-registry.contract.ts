import type { Id } from '#kernel/ids.js';

/** Registry of live workers. A claim is valid only while its worker is registered. */
export abstract class WorkerRegistry {
  /**
   * Registers or renews all ids of one worker. Returns the ids that are alive. All others were declared dead and must
   * be replaced.
   */
  abstract beat(worker: { ids: readonly Id[]; host: string; pid: number; leaseMs: number }): Promise<ReadonlySet<Id>>;

  /** Frees the claims of workers whose lease has expired. Returns the number of freed deliveries. */
  abstract reap(): Promise<number>;

  /** Unregisters a worker id and frees its remaining claims. */
  abstract remove(id: Id): Promise<void>;
}
