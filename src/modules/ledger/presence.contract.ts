import type { Id } from '#kernel/ids.js';

/** Who is alive. A claim by anyone else is no claim. */
export abstract class Presence {
  /** Registers or renews; false when this worker was declared dead and must take a new id. */
  abstract beat(worker: { id: Id; host: string; pid: number; leaseMs: number }): Promise<boolean>;

  /** Frees the claims of workers whose lease has ended; returns how many deliveries that freed. */
  abstract reap(): Promise<number>;

  /** Leaves: frees what this worker still holds. */
  abstract leave(id: Id): Promise<void>;
}
