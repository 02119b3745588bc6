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
    summary: 'To a destination: the last one that was created here',
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

  /** Headers to forward with the deliveries; they win over the destination's own. */
  @ApiProperty({
    description: `Headers to forward with the deliveries; they win over the destination's own. ${FORWARDED_HEADERS_RULE}`,
    selfRequired: false,
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { 'x-tenant': '42' },
  })
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

  /** Why there was no answer: timeout, dns, connection, tls, blocked, protocol or adapter. */
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

/** What is kept for the key of a test from its commit on: all that is known then. */
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
