import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsNumber } from 'class-validator';
import { CanBeNull, CanBeOmitted, IsDateTime, IsObjectOf } from '#http/validation.js';
import { EndpointCircuitItem, presentCircuit } from '#modules/applications/contract.dto.js';
import type { EndpointStats } from './endpoint-stats.js';

/** Time range of the statistics. */
export class EndpointStatsQuery {
  /** Start of the range (RFC 3339). Defaults to 24 hours before `until`. */
  @ApiProperty({ example: '2026-11-20T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  since?: string;

  /** End of the range (RFC 3339), exclusive. Defaults to the current time. */
  @ApiProperty({ example: '2026-11-21T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  until?: string;
}

/** Deliveries that wait and are not in flight. */
export class WaitingItem {
  /** Number of deliveries that wait for their next attempt, for the circuit breaker or for the rate limit. */
  @ApiProperty({ example: 3 })
  @IsInt()
  count: number;

  /** True if the count stopped at its limit, so that there may be more. */
  @ApiProperty({ example: false })
  @IsBoolean()
  is_capped: boolean;
}

/** Statistics and current state of an endpoint. */
export class EndpointStatsItem {
  /** Start of the range: `since`, rounded down to the full minute, hour or day. */
  @ApiProperty({ example: '2026-11-20T00:00:00.000Z' })
  @IsDateTime()
  since: string;

  /** End of the range: `until`, rounded up to the full minute, hour or day. */
  @ApiProperty({ example: '2026-11-21T00:00:00.000Z' })
  @IsDateTime()
  until: string;

  /** Number of events sent to the endpoint. A replay of an event does not increase this number. */
  @ApiProperty({ example: 1204 })
  @IsInt()
  received: number;

  /** Number of deliveries that succeeded. */
  @ApiProperty({ example: 1197 })
  @IsInt()
  delivered: number;

  /** Number of deliveries that failed permanently because a retry could not help. */
  @ApiProperty({ example: 1 })
  @IsInt()
  failed: number;

  /** Number of deliveries that ended in the dead-letter queue. */
  @ApiProperty({ example: 2 })
  @IsInt()
  dlq: number;

  /** Number of attempts that failed and were retried, or will be retried. */
  @ApiProperty({ example: 17 })
  @IsInt()
  retried: number;

  /** Total number of attempts. */
  @ApiProperty({ example: 1217 })
  @IsInt()
  attempts: number;

  /** `delivered` as a fraction of all deliveries that ended, from 0 to 1; `null` if none ended. */
  @ApiProperty({ example: 0.9975 })
  @CanBeNull()
  @IsNumber()
  success_rate: number | null;

  /** Deliveries that are waiting now. */
  @IsObjectOf(() => WaitingItem)
  waiting: WaitingItem;

  /**
   * Time of the next retry among the waiting deliveries; `null` if no delivery waits for a retry. A time in the past
   * means that the retry waits for the circuit breaker to close.
   */
  @ApiProperty({ example: '2026-11-21T09:35:00.000Z' })
  @CanBeNull()
  @IsDateTime()
  next_attempt_at: string | null;

  /** Whether the endpoint accepts deliveries now. */
  @ApiProperty({ example: 'active' })
  @IsIn(['active', 'disabled'])
  status: 'active' | 'disabled';

  /** Circuit breaker of the endpoint; `null` if the endpoint uses a destination. */
  @CanBeNull()
  @IsObjectOf(() => EndpointCircuitItem)
  circuit: EndpointCircuitItem | null;
}

export function presentStats({ sinceMs, untilMs, counts, waiting, condition }: EndpointStats): EndpointStatsItem {
  const { received, delivered, failed, dlq, retried, attempts } = counts;
  const ended = delivered + failed + dlq;
  return {
    since: new Date(sinceMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    received,
    delivered,
    failed,
    dlq,
    retried,
    attempts,
    success_rate: ended === 0 ? null : delivered / ended,
    waiting: { count: waiting.count, is_capped: waiting.isCapped },
    next_attempt_at: waiting.nextAttemptAt?.toISOString() ?? null,
    status: condition.status,
    circuit: presentCircuit(condition.circuit),
  };
}
