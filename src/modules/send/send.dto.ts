import { ApiProperty } from '@nestjs/swagger';
import { Verbatim } from '#http/schemas.js';
import type { AttemptRow } from '#modules/ledger/accept.contract.js';

/** One payload for one target. */
export class SendBody {
  /** Where to send: the id of a destination, or an HTTPS URL. */
  @ApiProperty({ minLength: 1, maxLength: 2048, example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  destination: string;

  /** What happened: up to 256 letters, digits and `. _ - : /`. */
  @ApiProperty({ minLength: 1, maxLength: 256, pattern: '^[A-Za-z0-9._:/-]+$', example: 'invoice.paid' })
  event_type: string;

  /** The body of the webhook, up to 1 MB. It is delivered in the very characters of this request. */
  @Verbatim()
  @ApiProperty({ type: 'object', additionalProperties: true, example: { id: 'in_1', amount: 4200 } })
  payload: Record<string, unknown>;

  /** Headers to forward. Those that authenticate, sign or frame the request are refused. */
  @ApiProperty({ selfRequired: false, type: 'object', additionalProperties: { type: 'string' }, example: { 'x-tenant': '42' } })
  headers?: Record<string, string>;
}

/** What an accepted send answers. */
export class SendAccepted {
  /** Id of the message, which is also its `webhook-id`. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  message_id: string;
}

/** One try of a delivery. */
export class TestAttempt {
  /** Counts the tries from 1. */
  @ApiProperty({ type: 'integer', example: 1 })
  number: number;

  /** HTTP status of the answer; null when there was none. */
  @ApiProperty({ type: 'integer', nullable: true, example: 200 })
  status: number | null;

  /** How long it took, in milliseconds. */
  @ApiProperty({ type: 'integer', example: 42 })
  duration_ms: number;

  /** When it started. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.120Z' })
  at: string;

  /** The first 1 KB of the answer, or what went wrong. */
  @ApiProperty({ type: String, nullable: true, example: 'ok' })
  response_excerpt: string | null;

  /** Why there was no answer: timeout, dns, connection, tls, blocked or protocol. */
  @ApiProperty({ type: String, nullable: true, example: null })
  error: string | null;
}

/** What a test of a destination answers. */
export class TestSent {
  /** Id of the test message. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  message_id: string;

  /** The first attempt; null when none was made within 20 seconds, because the circuit is open or a rate limit holds it. */
  @ApiProperty({ type: TestAttempt, nullable: true })
  attempt: TestAttempt | null;
}

export function presentAttempt(row: AttemptRow): TestAttempt {
  return {
    number: row.number,
    status: row.status,
    duration_ms: row.durationMs,
    at: row.startedAt.toISOString(),
    response_excerpt: row.excerpt,
    error: row.error,
  };
}
