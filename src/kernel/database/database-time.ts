import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { SystemClock } from '../clock.js';
import { Loop } from '../concurrency/loop.js';
import { Metrics } from '../observability/metrics.js';
import { Readiness } from '../observability/readiness.js';
import { Database, type Statement } from './database.js';
import { Notifications, type TimeOfDatabase } from './notifications.js';

const EVERY_MS = 5_000;
/** Clock difference that is tolerated. Network latency or normal clock drift cause smaller differences. */
const TOLERATED_MS = 20;
/** Maximum clock error of a machine that makes time-based decisions. */
const SKEW_MAX_MS = 60_000;

const NOW: Statement = {
  name: 'database_time',
  text: 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
};

/** Sets the clock to PostgreSQL's time, unless both times agree within the precision of the round trip. */
export async function followDatabase(
  clock: SystemClock,
  ask: (text: string) => Promise<{ ms: number }[]>,
): Promise<void> {
  const askedMs = clock.monotonicMs();
  const [row] = await ask(NOW.text);
  if (row !== undefined) follow(clock, { ms: row.ms, askedMs, answeredMs: clock.monotonicMs() });
}

function follow(clock: SystemClock, { ms, askedMs, answeredMs }: TimeOfDatabase): void {
  const [middleMs, doubtMs] = [(askedMs + answeredMs) / 2, (answeredMs - askedMs) / 2];
  const offMs = ms - (clock.nowMs() - (clock.monotonicMs() - middleMs));
  if (Math.abs(offMs) > TOLERATED_MS + doubtMs) clock.follow(ms, middleMs);
}

/**
 * Adjusts this process's clock to PostgreSQL's time. Logs an error if the machine's clock is wrong by a minute or more.
 * Until the clocks agree, the process still serves requests, but does not claim deliveries or clean up.
 */
@Injectable()
export class DatabaseTime implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(DatabaseTime.name);
  private readonly loop: Loop;
  private wasAgreed = true;
  /** Time on the monotonic clock at which PostgreSQL's time last arrived. */
  private receivedMs = -Infinity;

  constructor(
    @Inject(SystemClock) private readonly clock: SystemClock,
    @Inject(Database) private readonly database: Pick<Database, 'query'>,
    @Inject(Readiness) readiness: Readiness,
    @Inject(Metrics) metrics: Metrics,
    @Inject(Notifications) notifications: Pick<Notifications, 'onTime'>,
  ) {
    notifications.onTime((time) => this.onTime(time));
    this.loop = new Loop(
      'DatabaseTime',
      () => this.turn(),
      () => clock.nowMs(),
    );
    readiness.register('clock', async () => ({ ready: this.isAgreed(), skew_ms: Math.round(clock.wallAheadMs()) }));
    metrics.gauge(
      'clock_skew_seconds',
      "Difference between this machine's clock and PostgreSQL's, in seconds. Positive if the machine is ahead.",
      [],
      (gauge) => gauge.set(clock.wallAheadMs() / 1000),
    );
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  /** Returns whether the machine's clock and PostgreSQL's differ by less than a minute. Sends no query. */
  isAgreed(): boolean {
    return Math.abs(this.clock.wallAheadMs()) < SKEW_MAX_MS;
  }

  async look(): Promise<void> {
    await followDatabase(this.clock, () => this.database.query(NOW));
    this.report();
  }

  private onTime(time: TimeOfDatabase): void {
    follow(this.clock, time);
    this.receivedMs = time.answeredMs;
    this.report();
  }

  async turn(): Promise<{ restMs: number }> {
    const restMs = this.receivedMs + EVERY_MS - this.clock.monotonicMs();
    if (restMs > 0) return { restMs };
    await this.look();
    return { restMs: EVERY_MS };
  }

  private report(): void {
    const isAgreed = this.isAgreed();
    if (isAgreed === this.wasAgreed) return;
    this.wasAgreed = isAgreed;
    if (isAgreed) this.logger.log("The clock of this machine agrees with PostgreSQL's again.");
    if (isAgreed) return;
    const seconds = Math.round(this.clock.wallAheadMs() / 1000);
    const where = seconds > 0 ? `${seconds} s ahead of` : `${-seconds} s behind`;
    this.logger.error(
      `The clock of this machine is ${where} PostgreSQL's. Until they agree, this process neither claims deliveries nor cleans up.`,
    );
  }
}
