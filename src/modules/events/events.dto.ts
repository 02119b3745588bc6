import { ApiProperty, OmitType } from '@nestjs/swagger';
import type { Circuit } from '#engine/circuit.js';
import { ATTEMPT_ERRORS } from '#engine/outcome.js';
import { shownHeaders } from '#kernel/crypto/sensitive-headers.js';
import { idTimeMs, showId } from '#kernel/ids.js';
import type { Caller } from '#kernel/tenant.js';
import { shownDelivery } from './attempts.contract.js';
import { ERROR_CLASSES } from './event-lists.js';
import { EVENT_STATUSES, type EventRow } from './event-rows.js';
import type { EventCount, EventDetail, ListedEvents } from './events.service.js';
import type { DeliveryRow, EventProgress } from './events.store.js';
import { PAYLOAD_SHOWN_BYTES_MAX } from './messages.contract.js';

const DELIVERY_STATUSES = ['delivered', 'failed', 'retrying', 'dlq'] as const;
const ONE_STATUS = { type: 'string', enum: [...EVENT_STATUSES] };
/** Any JSON: the type of a received body is its provider's business. */
const ANYTHING = ['object', 'array', 'string', 'number', 'boolean'].map((type) =>
  type === 'array' ? { type, items: {} } : { type },
);

/** Which events to look at. */
export class EventFilterQuery {
  /** Only events in one of these states: the parameter several times, or once with commas. */
  @ApiProperty({
    required: false,
    type: 'array',
    items: ONE_STATUS,
    minItems: 1,
    maxItems: 20,
    example: ['dlq', 'failed'],
  })
  status?: (typeof EVENT_STATUSES)[number][];

