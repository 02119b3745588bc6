import { Inject, Injectable, Logger } from '@nestjs/common';
import { Clock } from '../clock.js';
import { LEAP_WAIT_MS, lookAtClock, type SeenClock } from '../clock-leap.js';
import { Every } from '../concurrency/every.js';
import { Metrics } from '../observability/metrics.js';
import { Readiness } from '../observability/readiness.js';
import { DatabaseTime } from './database-time.js';
import { type ClockObservation, SeenClockStore } from './seen-clock.store.js';

const EVERY_MS = 60_000;
export const CLOSED_REST_MS = 60_000;

/**
 * Decides whether data may be removed because it has expired. Every job that removes data by age checks the gate before
 * each turn, because data removed by a wrong clock would be lost (ADR 18).
 *
 * The gate is closed while the clock of this machine differs from PostgreSQL's by a minute or more. It also closes if
 * PostgreSQL's clock jumps forward by more than a day. It then reopens after a day on monotonic clocks, or when an
 * operator confirms the time with `posthorn confirm-clock`.
 */
@Injectable()
export class RetentionGate {
  private readonly logger = new Logger('Retention');
  /** This process's last reading of the clocks, and the monotonic time of that reading. */
  private last: (ClockObservation & { atMs: number }) | null = null;

  constructor(
    @Inject(SeenClockStore) private readonly store: Pick<SeenClockStore, 'read' | 'change'>,
    @Inject(DatabaseTime) private readonly time: Pick<DatabaseTime, 'isAgreed'>,
    @Inject(Clock) private readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>,
    @Inject(Readiness) readiness: Readiness,
    @Inject(Metrics) metrics: Metrics,
  ) {
    readiness.register('retention', async () => ({
      ready: true,
      waiting: this.waitingMs() > 0,
      ...(this.waitingMs() > 0 && { waiting_seconds: Math.ceil(this.waitingMs() / 1000) }),
    }));
    metrics.gauge(
      'retention_waiting_seconds',
      "Seconds until retention resumes after a jump of PostgreSQL's clock. 0 if the clock did not jump.",
      [],
      (gauge) => gauge.set(Math.ceil(this.waitingMs() / 1000)),
    );
  }

  /** Returns whether data may be removed. Throws if the storage is unavailable. */
  async isOpen(): Promise<boolean> {
    if (!this.time.isAgreed()) return false;
    const look = await this.store.read();
    const next = this.next(look);
    const isDue =
      next.leaptFromMs !== null || look.seen.leaptFromMs !== null || look.nowMs - look.seen.seenAtMs >= EVERY_MS;
    this.note(isDue ? await this.store.change((locked) => this.next(locked)) : look);
    return this.last?.seen.leaptFromMs === null;
  }

  /**
   * Reads the clocks regularly. Otherwise, the last reading would become too old while no job of this process calls
   * `isOpen`.
   */
  @Every(EVERY_MS, { name: 'Retention gate' })
  async refresh(): Promise<void> {
    await this.isOpen();
  }

  /** Returns how much longer the removal of data stays paused, on monotonic clocks. 0 if it is not paused. */
  private waitingMs(): number {
    const seen = this.last?.seen;
    return seen === undefined || seen.leaptFromMs === null ? 0 : LEAP_WAIT_MS - seen.waitedMs;
  }

  private next({ seen, nowMs }: ClockObservation): SeenClock {
    const own = this.last && { nowMs: this.last.nowMs, elapsedMs: this.clock.monotonicMs() - this.last.atMs };
    return lookAtClock(seen, nowMs, own);
  }

  private note({ seen, nowMs }: ClockObservation): void {
    const before = this.last?.seen ?? null;
    this.last = { seen, nowMs, atMs: this.clock.monotonicMs() };
    const wasClosed = before !== null && before.leaptFromMs !== null;
    if (seen.leaptFromMs !== null && !wasClosed) {
      this.logger.error(
        `PostgreSQL's clock went from ${dateOf(seen.leaptFromMs)} to ${dateOf(seen.seenAtMs)} since it was last seen. Nothing is removed by its age for ` +
          'a day. If the time is right, confirm it with `posthorn confirm-clock`; if not, set the clock.',
      );
    }
    if (seen.leaptFromMs === null && wasClosed) this.logger.log('Retention removes expired data again.');
  }
}

const dateOf = (ms: number): string => new Date(ms).toISOString();
