import { monotonicMs } from './thread-cpu.js';

/** Time by which a call must end, regardless of how little CPU time the call has used. */
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

  /** Extends the deadline by the time that the first thread takes to start, which must not count against the call. */
  postpone(ms: number): void {
    this.endMs += ms;
  }
}
