import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { backgroundRate } from '#engine/background-rate.js';
import { Clock } from '#kernel/clock.js';
import { LoadMonitor, type LoadSample } from '#kernel/concurrency/load-monitor.js';
import { SHARE, USED } from './cpu-throttle.js';

const LOOK_EVERY_MS = 100;
/**
 * Milliseconds of CPU time per second that slow code has in a process, however crowded it is. A call that needs a tenth of a second is over in
 * two then. One that does not end before its deadline ends as busy, and is sent again by its provider.
 */
const FLOOR = 50;

/** How much slow code may run in this process: all it wants, unless there are deliveries and the process has hardly time for them. */
@Injectable()
export class CpuBudget implements OnApplicationShutdown {
  /** For the threads: they look at it some hundred times a second, and rest as it says. */
  readonly cells = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  private msPerSecond = Infinity;
  private running = 0;
  private timer: NodeJS.Timeout | undefined;
  private traffic: () => LoadSample;
  private seenMs = 0;
  private seenUsed = 0;

  constructor(
    private readonly load: LoadMonitor,
    private readonly clock: Clock,
  ) {
    this.traffic = load.sampler();
  }

  /** A slow call begins to run. */
  onStart(): void {
    this.running += 1;
    if (this.running === 1) this.watch();
    else this.publish();
  }

  /** It has ended. */
  onEnd(): void {
    this.running -= 1;
    if (this.running > 0) return this.publish();
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Milliseconds of CPU time per second that slow code may use at the moment; Infinity where it need not yield. */
  get pace(): number {
    return this.running === 0 ? Infinity : this.msPerSecond;
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Only while something slow runs. What was allowed last holds for it: calls follow each other. */
  private watch(): void {
    this.traffic = this.load.sampler();
    [this.seenMs, this.seenUsed] = [this.clock.monotonicMs(), Atomics.load(this.cells, USED)];
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
    this.publish();
  }

  /** Sets the pace by what has happened since it was set last; it does so by itself ten times a second while something slow runs. */
  look(): void {
    const [nowMs, used] = [this.clock.monotonicMs(), Atomics.load(this.cells, USED)];
    const seconds = Math.max(1, nowMs - this.seenMs) / 1000;
    // It counts in 32 bits, and begins anew.
    const usedMs = ((used - this.seenUsed) | 0) / 1000;
    [this.seenMs, this.seenUsed] = [nowMs, used];
    this.msPerSecond = backgroundRate(
      this.msPerSecond,
      { ...this.traffic(), tookPerSecond: Math.max(FLOOR, usedMs / seconds) },
      FLOOR,
    );
    this.publish();
  }

  /** Threads that need not rest any more are woken. */
  private publish(): void {
    const share = Number.isFinite(this.msPerSecond)
      ? Math.max(1, Math.min(1_000, Math.round(this.msPerSecond / this.running)))
      : 0;
    if (Atomics.exchange(this.cells, SHARE, share) !== share) Atomics.notify(this.cells, SHARE);
  }
}
