import { ApiProperty } from '@nestjs/swagger';
import { type Id, showId } from '#kernel/ids.js';
import { type LoggedAttempt, shownDelivery } from '#modules/events/attempts.contract.js';

const OUTCOMES = ['delivered', 'failed'] as const;

/** Filters of an endpoint's attempts. */
export class EndpointAttemptQuery {
  /** Only attempts that were answered with 2xx, or only the others. */
  @ApiProperty({ required: false, enum: OUTCOMES, example: 'failed' })
  status?: (typeof OUTCOMES)[number];

  /** Only attempts of events of exactly this type. */
  @ApiProperty({ required: false, maxLength: 256, example: 'invoice.paid' })
  event_type?: string;

  /** Only attempts of events that were accepted at or after this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since?: string;

  /** Only attempts of events that were accepted at or before this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;

  /** Where to go on: the `next_cursor` of the page before, with the same filters. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** One try at an endpoint. */
export class EndpointAttemptItem {
  /** The event. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  event_id: string;

  /** The message that the event belongs to, which is its `webhook-id`. */
  @ApiProperty({ type: String, nullable: true, example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  message_id: string | null;

  /** The event's type. */
  @ApiProperty({ example: 'invoice.paid' })
  event_type: string;

  /** The delivery that it belongs to: an `id` of the event's `deliveries`. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0' })
  delivery: string;

  /** Where it went: the endpoint's own `ep_` id when it has a URL, or the destination that it goes to. */
  @ApiProperty({ example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  destination: string;

  /** Counts the tries of one delivery from 1; a replay is a new delivery. */
  @ApiProperty({ type: 'integer', example: 1 })
  number: number;

  /** HTTP status of the answer; null when there was none. */
  @ApiProperty({ type: 'integer', nullable: true, example: 503 })
  status: number | null;

  /** Why there was no answer: timeout, dns, connection, tls, blocked, protocol or adapter. */
  @ApiProperty({ type: String, nullable: true, example: null })
  error: string | null;

  /** How long it took, in milliseconds. */
  @ApiProperty({ type: 'integer', example: 42 })
  duration_ms: number;

  /** When it started. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.120Z' })
  at: string;

  /** The first 1 KB of the answer, or what went wrong. */
  @ApiProperty({ type: String, nullable: true, example: 'Try again later' })
  response_excerpt: string | null;

  /** Whether it belongs to a replay of the event. */
  @ApiProperty({ example: false })
  replayed: boolean;

  /** When the next attempt of the delivery is due; null when there is none, or another one was made since. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  next_attempt_at: string | null;
}

/** One page of attempts. */
export class EndpointAttemptPage {
  /** The attempts of this page. */
  @ApiProperty({ type: [EndpointAttemptItem] })
  data: EndpointAttemptItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
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
