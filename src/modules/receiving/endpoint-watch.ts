import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { type Id, showId } from '#kernel/ids.js';
import { SystemEvents, type SystemEventType } from '#modules/system-events/contract.js';
import type { EndpointSummary } from './contract.js';

/** Number of consecutive failed verifications before an endpoint is reported. A few stray requests cause no report. */
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

/**
 * Reports endpoints whose verification keeps failing, and endpoints that receive bodies above their size limit. Each
 * process counts only its own requests.
 */
@Injectable()
export class EndpointWatch {
  private readonly logger = new Logger(EndpointWatch.name);
  private readonly streaks = new Map<string, Streak>();

  constructor(
    private readonly systemEvents: SystemEvents,
    private readonly clock: Clock,
  ) {}

  /** Counts a request that became an event. Never throws. Reports in the background. */
  countVerification(endpoint: EndpointSummary, eventId: Id, failed: boolean): void {
    const type = 'endpoint.verification_failing';
    if (failed)
      this.count(endpoint, { type, failuresMin: FAILURES_MIN }, (failures) => ({
        failures,
        last_event: showId('evt', eventId),
      }));
    else if (this.streaks.size > 0) this.streaks.delete(keyOf(endpoint, type));
  }

  /** Counts a request whose body was too large. Never throws. Reports in the background. */
  countTooLarge(endpoint: EndpointSummary & { maxBodyBytes: number }, requestId: Id, sizeBytes: number): void {
    this.count(endpoint, { type: 'endpoint.body_too_large', failuresMin: 1 }, () => ({
      max_body_bytes: endpoint.maxBodyBytes,
      size_bytes: sizeBytes,
      last_request: showId('req', requestId),
    }));
  }

  private count(
    endpoint: EndpointSummary,
    { type, failuresMin }: { type: SystemEventType; failuresMin: number },
    details: (failures: number) => Record<string, unknown>,
  ): void {
    const key = keyOf(endpoint, type);
    const streak = this.streaks.get(key) ?? { failures: 0, unnoted: 0, quietUntilMs: 0 };
    streak.failures += 1;
    streak.unnoted += 1;
    this.keep(key, streak);
    if (streak.failures < failuresMin || this.clock.nowMs() < streak.quietUntilMs) return;
    streak.quietUntilMs = this.clock.nowMs() + AGAIN_MS;
    void this.note(endpoint, type, details(streak.failures), streak);
  }

  private async note(
    { environmentId, id, path }: EndpointSummary,
    type: SystemEventType,
    details: Record<string, unknown>,
    streak: Streak,
  ): Promise<void> {
    const count = streak.unnoted;
    streak.unnoted = 0;
    const endpoint = showId('ep', id);
    try {
      await this.systemEvents.note({
        environmentId,
        type,
        subject: id,
        details: { endpoint, path, ...details },
        count,
      });
    } catch (error) {
      // Restores the counter, because the report was not stored. The next failure then triggers a report.
      streak.unnoted += count;
      streak.quietUntilMs = 0;
      this.logger.warn(`${type} of ${endpoint} could not be recorded: ${(error as Error).message}`);
    }
  }

  /**
   * Stores an endpoint's streak of failures. If there are too many streaks, evicts the one whose last failure is
   * oldest.
   */
  private keep(key: string, streak: Streak): void {
    this.streaks.delete(key);
    this.streaks.set(key, streak);
    const oldest = this.streaks.keys().next();
    if (this.streaks.size > ENDPOINTS_MAX && !oldest.done) this.streaks.delete(oldest.value);
  }
}

function keyOf({ environmentId, id }: EndpointSummary, type: SystemEventType): string {
  return `${type} ${environmentId}:${id}`;
}
