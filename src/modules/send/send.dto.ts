import { ApiProperty } from '@nestjs/swagger';
import { FORWARDED_HEADERS_RULE } from '#engine/headers.js';
import { Examples } from '#http/openapi-examples.js';
import { Verbatim } from '#http/schemas.js';
import type { StoredAnswer } from '#kernel/idempotency.js';
import { type Id, showId } from '#kernel/ids.js';
import type { AttemptRow } from '#modules/events/attempts.contract.js';

const TESTED_STATUS = 200;

/** One payload for one target. */
@Examples({
  destination: {
    summary: 'To the destination that you last created on this page',
    value: {
      destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
      event_type: 'invoice.paid',
      payload: { id: 'in_1', amount: 4200 },
    },
  },
  url: {
    summary: 'To an HTTPS URL, without a destination',
    value: {
      destination: 'https://example.com/webhooks',
      event_type: 'invoice.paid',
      payload: { id: 'in_1', amount: 4200 },
    },
  },
})
export class SendBody {
  /** The target: a destination's id, or an HTTPS URL. */
  @ApiProperty({ minLength: 1, maxLength: 2048, example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  destination: string;

  /** The event type: up to 256 letters, digits and `. _ - : /`. */
  @ApiProperty({ minLength: 1, maxLength: 256, pattern: '^[A-Za-z0-9._:/-]+$', example: 'invoice.paid' })
  event_type: string;

  /** The body of the webhook, up to 1 MB. It is delivered character for character as in this request. */
  @Verbatim()
  @ApiProperty({ type: 'object', additionalProperties: true, example: { id: 'in_1', amount: 4200 } })
  payload: Record<string, unknown>;

  /** Headers to forward with the deliveries. They take precedence over the destination's own headers. */
  @ApiProperty({
    description: `Headers to forward with the deliveries. They take precedence over the destination's own headers. ${FORWARDED_HEADERS_RULE}`,
    selfRequired: false,
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { 'x-tenant': '42' },
  })
  headers?: Record<string, string>;
}

/** Response to an accepted send. */
export class SendAccepted {
  /** The message's id. It is also the delivery's `webhook-id`. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  message_id: string;
}

/** One attempt of a delivery. */
export class TestAttempt {
  /** Number of the attempt within its delivery, starting at 1. */
  @ApiProperty({ type: 'integer', example: 1 })
  number: number;

  /** HTTP status of the response; `null` if there was no response. */
  @ApiProperty({ type: 'integer', nullable: true, example: 200 })
  status: number | null;

  /** Duration of the attempt in milliseconds. */
  @ApiProperty({ type: 'integer', example: 42 })
  duration_ms: number;

  /** Time at which the attempt started. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.120Z' })
  at: string;

  /** First 1 KB of the response body, or an error message. */
  @ApiProperty({ type: String, nullable: true, example: 'ok' })
  response_excerpt: string | null;

  /** Why there was no response: timeout, dns, connection, tls, blocked, protocol or adapter. */
  @ApiProperty({ type: String, nullable: true, example: null })
  error: string | null;
}

/** Response to a test of a destination. */
export class TestSent {
  /** Id of the test message. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  message_id: string;

  /**
   * The first attempt; `null` if none was made within 20 seconds because the circuit is open or a rate limit delays it.
   */
  @ApiProperty({ type: TestAttempt, nullable: true })
  attempt: TestAttempt | null;
}

/** Returns the response to a test before its first attempt. It is stored for the idempotency key at commit. */
export function unattempted(id: Id): StoredAnswer {
  return { status: TESTED_STATUS, body: JSON.stringify(presentTest(id, null)) };
}

export function presentTest(id: Id, attempt: AttemptRow | null): TestSent {
  return { message_id: showId('msg', id), attempt: attempt && presentAttempt(attempt) };
}

function presentAttempt(row: AttemptRow): TestAttempt {
  return {
    number: row.number,
    status: row.status,
    duration_ms: row.durationMs,
    at: row.startedAt.toISOString(),
    response_excerpt: row.excerpt,
    error: row.error,
  };
}
