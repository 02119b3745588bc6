import { Logger } from '@nestjs/common';

export interface LoopDelay {
  restMs: number;
}

export interface LoopLimits {
  /** Time limit of a turn. A turn that takes longer is abandoned, and the next one begins. */
  deadlineMs: number;
  /** Maximum delay of a turn. If a turn is later than this, the process is not ready. Infinity for housekeeping. */
  lateMs: number;
}

/** Default limits. The deadline is long enough for two statements that each take until their statement timeout. */
const LIMITS: LoopLimits = { deadlineMs: 75_000, lateMs: 30_000 };
/** Limits for loops that do not affect readiness, because their failure must not move traffic to other processes. */
export const HOUSEKEEPING: LoopLimits = { deadlineMs: 600_000, lateMs: Infinity };

const BACKOFF_MS_FIRST = 100;
const BACKOFF_MS_MAX = 5_000;

/**
 * A background loop that survives any error. A turn is one call of the loop's function. A failed turn is logged, and
 * the next turn follows after a backoff that doubles up to five seconds. A turn that does not end is abandoned.
 * Readiness checks and metrics use the times of the turns.
 */
export class Loop {
  private static readonly started = new Set<Loop>();

  private readonly logger: Logger;
  private timer: NodeJS.Timeout | null = null;
  private turning: Promise<void> | null = null;
  private stopped = true;
  private again = false;
  private failures = 0;
  /** Time on the monotonic clock by which the next turn should begin. A failed turn does not change it. */
  private dueMs = 0;
  /** End of the last successful turn, in milliseconds since the epoch. Null before the first one. */
  lastTurnAtMs: number | null = null;

  constructor(
    readonly name: string,
    private readonly turn: () => Promise<LoopDelay>,
    private readonly nowMs: () => number,
    private readonly limits: LoopLimits = LIMITS,
  ) {
    this.logger = new Logger(name);
  }

  static running(): Iterable<Loop> {
    return Loop.started;
  }

  /** Returns by how many milliseconds the next successful turn is overdue. 0 if it is not due yet. */
  overdueMs(): number {
    return this.stopped ? 0 : Math.max(0, performance.now() - this.dueMs);
  }

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

  /** Starts the next turn now, or directly after the turn in progress. */
  wake(): void {
    if (this.stopped) return;
    this.dueMs = Math.min(this.dueMs, performance.now());
    if (this.turning) this.again = true;
    else this.schedule(0);
  }

  /** Stops the loop. Resolves when the current turn has ended. */
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
        () => reject(new Error(`It did not finish within ${this.limits.deadlineMs} ms.`)),
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
