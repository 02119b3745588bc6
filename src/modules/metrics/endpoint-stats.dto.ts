import { ApiProperty } from '@nestjs/swagger';
import { EndpointCircuitItem, presentCircuit } from '#modules/applications/contract.dto.js';
import type { EndpointStats } from './endpoint-stats.js';

/** Time range of the statistics. */
export class EndpointStatsQuery {
  /** Start of the range (RFC 3339). Defaults to 24 hours before `until`. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since?: string;

  /** End of the range (RFC 3339), exclusive. Defaults to now. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;
}

/** Deliveries that are waiting and not in flight. */
export class WaitingItem {
  /** Number of deliveries that wait for their next attempt, for the circuit or for the rate limit. */
  @ApiProperty({ type: 'integer', example: 3 })
  count: number;

  /** True if the count stopped at its limit, so that there may be more. */
  @ApiProperty({ example: false })
  is_capped: boolean;
}

/** Statistics and current state of an endpoint. */
export class EndpointStatsItem {
  /** Start of the range: `since`, rounded down to the full minute, hour or day. */
  @ApiProperty({ format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since: string;

  /** End of the range: `until`, rounded up to the full minute, hour or day. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until: string;

  /** Number of events sent to the endpoint. Replays are not counted again. */
  @ApiProperty({ type: 'integer', example: 1204 })
  received: number;

  /** Number of deliveries that succeeded. */
  @ApiProperty({ type: 'integer', example: 1197 })
  delivered: number;

  /** Number of deliveries that failed permanently because a retry could not help. */
  @ApiProperty({ type: 'integer', example: 1 })
  failed: number;

  /** Number of deliveries that ended in the dead-letter queue. */
  @ApiProperty({ type: 'integer', example: 2 })
  dlq: number;

  /** Number of attempts that failed and were retried, or will be retried. */
  @ApiProperty({ type: 'integer', example: 17 })
  retried: number;

  /** Total number of attempts. */
  @ApiProperty({ type: 'integer', example: 1217 })
  attempts: number;

  /** `delivered` as a fraction of all deliveries that ended, from 0 to 1; `null` if none ended. */
  @ApiProperty({ type: 'number', nullable: true, example: 0.9975 })
  success_rate: number | null;

  /** Deliveries that are waiting now. */
  @ApiProperty({ type: WaitingItem })
  waiting: WaitingItem;

  /**
   * Time of the next retry among the waiting deliveries; `null` if no delivery waits for a retry. A time in the past
   * means that the retry waits for the circuit.
   */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T09:35:00.000Z' })
  next_attempt_at: string | null;

  /** Whether the endpoint accepts deliveries now. */
  @ApiProperty({ enum: ['active', 'disabled'], example: 'active' })
  status: 'active' | 'disabled';

  /** Circuit breaker of the endpoint; `null` if the endpoint uses a destination. */
  @ApiProperty({ type: EndpointCircuitItem, nullable: true })
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
