import { Logger } from '@nestjs/common';

/** What one turn of a loop says about the next: how long to rest before it. */
export interface Rest {
  restMs: number;
}

const BACKOFF_MS_FIRST = 100;
const BACKOFF_MS_MAX = 5_000;

/**
 * A background loop that survives any error: a failed turn is logged and followed by another after a backoff that
 * doubles up to five seconds. `lastTurnAt` is the progress that readiness and metrics look at.
 */
export class Loop {
  private readonly logger: Logger;
  private timer: NodeJS.Timeout | null = null;
  private turning: Promise<void> | null = null;
  private stopped = true;
  private again = false;
  private failures = 0;
  /** Milliseconds since the epoch of the last turn that ended well; null before the first. */
  lastTurnAtMs: number | null = null;

  constructor(
    readonly name: string,
    private readonly turn: () => Promise<Rest>,
    private readonly nowMs: () => number,
  ) {
    this.logger = new Logger(name);
  }

  start(): void {
    if (!this.stopped) return;
    this.stopped = false;
    this.schedule(0);
  }

  /** Takes the next turn now, or right after the one that is running. */
  wake(): void {
    if (this.stopped) return;
    if (this.turning) this.again = true;
    else this.schedule(0);
  }

  /** Stops; resolves when the running turn has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
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
      ({ restMs } = await this.turn());
      this.lastTurnAtMs = this.nowMs();
      this.failures = 0;
    } catch (error) {
      restMs = Math.min(BACKOFF_MS_FIRST * 2 ** this.failures++, BACKOFF_MS_MAX);
      this.logger.warn(`A turn failed, next one in ${restMs} ms: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.turning = null;
    if (this.stopped) return;
    this.schedule(this.again ? 0 : restMs);
  }
}
