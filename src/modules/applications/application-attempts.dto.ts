import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsString, Max, MaxLength, Min } from 'class-validator';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime } from '#http/validation.js';
import { type Id, showId } from '#kernel/ids.js';
import { type LoggedAttempt, shownDelivery } from '#modules/events/attempts.contract.js';

const OUTCOMES = ['delivered', 'failed'] as const;

/** Filters for the attempts of an endpoint. */
export class EndpointAttemptQuery {
  /** Returns only attempts with a 2xx response (`delivered`), or only all other attempts (`failed`). */
  @ApiProperty({ example: 'failed' })
  @CanBeOmitted()
  @IsIn(OUTCOMES)
  status?: (typeof OUTCOMES)[number];

  /** Returns only attempts of events with exactly this type. */
  @ApiProperty({ example: 'invoice.paid' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(256)
  event_type?: string;

  /** Returns only attempts of events accepted at or after this time (RFC 3339). */
  @ApiProperty({ example: '2026-11-20T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  since?: string;

  /** Returns only attempts of events accepted at or before this time (RFC 3339). */
  @ApiProperty({ example: '2026-11-21T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  until?: string;

  /** Start of the page: the `next_cursor` of the previous page, with the same filters. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of items to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** One delivery attempt to an endpoint. */
export class EndpointAttemptItem {
  /** Id of the event. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  event_id: string;

  /** Id of the message that the event belongs to; receivers see it as `webhook-id`. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  message_id: string | null;

  /** Type of the event. */
  @ApiProperty({ example: 'invoice.paid' })
  @IsString()
  event_type: string;

  /** Id of the delivery that the attempt belongs to: an `id` in the event's `deliveries`. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0' })
  @IsString()
  delivery: string;

  /** Target of the attempt: the endpoint's own `ep_` id if it has a URL, otherwise the id of its destination. */
  @ApiProperty({ example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  destination: string;

  /** Number of the attempt within its delivery, starting at 1. A replay is a new delivery. */
  @ApiProperty({ example: 1 })
  @IsInt()
  number: number;

  /** HTTP status of the response; `null` if there was no response. */
  @ApiProperty({ example: 503 })
  @CanBeNull()
  @IsInt()
  status: number | null;

  /** Reason for a missing response: `timeout`, `dns`, `connection`, `tls`, `blocked`, `protocol` or `adapter`. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  error: string | null;

  /** Duration of the attempt in milliseconds. */
  @ApiProperty({ example: 42 })
  @IsInt()
  duration_ms: number;

  /** Time at which the attempt started. */
  @ApiProperty({ example: '2026-11-21T09:30:00.120Z' })
  @IsDateTime()
  at: string;

  /** First 1 KB of the response body, or a description of the error. */
  @ApiProperty({ example: 'Try again later' })
  @CanBeNull()
  @IsString()
  response_excerpt: string | null;

  /** Whether the attempt belongs to a replay of the event. */
  @ApiProperty({ example: false })
  @IsBoolean()
  replayed: boolean;

  /**
   * Time at which the next attempt of the delivery is due; `null` if no attempt is due, or if a later attempt was made.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  next_attempt_at: string | null;
}

/** One page of attempts. */
export class EndpointAttemptPage {
  /** Attempts on this page. */
  @IsArrayOf(() => EndpointAttemptItem)
  data: EndpointAttemptItem[];

  /** Value for `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

export function presentAttempt(attempt: LoggedAttempt, endpointId: Id): EndpointAttemptItem {
  const { eventId, messageId, eventType, ordinal, targetId, replayed, nextAttemptAt } = attempt;
  return {
    event_id: showId('evt', eventId),
    message_id: messageId && showId('msg', messageId),
    event_type: eventType,
    delivery: shownDelivery(eventId, ordinal),
    destination: showId(targetId === endpointId ? 'ep' : 'dst', targetId),
    number: attempt.number,
    status: attempt.status,
    error: attempt.error,
    duration_ms: attempt.durationMs,
    at: attempt.startedAt.toISOString(),
    response_excerpt: attempt.excerpt,
    replayed,
    next_attempt_at: nextAttemptAt?.toISOString() ?? null,
  };
}
