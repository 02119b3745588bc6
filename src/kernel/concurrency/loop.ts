import { Logger } from '@nestjs/common';

/** What one turn of a loop says about the next: how long to rest before it. */
export interface LoopDelay {
  restMs: number;
}

/** What is expected of a loop. */
export interface LoopLimits {
  /** A turn that takes longer is given up, and the next one begins. */
  deadlineMs: number;
  /**
   * How long after it was due a good turn may be missing before the process is not ready; Infinity for housekeeping,
   * whose lateness nobody waits for.
   */
  lateMs: number;
}

/** More than two statements that use up the deadline of their pool. */
const LIMITS: LoopLimits = { deadlineMs: 75_000, lateMs: 30_000 };
/** For loops whose failure alone is no reason to send traffic elsewhere. */
export const HOUSEKEEPING: LoopLimits = { deadlineMs: 600_000, lateMs: Infinity };

const BACKOFF_MS_FIRST = 100;
const BACKOFF_MS_MAX = 5_000;

/**
 * A background loop that survives any error: a failed turn is logged and followed by another after a backoff that
 * doubles up to five seconds. So is a turn that does not end: whatever it waits for, the loop goes on. When the last good
 * turn ended, and when the next one is due, is what readiness and metrics look at.
 */
export class Loop {
  private static readonly started = new Set<Loop>();

  private readonly logger: Logger;
  private timer: NodeJS.Timeout | null = null;
  private turning: Promise<void> | null = null;
  private stopped = true;
  private again = false;
  private failures = 0;
  /** When the next good turn should have begun, by the monotonic clock. */
  private dueMs = 0;
  /** Milliseconds since the epoch of the last turn that ended well; null before the first. */
  lastTurnAtMs: number | null = null;

  constructor(
    readonly name: string,
    private readonly turn: () => Promise<LoopDelay>,
    private readonly nowMs: () => number,
    private readonly limits: LoopLimits = LIMITS,
  ) {
    this.logger = new Logger(name);
  }

  /** Those of this process that were started and not stopped. */
  static running(): Iterable<Loop> {
    return Loop.started;
  }

  /** For how long a good turn has been due, in milliseconds; 0 while the next one is in the future. */
  overdueMs(): number {
    return this.stopped ? 0 : Math.max(0, performance.now() - this.dueMs);
  }

  /** Whether a good turn is missing for so long that something is wrong. */
  isLate(): boolean {
    return this.overdueMs() > this.limits.lateMs;
  }

  start(): void {
    if (!this.stopped) return;
    this.stopped = false;
    this.dueMs = performance.now();
    Loop.started.add(this);
    this.schedule(0);
  }

  /** Takes the next turn now, or right after the one that is running. */
  wake(): void {
    if (this.stopped) return;
    this.dueMs = Math.min(this.dueMs, performance.now());
    if (this.turning) this.again = true;
    else this.schedule(0);
  }

  /** Stops; resolves when the running turn has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    Loop.started.delete(this);
    if (this.timer) clearTimeout(this.timer);
    await this.turning;
  }

  private schedule(restMs: number): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.turning = this.run();
    }, restMs);
  }

  private async run(): Promise<void> {
    this.again = false;
    let restMs: number;
    try {
      ({ restMs } = await this.inTime(this.turn()));
      this.lastTurnAtMs = this.nowMs();
      this.dueMs = performance.now() + restMs;
      this.failures = 0;
    } catch (error) {
      restMs = Math.min(BACKOFF_MS_FIRST * 2 ** this.failures++, BACKOFF_MS_MAX);
      this.logger.warn(
        `A turn failed, next one in ${restMs} ms: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    this.turning = null;
    if (this.stopped) return;
    this.schedule(this.again ? 0 : restMs);
  }

  private async inTime(turn: Promise<LoopDelay>): Promise<LoopDelay> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () => reject(new Error(`It did not end within ${this.limits.deadlineMs} ms.`)),
        this.limits.deadlineMs,
      );
    });
    try {
      return await Promise.race([turn, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
