import { cpuMsOf, monotonicMs } from './thread-cpu.js';

/**
 * Indexes into the shared memory. `SHARE`: maximum share of time for slow user code, in thousandths (0: no limit).
 * `USED`: CPU time of this code in µs.
 */
export const SHARE = 0;
export const USED = 1;

/** Time that a thread for slow code runs before it checks whether it must sleep. */
const RUN_MS = 4;
/** Maximum time between two checks during a sleep, because the share may change. */
const REST_MS_MAX = 100;

export interface ThrottleTools {
  /** CPU time of the thread. */
  usedMs: () => number;
  nowMs: () => number;
  /** Waits for `ms`, or until the share of time in the shared memory differs from `share`. */
  wait: (share: number, ms: number) => void;
  /** Deadline of the call, on the clock of `nowMs`. No sleep continues beyond it. */
  endMs?: number;
}

/** Makes a thread for slow code sleep after it has run, so that it uses only its share of the time. */
export class CpuThrottle {
  private usedMs: number;
  private nextMs: number;
  /** Remaining time to sleep. Includes the rest of a sleep that ended early because the share changed. */
  private owedMs = 0;

  constructor(
    private readonly cells: Int32Array,
    private readonly tools: ThrottleTools,
  ) {
    this.usedMs = tools.usedMs();
    this.nextMs = tools.nowMs() + RUN_MS;
  }

  /** If the thread has used more than its share, sleeps to compensate. Call this method often during a call. */
  look(): void {
    const { usedMs, nowMs } = this.tools;
    if (nowMs() < this.nextMs) return;
    const used = usedMs();
    const ranMs = used - this.usedMs;
    Atomics.add(this.cells, USED, Math.round(ranMs * 1000));
    this.throttle(ranMs);
    this.usedMs = used;
    this.nextMs = nowMs() + RUN_MS;
  }

  private throttle(ranMs: number): void {
    let share = Atomics.load(this.cells, SHARE);
    if (share > 0) this.owedMs += ranMs * (1_000 / share - 1);
    const { endMs = Infinity } = this.tools;
    for (; share > 0 && this.owedMs > 0; share = Atomics.load(this.cells, SHARE)) {
      const beganMs = this.tools.nowMs();
      if (beganMs >= endMs) return;
      this.tools.wait(share, Math.min(this.owedMs, REST_MS_MAX, endMs - beganMs));
      this.owedMs -= this.tools.nowMs() - beganMs;
    }
    this.owedMs = share === 0 ? 0 : Math.max(0, this.owedMs);
  }
}

/**
 * Returns a throttle that makes the calling thread sleep. Returns null without shared memory (`cells`), and if the
 * thread's CPU time cannot be read. In the second case, timeouts use wall-clock time, and sleeping would cause
 * timeouts.
 */
export function cpuThrottleFor(
  cells: Int32Array | null,
  thread: string | null,
  usedMs: () => number,
  deadlineMs = Infinity,
): CpuThrottle | null {
  if (cells === null || cpuMsOf(thread) === null) return null;
  return new CpuThrottle(cells, {
    usedMs,
    nowMs: () => performance.now(),
    wait: (share, ms) => void Atomics.wait(cells, SHARE, share, ms),
    endMs: performance.now() + deadlineMs - monotonicMs(),
  });
}
