import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { type Id, showId } from '#kernel/ids.js';
import { SystemEvents } from '#modules/system-events/contract.js';
import type { EndpointSummary } from './contract.js';

/** Consecutive failures before a report. A wrong secret or an attack causes this many. Stray requests rarely do. */
const FAILURES_MIN = 10;
const AGAIN_MS = 3_600_000;
const ENDPOINTS_MAX = 10_000;

interface Streak {
  failures: number;
  /** Number of failures since the last report. */
  unnoted: number;
  /** Time until which failures are counted but not reported. */
  quietUntilMs: number;
}

/** Reports endpoints whose verification keeps failing. Each process counts only the requests that it receives. */
@Injectable()
export class VerificationWatch {
  private readonly logger = new Logger(VerificationWatch.name);
  private readonly streaks = new Map<string, Streak>();

  constructor(
    private readonly systemEvents: SystemEvents,
    private readonly clock: Clock,
  ) {}

  /** Counts a request that became an event. Never throws, and reports in the background. */
  count(endpoint: EndpointSummary, eventId: Id, failed: boolean): void {
    const key = `${endpoint.environmentId}:${endpoint.id}`;
    if (!failed) {
      this.streaks.delete(key);
      return;
    }
    const streak = this.streaks.get(key) ?? { failures: 0, unnoted: 0, quietUntilMs: 0 };
    streak.failures += 1;
    streak.unnoted += 1;
    this.keep(key, streak);
    if (streak.failures < FAILURES_MIN || this.clock.nowMs() < streak.quietUntilMs) return;
    streak.quietUntilMs = this.clock.nowMs() + AGAIN_MS;
    void this.note(endpoint, eventId, streak);
  }

  private async note({ environmentId, id, path }: EndpointSummary, eventId: Id, streak: Streak): Promise<void> {
    const count = streak.unnoted;
    streak.unnoted = 0;
    const details = { endpoint: showId('ep', id), path, failures: streak.failures, last_event: showId('evt', eventId) };
    try {
      await this.systemEvents.note({
        environmentId,
        type: 'endpoint.verification_failing',
        subject: id,
        details,
        count,
      });
    } catch (error) {
      // The report failed. Restores the state, so that the next failure is reported again.
      streak.unnoted += count;
      streak.quietUntilMs = 0;
      this.logger.warn(
        `Failing verification of ${details.endpoint} could not be recorded: ${(error as Error).message}`,
      );
    }
  }

  /** Stores the streak. Evicts the endpoint whose last failure is the oldest. */
  private keep(key: string, streak: Streak): void {
    this.streaks.delete(key);
    this.streaks.set(key, streak);
    const oldest = this.streaks.keys().next();
    if (this.streaks.size > ENDPOINTS_MAX && !oldest.done) this.streaks.delete(oldest.value);
  }
}