  /** Only events that this inbound endpoint received (its id or path), that this endpoint of an application got, or that went to this destination. */
  @ApiProperty({ required: false, maxLength: 200, example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  endpoint?: string;

  /**
   * Only events that went to this destination (its id, or an ad-hoc URL): sent to it, routed to it by an endpoint, or fanned out to it.
   * With `status`, a delivery there must be in that state too.
   */
  @ApiProperty({ required: false, maxLength: 2048, example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  destination?: string;

  /** Only events that were sent to this application: its `app_` id, or your own id of it. */
  @ApiProperty({ required: false, maxLength: 256, example: 'customer-42' })
  application?: string;

  /** Only events of exactly this type. */
  @ApiProperty({ required: false, maxLength: 256, example: 'invoice.paid' })
  event_type?: string;

  /** Only the events of this message. */
  @ApiProperty({ required: false, maxLength: 64, example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  message_id?: string;

  /** Only events that were sent (`outbound`, emails too), or that were received (`inbound`, received mail too). */
  @ApiProperty({ required: false, enum: ['outbound', 'inbound'], example: 'outbound' })
  direction?: 'outbound' | 'inbound';

  /**
   * Only events that are not delivered and whose last attempt ended so: why there was no answer, or the class of its status. Of several
   * deliveries that is the last attempt of the one that gives the event its status.
   */
  @ApiProperty({ required: false, enum: ERROR_CLASSES, example: 'timeout' })
  error?: (typeof ERROR_CLASSES)[number];

  /** Only what has exactly this id: of an event, of one of its deliveries (`evt_….0`), of a message, of a received request (`req_`), or the `webhook-id` of a delivery. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 200, example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  q?: string;

  /** Only events received at or after this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since?: string;

  /** Only events received at or before this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;
}

/** Filters of the events list. */
export class EventListQuery extends EventFilterQuery {
  /** Where to go on: the `next_cursor` of the page before, with the same filters. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** Filters of the list of an application's events. */
export class ApplicationEventQuery extends OmitType(EventListQuery, ['application', 'destination', 'direction']) {}

/** An event in a list. */
export class EventItem {
  /** The event's id. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** The type that it was sent with. */
  @ApiProperty({ example: 'invoice.paid' })
  event_type: string;

  /** The path of the inbound endpoint that received it, or the `ep_` id of the application's endpoint that it goes to; null for any other. */
  @ApiProperty({ type: String, nullable: true, example: null })
  endpoint: string | null;

  /**
   * `retrying` until a final answer, then `delivered`, `dlq` (retries used up) or `failed` (no retry can help). Received
   * events that go nowhere are `quarantined` (the signature failed), `parked` or `ignored` (no route, or no subscription, matched).
   */
  @ApiProperty({ enum: EVENT_STATUSES, example: 'delivered' })
  status: string;

  /** Where it was sent: a destination's id, or the ad-hoc URL; null for an event of an endpoint, whose deliveries tell. */
  @ApiProperty({ type: String, nullable: true, example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  destination: string | null;

  /** The message that it belongs to; null for a received event. */
  @ApiProperty({ type: String, nullable: true, example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  message_id: string | null;

  /** When it was accepted. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  received_at: string;
}

/** How the last attempt of an event ended. */
export class LastAttemptItem {
  /** HTTP status of the answer, or that of the mail server; null when there was none. */
  @ApiProperty({ type: 'integer', nullable: true, example: 503 })
  status: number | null;

  /** Why there was no answer, in the words of the event's attempts. */
  @ApiProperty({ type: String, nullable: true, enum: [...ATTEMPT_ERRORS, null], example: null })
  error: string | null;

  /** When it started. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.120Z' })
  at: string;
}

/** An event in a list, and how far it has come. */
export class ListedEventItem extends EventItem {
  /** Attempts of all its deliveries, replays included. */
  @ApiProperty({ type: 'integer', example: 3 })
  attempt_count: number;

  /** The last attempt of the delivery that gives the event its status; null while it has none. */
  @ApiProperty({
    type: LastAttemptItem,
    nullable: true,
    example: { status: 503, error: null, at: '2026-11-21T09:30:00.120Z' },
  })
  last_attempt: LastAttemptItem | null;

  /** When the next attempt of any of its deliveries is due; null when none is. Behind an open circuit it is later: the event tells. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T09:35:00.000Z' })
  next_attempt_at: string | null;
}

/** One page of events, newest first. */
export class EventPage {
  /** The events of this page. */
  @ApiProperty({ type: [ListedEventItem] })
  data: ListedEventItem[];

  /**
   * Pass it as `cursor` for the next page; null on the last one. Where filters pick few among very many, a page can be short or empty and
   * still have a next one.
   */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;

  /**
   * Set on a page that ended before it was full, since it had looked at as many rows as one page may (3,000 to 10,000 of an index): everything from this time on was
   * looked at. Go on behind it with `cursor`, or narrow the range with `since` and `until`.
   */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  searched_to?: string;
}

/** How many events match. */
export class EventCountItem {
  /** Events that match: 10,000 at most. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 10000, example: 412 })
  count: number;

  /** True when there may be more: show it as `10,000+`, or `412+`. */
  @ApiProperty({ example: false })
  is_capped: boolean;

  /** Set when it is capped because enough was looked at: everything from this time on was counted. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  searched_to?: string;
}

/** One try of a delivery. */
export class AttemptItem {
  /** The delivery that it belongs to: an `id` of `deliveries`. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0' })
  delivery: string;

  /** Where it went, as the delivery has it. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  destination: string;

  /** Counts the tries of its delivery from 1. */
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

  /** Why there was no answer: timeout, dns, connection, tls, blocked, protocol, refused (not sent at all), or adapter (a fault of what serves the type). */
  @ApiProperty({ type: String, nullable: true, example: null })
  error: string | null;

  /** True when it belongs to a replay. */
  @ApiProperty({ example: false })
  replayed: boolean;
}

/** The circuit breaker that a delivery waits behind. */
export class DeliveryCircuitItem {
  /** `open` holds deliveries back, `half_open` tries one. */
  @ApiProperty({ enum: ['open', 'half_open'], example: 'open' })
  state: string;

  /** When the outage began. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T09:30:00.120Z' })
  opened_at: string | null;

  /** When one of the waiting deliveries is tried, to see whether the target is back; null while that is under way. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T09:30:30.120Z' })
  next_probe_at: string | null;
}

/** One event going to one destination. */
export class DeliveryItem {
  /** The event's id, and which of its deliveries this is. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0' })
  id: string;

  /** A destination's id, the ad-hoc URL, or the `ep_` id of an application's endpoint. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  destination: string;

  /** Its state. */
  @ApiProperty({ enum: DELIVERY_STATUSES, example: 'delivered' })
  status: string;

  /** When the next attempt is due, behind an open circuit no earlier than the next probe; null when there is none. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  next_attempt_at: string | null;

  /** Set while it waits because the circuit of its target is not closed: it goes out when a probe was answered, and uses up no attempt. */
  @ApiProperty({ type: DeliveryCircuitItem, nullable: true, example: null })
  circuit: DeliveryCircuitItem | null;

  /** Why it failed: gone, target_gone, target_disabled, filter_undecided (the filter took too long), refused, cancelled, erased, expired or superseded (by a replay). */
  @ApiProperty({ type: String, nullable: true, example: null })
  reason: string | null;

  /** True when it is a replay. */
  @ApiProperty({ example: false })
  replayed: boolean;
}

/** An event with its payload, deliveries and attempts. */
export class EventDetailItem extends EventItem {
  /** The `webhook-id` that receivers dedupe on. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  webhook_id: string;

  /** Which way it went. */
  @ApiProperty({ enum: ['outbound', 'inbound'], example: 'outbound' })
  direction: string;

  /** The application that it was sent to; absent for any other event. */
  @ApiProperty({ required: false, example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  application?: string;

  /** When its payload was erased; absent while it is there. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  payload_erased_at?: string;

  /** Headers that are forwarded with it; a key of scope read is shown `(hidden)` for those that authenticate (`authorization`, cookies, tokens). */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: { 'x-tenant': '42' } })
  headers: Record<string, string>;

  /** The payload, in the very characters that it was sent with; absent when it is over 256 KB. */
  @ApiProperty({ required: false, nullable: true, oneOf: ANYTHING, example: { amount: 4200 } })
  payload?: unknown;

  /** How the payload is shown: `json`, `text` for a received body that is none, `base64` for one that is no text. */
  @ApiProperty({ required: false, enum: ['json', 'text', 'base64'], example: 'json' })
  payload_encoding?: string;

  /** The raw request of a received event. */
  @ApiProperty({ required: false, example: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  request_id?: string;

  /**
   * Of a received event: why it went nowhere, or that its transform failed and it went on as it came (`failMode: open`); null when
   * there is nothing to say.
   */
  @ApiProperty({
    required: false,
    type: String,
    nullable: true,
    example: 'The transform failed: timeout. It was delivered untransformed.',
  })
  note?: string | null;

  /** True when the payload is left out because it is over 256 KB: `GET /v1/events/{id}/payload` has it. */
  @ApiProperty({ required: false, example: true })
  payload_truncated?: boolean;

  /** Its deliveries, the replays included, oldest first. */
  @ApiProperty({ type: [DeliveryItem] })
  deliveries: DeliveryItem[];

  /** Every attempt, oldest first. */
  @ApiProperty({ type: [AttemptItem] })
  attempts: AttemptItem[];
}

export function presentEventPage({ rows, nextCursor, searchedTo }: ListedEvents): EventPage {
  return {
    data: rows.map(({ event, progress }) => presentListed(event, progress)),
    next_cursor: nextCursor,
    ...searched(searchedTo),
  };
}

export function presentCount({ count, isCapped, searchedTo }: EventCount): EventCountItem {
  return { count, is_capped: isCapped, ...searched(searchedTo) };
}

const searched = (ms: number | null): { searched_to?: string } =>
  ms === null ? {} : { searched_to: new Date(ms).toISOString() };

function presentListed(event: EventRow, progress: EventProgress | null): ListedEventItem {
  const { attemptCount = 0, nextAttemptAt = null, lastAt = null, lastStatus = null, lastError = null } = progress ?? {};
  return {
    ...presentEvent(event),
    attempt_count: attemptCount,
    last_attempt: lastAt && { status: lastStatus, error: lastError, at: lastAt.toISOString() },
    next_attempt_at: nextAttemptAt?.toISOString() ?? null,
  };
}

export function presentEvent(row: EventRow): EventItem {
  return {
    id: showId('evt', row.id),
    event_type: row.eventType,
    endpoint: endpointOf(row),
    status: row.status,
    destination: isReceived(row) || row.messageId !== null ? null : (row.url ?? showId('dst', row.targetId)),
    message_id: isReceived(row) ? null : showId('msg', row.messageId ?? row.id),
    received_at: new Date(idTimeMs(row.id)).toISOString(),
  };
}

/** The detail as JSON text: the payload goes in as the characters that it was sent with, large integers and all. */
export function presentEventDetail({ event, deliveries, attempts, circuits }: EventDetail, caller: Caller): string {
  const address = isReceived(event) ? null : event.url;
  // An application's endpoint with a URL is its own destination.
  const kindOf = (row: DeliveryRow): 'ep' | 'dst' =>
    event.messageId !== null && row.targetId === event.targetId ? 'ep' : 'dst';
  const destination = (row: DeliveryRow): string => address ?? showId(kindOf(row), row.targetId);
  const payload = event.payloadBytes <= PAYLOAD_SHOWN_BYTES_MAX ? shownPayload(event) : null;
  const detail: EventDetailItem = {
    ...presentEvent(event),
    webhook_id: showId(isReceived(event) ? 'evt' : 'msg', event.messageId ?? event.id),
    direction: event.direction,
    headers: shownHeaders(event.headers ?? {}, caller),
    ...(event.applicationId !== null && { application: showId('app', event.applicationId) }),
    ...(isReceived(event) && { request_id: showId('req', event.id), note: event.note }),
    ...(event.erasedAt !== null && { payload_erased_at: event.erasedAt.toISOString() }),
    ...(payload ? { payload_encoding: payload.encoding } : event.erasedAt === null && { payload_truncated: true }),
    deliveries: deliveries.map((row) => ({
      id: shownDelivery(event.id, row.ordinal),
      destination: destination(row),
      status: row.status,
      ...waiting(row, circuits.get(row.targetId)),
      reason: row.reason,
      replayed: row.replayed,
    })),
    attempts: attempts.map(({ delivery, ...row }) => ({
      delivery: shownDelivery(event.id, delivery.ordinal),
      destination: destination(delivery),
      number: row.number,
      status: row.status,
      duration_ms: row.durationMs,
      at: row.startedAt.toISOString(),
      response_excerpt: row.excerpt,
      error: row.error,
      replayed: delivery.replayed,
    })),
  };
  const text = JSON.stringify(detail);
  return payload ? `${text.slice(0, -1)},"payload":${payload.json}}` : text;
}

/** When a delivery goes out, and the circuit that it waits behind. */
function waiting(
  { status, nextAttemptAt }: DeliveryRow,
  circuit: Circuit | undefined,
): Pick<DeliveryItem, 'next_attempt_at' | 'circuit'> {
  if (status !== 'retrying' || circuit === undefined || circuit.state === 'closed')
    return { next_attempt_at: nextAttemptAt?.toISOString() ?? null, circuit: null };
  // Half open, the time is that at which the prober is given up.
  const probeAt = circuit.state === 'open' ? circuit.probeAt : null;
  const next = probeAt !== null && nextAttemptAt !== null && probeAt > nextAttemptAt ? probeAt : nextAttemptAt;
  return {
    next_attempt_at: next?.toISOString() ?? null,
    circuit: {
      state: circuit.state,
      opened_at: circuit.openedAt?.toISOString() ?? null,
      next_probe_at: probeAt?.toISOString() ?? null,
    },
  };
}

/** The unmatched message's own event has the message's id, and no endpoint. */
function endpointOf(row: EventRow): string | null {
  if (isReceived(row)) return row.url;
  return row.messageId === null || row.messageId === row.id ? null : showId('ep', row.targetId);
}

function isReceived({ direction }: EventRow): boolean {
  return direction === 'inbound';
}

/** The payload as JSON text. What was sent is JSON; what was received may be anything. */
function shownPayload({
  direction,
  payload,
  body,
}: EventDetail['event']): { encoding: 'json' | 'text' | 'base64'; json: string } | null {
  if (payload === null) return body && { encoding: 'base64', json: JSON.stringify(body.toString('base64')) };
  if (direction === 'outbound' || isJson(payload)) return { encoding: 'json', json: payload };
  return { encoding: 'text', json: JSON.stringify(payload) };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
