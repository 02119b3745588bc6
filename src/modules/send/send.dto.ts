import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsObject, IsString, Length, Matches } from 'class-validator';
import { FORWARDED_HEADERS_RULE } from '#engine/headers.js';
import { Examples } from '#http/openapi-examples.js';
import { Verbatim } from '#http/schemas.js';
import { CanBeNull, CanBeOmitted, IsDateTime, IsObjectOf, IsStringMap } from '#http/validation.js';
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
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  @Length(1, 2048)
  destination: string;

  /** The event type: up to 256 letters, digits and `. _ - : /`. */
  @ApiProperty({ example: 'invoice.paid' })
  @IsString()
  @Length(1, 256)
  @Matches(/^[A-Za-z0-9._:/-]+$/u)
  event_type: string;

  /** The body of the webhook, up to 1 MB. It is delivered character for character as in this request. */
  @Verbatim()
  @ApiProperty({ example: { id: 'in_1', amount: 4200 } })
  @IsObject()
  payload: Record<string, unknown>;

  /** Headers to forward with the deliveries. They take precedence over the destination's own headers. */
  @ApiProperty({
    description: `Headers to forward with the deliveries. They take precedence over the destination's own headers. ${FORWARDED_HEADERS_RULE}`,
    example: { 'x-tenant': '42' },
  })
  @CanBeOmitted()
  @IsStringMap()
  headers?: Record<string, string>;
}

/** Response to an accepted send. */
export class SendAccepted {
  /** The message's id. It is also the delivery's `webhook-id`. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  message_id: string;
}

/** One attempt of a delivery. */
export class TestAttempt {
  /** Number of the attempt within its delivery, starting at 1. */
  @ApiProperty({ example: 1 })
  @IsInt()
  number: number;

  /** HTTP status of the response; `null` if there was no response. */
  @ApiProperty({ example: 200 })
  @CanBeNull()
  @IsInt()
  status: number | null;

  /** Duration of the attempt in milliseconds. */
  @ApiProperty({ example: 42 })
  @IsInt()
  duration_ms: number;

  /** Time at which the attempt started. */
  @ApiProperty({ example: '2026-11-21T09:30:00.120Z' })
  @IsDateTime()
  at: string;

  /** First 1 KB of the response body, or an error message. */
  @ApiProperty({ example: 'ok' })
  @CanBeNull()
  @IsString()
  response_excerpt: string | null;

  /** Why there was no response: timeout, dns, connection, tls, blocked, protocol or adapter. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  error: string | null;
}

/** Response to a test of a destination. */
export class TestSent {
  /** Id of the test message. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  message_id: string;

  /**
   * The first attempt; `null` if none was made within 20 seconds, for example because the circuit breaker is open or a
   * rate limit delays it.
   */
  @CanBeNull()
  @IsObjectOf(() => TestAttempt)
  attempt: TestAttempt | null;
}

/**
 * Returns the response to a test before its first attempt. It is stored for the idempotency key in the commit of the
 * event.
 */
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
