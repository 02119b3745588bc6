import { cpuMsOf, monotonicMs } from './thread-cpu.js';

/** Places in what is shared with the threads: the part of its time that a slow one may run, in thousandths (0: all of it), and what they have used, in µs of CPU time. */
export const SHARE = 0;
export const USED = 1;

/** How long a slow thread runs on before it looks whether it must rest. */
const RUN_MS = 4;
/** It looks again at least so often while it rests: what it may run changes. */
const REST_MS_MAX = 100;

/** What a thread measures and waits with. */
export interface ThrottleTools {
  /** The CPU time that it has used, in milliseconds. */
  usedMs: () => number;
  nowMs: () => number;
  /** Waits so long, and less when the share is no longer this one. */
  wait: (share: number, ms: number) => void;
  /** When the call ends in any case, by `nowMs`: nothing rests longer. */
  endMs?: number;
}

/** Rests of a thread that lets others pass: after what it has run it waits, so that its share of the time is kept. */
export class CpuThrottle {
  private usedMs: number;
  private nextMs: number;
  /** What is left to rest: a wait that ended early, as the share has changed, is made good. */
  private owedMs = 0;

  constructor(
    private readonly cells: Int32Array,
    private readonly tools: ThrottleTools,
  ) {
    this.usedMs = tools.usedMs();
    this.nextMs = tools.nowMs() + RUN_MS;
  }

  /** To be called often while a call runs: it returns at once, or after a rest. */
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
 * Rests of the calling thread, which sleeps in them; they end with it. Null for one without cells, and where the system tells no CPU
 * time of a thread: time-outs are taken of the time that passes there, and a call would have run out of it while it rested.
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
