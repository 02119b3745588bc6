import { ApiProperty } from '@nestjs/swagger';
import { EndpointCircuitItem, presentCircuit } from '#modules/applications/contract.dto.js';
import type { EndpointStats } from './endpoint-stats.js';

/** Which span of time. */
export class EndpointStatsQuery {
  /** From this time (RFC 3339); 24 hours before `until` when left out. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since?: string;

  /** Before this time (RFC 3339); up to now when left out. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;
}

/** Deliveries that nobody is making at the moment. */
export class WaitingItem {
  /** How many wait: for their next attempt, for the circuit, or for the rate limit. */
  @ApiProperty({ type: 'integer', example: 3 })
  count: number;

  /** True when there are so many that only the first were looked at: there may be more. */
  @ApiProperty({ example: false })
  is_capped: boolean;
}

/** What happened to an endpoint, and how it is now. */
export class EndpointStatsItem {
  /** Where the span begins: `since`, back to the full minute, hour or day. */
  @ApiProperty({ format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since: string;

  /** Where it ends: `until`, on to the full minute, hour or day. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until: string;

  /** Events that it was sent; replays are not counted again. */
  @ApiProperty({ type: 'integer', example: 1204 })
  received: number;

  /** Deliveries that ended with success. */
  @ApiProperty({ type: 'integer', example: 1197 })
  delivered: number;

  /** Deliveries that ended because no retry could help. */
  @ApiProperty({ type: 'integer', example: 1 })
  failed: number;

  /** Deliveries that ended in the dead-letter queue. */
  @ApiProperty({ type: 'integer', example: 2 })
  dlq: number;

  /** Attempts that did not succeed and were followed by another one, or will be. */
  @ApiProperty({ type: 'integer', example: 17 })
  retried: number;

  /** All attempts. */
  @ApiProperty({ type: 'integer', example: 1217 })
  attempts: number;

  /** `delivered` as a share of all deliveries that ended, from 0 to 1; null when none did. */
  @ApiProperty({ type: 'number', nullable: true, example: 0.9975 })
  success_rate: number | null;

  /** What waits now. */
  @ApiProperty({ type: WaitingItem })
  waiting: WaitingItem;

  /** When the next retry is due, among what waits now; null when nothing waits to be tried again. A time that is past: it waits for the circuit. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T09:35:00.000Z' })
  next_attempt_at: string | null;

  /** Whether it takes deliveries now. */
  @ApiProperty({ enum: ['active', 'disabled'], example: 'active' })
  status: 'active' | 'disabled';

  /** Its circuit breaker; null for an endpoint that goes to a destination. */
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
