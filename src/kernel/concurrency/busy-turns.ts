import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';

/** Time in milliseconds for which callers may work after a wait. */
const BUSY_MS = 20;

/**
 * Keeps the event loop responsive during many pieces of work that each block it for up to a tenth of a second, and that
 * asynchronous code starts at the same time. At most one piece then runs in each iteration of the event loop.
 */
@Injectable()
export class BusyTurns {
  private last: Promise<void> = Promise.resolve();
  private sinceMs = 0;

  constructor(private readonly clock: Clock) {}

  /**
   * Resolves when the caller may start a piece of work. Waits for a later iteration of the event loop if the last such
   * wait ended more than 20 milliseconds ago.
   */
  async take(): Promise<void> {
    if (this.clock.monotonicMs() - this.sinceMs <= BUSY_MS) return;
    const turn = this.last.then(() => new Promise<void>((resolve) => setImmediate(resolve)));
    this.last = turn;
    await turn;
    this.sinceMs = this.clock.monotonicMs();
  }
}
