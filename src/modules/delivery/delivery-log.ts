import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { showId } from '#kernel/ids.js';
import { shownTargetId, type Target } from '#modules/destinations/contract.js';
import type { ClaimedDelivery } from '#modules/ledger/claims.contract.js';
import type { Performed } from './attempt.js';
import { targetKey } from './circuit-watch.js';

/** After a logged failure of a target, its further failures within this time share one log line. */
const QUIET_MS = 10_000;
/** Maximum number of targets with separate counts. Failures of all other targets are counted together. */
const TARGETS_MAX = 1_000;
const OTHERS = 'others';

interface Failing {
  fromMs: number;
  destination: Record<string, unknown>;
  /** Number of failures by result: `retrying`, `failed`, `dlq`. */
  counts: Record<string, number>;
  total: number;
  last: Record<string, unknown>;
}

/**
 * Logs one line for each attempt that ends a delivery or fails.
 *
 * An unavailable receiver can cause thousands of failures. Only the first one has its own line, and all others of the
 * next ten seconds share one line.
 *
 * Log lines contain only Posthorn's own data: ids, numbers and the host. A path, a header or a response could contain
 * secrets. With a LOG_LEVEL above `info`, no log lines are built.
 */
@Injectable()
export class DeliveryLog implements OnApplicationShutdown {
  private readonly logger = new Logger('delivery');
  private readonly isOn: boolean;
  private readonly failing = new Map<string, Failing>();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    config: Config,
    private readonly clock: Clock,
  ) {
    this.isOn = ['trace', 'debug', 'info'].includes(config.logLevel);
  }

  /** Logs an attempt. Call it after the result is recorded. */
  logResult(delivery: ClaimedDelivery, performed: Performed): void {
    if (!this.isOn) return;
    const { result } = performed;
    if (result.status === 'delivered') {
      if (result.attempt !== null)
        this.logger.log('Delivered', {
          ...idsOf(delivery),
          ...destinationOf(delivery, performed.target),
          ...attemptOf(performed),
        });
    } else if (result.attempt !== null || result.status !== 'retrying') {
      this.logFailure(delivery, performed);
    }
  }

  onApplicationShutdown(): void {
    if (this.timer !== null) clearInterval(this.timer);
    for (const [key, failing] of this.failing) this.sumUp(key, failing);
  }

  private logFailure(delivery: ClaimedDelivery, performed: Performed): void {
    const own = targetKey(delivery.environmentId, delivery.targetId);
    const key = this.failing.has(own) || this.failing.size < TARGETS_MAX ? own : OTHERS;
    const failing = this.failing.get(key);
    const { status } = performed.result;
    if (failing) {
      failing.counts[status] = (failing.counts[status] ?? 0) + 1;
      failing.total += 1;
      failing.last = { ...idsOf(delivery), ...attemptOf(performed) };
      return;
    }
    const destination = key === OTHERS ? {} : destinationOf(delivery, performed.target);
    this.failing.set(key, { fromMs: this.clock.monotonicMs(), destination, counts: {}, total: 0, last: {} });
    this.timer ??= setInterval(() => this.look(), QUIET_MS / 10).unref();
    this.logger.log('Delivery failed', { ...idsOf(delivery), ...destination, ...attemptOf(performed) });
  }

  private look(): void {
    const before = this.clock.monotonicMs() - QUIET_MS;
    for (const [key, failing] of this.failing) if (failing.fromMs <= before) this.sumUp(key, failing);
    if (this.failing.size > 0 || this.timer === null) return;
    clearInterval(this.timer);
    this.timer = null;
  }

  /**
   * Logs a target's failures of the last ten seconds in one line. If there were none, the next failure is logged
   * immediately.
   */
  private sumUp(key: string, failing: Failing): void {
    if (failing.total === 0) {
      this.failing.delete(key);
      return;
    }
    const { destination, counts, total, last } = failing;
    this.logger.log(`Delivery failed ${total} more times`, {
      ...destination,
      ...counts,
      seconds: QUIET_MS / 1000,
      last,
    });
    Object.assign(failing, { fromMs: this.clock.monotonicMs(), counts: {}, total: 0, last: {} });
  }
}

/** Returns the ids to log. A request has the same id as the message or event that it created. */
function idsOf({ eventId, messageId, direction, ordinal }: ClaimedDelivery): Record<string, unknown> {
  const madeId = messageId ?? eventId;
  return {
    request_id: showId('req', madeId),
    ...(direction === 'outbound' && { message: showId('msg', madeId) }),
    event: showId('evt', eventId),
    ...(ordinal > 0 && { delivery: ordinal }),
  };
}

/** Returns the destination's id. For an ad-hoc URL, returns only the host, because the path may be a secret. */
function destinationOf({ targetId, url }: ClaimedDelivery, target: Target | null): Record<string, unknown> {
  const host = target?.url?.host ?? (url !== null && URL.canParse(url) ? new URL(url).host : undefined);
  const destination = url === null && { destination: shownTargetId(targetId, target?.ownerId ?? null) };
  return { ...destination, ...(host !== undefined && { host }) };
}

function attemptOf({ result }: Performed): Record<string, unknown> {
  const { status, reason, dueInMs, attempt } = result;
  return {
    status,
    ...(reason !== null && { reason }),
    ...(attempt !== null && { attempt: attempt.number, duration_ms: attempt.durationMs }),
    ...(attempt !== null && attempt.httpStatus !== null && { http_status: attempt.httpStatus }),
    ...(attempt !== null && attempt.error !== null && { error: attempt.error }),
    ...(dueInMs !== null && { next_attempt_in_ms: dueInMs }),
  };
}
