import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { backgroundRate } from '#engine/background-rate.js';
import { Clock } from '#kernel/clock.js';
import { LoadMonitor, type LoadSample } from '#kernel/concurrency/load-monitor.js';
import { SHARE, USED } from './cpu-throttle.js';

const LOOK_EVERY_MS = 100;
/**
 * CPU time that slow code gets even under full load, in milliseconds per second. A call that needs 100 ms then takes
 * two seconds. A call that misses its deadline ends as `busy`, and the sender of the webhook retries.
 */
const FLOOR = 50;

/**
 * Limits the CPU time of slow code while there are deliveries and the event loop is nearly saturated. At other times,
 * there is no limit.
 */
@Injectable()
export class CpuBudget implements OnApplicationShutdown {
  /**
   * Memory shared with the threads (see cpu-throttle.ts). Each thread reads it several hundred times a second to
   * compute its sleep.
   */
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

  onStart(): void {
    this.running += 1;
    if (this.running === 1) this.watch();
    else this.publish();
  }

  onEnd(): void {
    this.running -= 1;
    if (this.running > 0) return this.publish();
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** CPU milliseconds per second that slow code may use now. Infinity without a limit. */
  get pace(): number {
    return this.running === 0 ? Infinity : this.msPerSecond;
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /**
   * Starts sampling the load when a slow call starts. Until the first sample, the limit of the previous slow call
   * applies. It is recent, because slow calls often follow each other.
   */
  private watch(): void {
    this.traffic = this.load.sampler();
    [this.seenMs, this.seenUsed] = [this.clock.monotonicMs(), Atomics.load(this.cells, USED)];
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
    this.publish();
  }

  /** Updates the limit. Runs ten times a second while a slow call runs. */
  look(): void {
    const [nowMs, used] = [this.clock.monotonicMs(), Atomics.load(this.cells, USED)];
    const seconds = Math.max(1, nowMs - this.seenMs) / 1000;
    // The counter has 32 bits and wraps around, so the difference is truncated to 32 bits.
    const usedMs = ((used - this.seenUsed) | 0) / 1000;
    [this.seenMs, this.seenUsed] = [nowMs, used];
    this.msPerSecond = backgroundRate(
      this.msPerSecond,
      { ...this.traffic(), tookPerSecond: Math.max(FLOOR, usedMs / seconds) },
      FLOOR,
    );
    this.publish();
  }

  private publish(): void {
    const share = Number.isFinite(this.msPerSecond)
      ? Math.max(1, Math.min(1_000, Math.round(this.msPerSecond / this.running)))
      : 0;
    if (Atomics.exchange(this.cells, SHARE, share) !== share) Atomics.notify(this.cells, SHARE);
  }
}
