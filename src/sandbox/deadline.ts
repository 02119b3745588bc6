import { monotonicMs } from './thread-cpu.js';

/** Time at which a call must have ended, however little CPU time it has used. */
export class Deadline {
  private endMs: number;

  constructor(ms: number) {
    this.endMs = monotonicMs() + ms;
  }

  /** The deadline on the clock of `monotonicMs`, which all threads share. */
  get atMs(): number {
    return this.endMs;
  }

  leftMs(): number {
    return this.endMs - monotonicMs();
  }

  /** Extends the deadline by time that must not be charged to a call: the start of the first thread. */
  postpone(ms: number): void {
    this.endMs += ms;
  }
}
