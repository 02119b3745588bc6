import type { Id } from '#kernel/ids.js';

/** Who is alive. A claim by anyone else is no claim. */
export abstract class WorkerRegistry {
  /** Registers or renews all of these names of one worker; returns those that live. Any other was declared dead, and is to be replaced. */
  abstract beat(worker: { ids: readonly Id[]; host: string; pid: number; leaseMs: number }): Promise<ReadonlySet<Id>>;

  /** Frees the claims of workers whose lease has ended; returns how many deliveries that freed. */
  abstract reap(): Promise<number>;

  /** Leaves: frees what this worker still holds. */
  abstract remove(id: Id): Promise<void>;
}
