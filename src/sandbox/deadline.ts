import { monotonicMs } from './thread-cpu.js';

/** The moment at which a call must have ended, however little of its CPU time it has used. */
export class Deadline {
  private endMs: number;

  constructor(ms: number) {
    this.endMs = monotonicMs() + ms;
  }

  /** In the time of `monotonicMs`, which threads share. */
  get atMs(): number {
    return this.endMs;
  }

  leftMs(): number {
    return this.endMs - monotonicMs();
  }

  /** For time that no call can be charged with: that in which a first thread starts. */
  postpone(ms: number): void {
    this.endMs += ms;
  }
}
