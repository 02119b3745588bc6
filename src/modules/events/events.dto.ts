import { ApiProperty, OmitType } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import type { Circuit } from '#engine/circuit.js';
import { requestLineOf } from '#engine/inbound/forwarded-url.js';
import { ATTEMPT_ERRORS } from '#engine/outcome.js';
import {
  CanBeNull,
  CanBeOmitted,
  IsArrayOf,
  IsDateTime,
  IsObjectOf,
  IsStringMap,
  MatchesSchema,
} from '#http/validation.js';
import { shownHeaders } from '#kernel/crypto/sensitive-headers.js';
import { idTimeMs, showId } from '#kernel/ids.js';
import type { Caller } from '#kernel/tenant.js';
import { shownDelivery } from './attempts.contract.js';
import { CodeLogsItem } from './code-logs.dto.js';
import { ERROR_CLASSES } from './event-lists.js';
import { EVENT_STATUSES, type EventRow } from './event-rows.js';
import type { EventCount, EventDetail, ListedEvent, ListedEvents } from './events.service.js';
import type { DeliveryRow } from './events.store.js';
import { PAYLOAD_SHOWN_BYTES_MAX } from './messages.contract.js';
import { DeliveryPullItem, presentPulled } from './pulled.dto.js';

const DELIVERY_STATUSES = ['delivered', 'failed', 'retrying', 'dlq'] as const;
/** Any JSON value, because a received body may have any type. */
const ANYTHING = ['object', 'array', 'string', 'number', 'boolean'].map((type) =>
  type === 'array' ? { type, items: {} } : { type },
);

/** Filters that select events. */
export class EventFilterQuery {
  /** Selects only events in one of these states. Repeat the parameter, or separate the states with commas. */
  @ApiProperty({ example: ['dlq', 'failed'] })
  @CanBeOmitted()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(20)
  @IsIn(EVENT_STATUSES, { each: true })
  status?: (typeof EVENT_STATUSES)[number][];

  /**
   * Selects only events of this endpoint or destination. These are events that an inbound endpoint (id or path)
   * received, or events that were sent to an application's endpoint or to a destination.
   */
  @ApiProperty({ example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(200)
  endpoint?: string;

  /**
   * Selects only events sent to this destination (id or ad-hoc URL), either directly, by a route, or by a send to an
   * application. If `status` is also given, the delivery to this destination must have that status.
   */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(2048)
  destination?: string;

  /** Selects only events that were sent to this application, given by its `app_` id or your own uid. */
  @ApiProperty({ example: 'customer-42' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(256)
  application?: string;

  /** Selects only events of exactly this type. */
  @ApiProperty({ example: 'invoice.paid' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(256)
  event_type?: string;

  /** Selects only events of this message. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(64)
  message_id?: string;

  /**
   * Selects only sent events (`outbound`, including emails), or only received ones (`inbound`, including received
   * mail).
   */
  @ApiProperty({ example: 'outbound' })
  @CanBeOmitted()
  @IsIn(['outbound', 'inbound'])
  direction?: 'outbound' | 'inbound';

  /**
   * Selects only undelivered events whose last attempt ended with this error or status class. For an event with several
   * deliveries, the filter checks the delivery that determines the event's status.
   */
  @ApiProperty({ example: 'timeout' })
  @CanBeOmitted()
  @IsIn(ERROR_CLASSES)
  error?: (typeof ERROR_CLASSES)[number];

  /**
   * Selects only events whose last attempt got exactly this HTTP status or reply code of a mail server. For an event
   * with several deliveries, the filter checks the delivery that determines the event's status.
   */
  @ApiProperty({ example: 503 })
  @CanBeOmitted()
  @IsInt()
  @Min(200)
  @Max(599)
  response_status?: number;

  /**
   * Selects only received events of this delivery of the provider: the `dedupe_id` of their raw request, such as the
   * value of `X-GitHub-Delivery` or the id of a Stripe event. The preset or the `deduplicate` setting of the endpoint
   * defines it. If the provider sent a delivery several times, the list can contain several events.
   */
  @ApiProperty({ example: 'evt_1NG8Du2eZvKYlo2CUI79vXWy' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 1024)
  dedupe_id?: string;

  /**
   * Selects only events with exactly this id. It can be the id of the event, of its message, of its received request
   * (`req_`), of one of its deliveries (`evt_….0`), or the `webhook-id` of a delivery.
   */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 200)
  q?: string;

  /** Selects only events received at or after this time (RFC 3339). */
  @ApiProperty({ example: '2026-11-20T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  since?: string;

  /** Selects only events received at or before this time (RFC 3339). */
  @ApiProperty({ example: '2026-11-21T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  until?: string;
}

/** Filters of the events list. */
export class EventListQuery extends EventFilterQuery {
  /** The `next_cursor` of the previous page. The filters must stay the same. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of events to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** Filters of an application's event list. */
export class ApplicationEventQuery extends OmitType(EventListQuery, [
  'application',
  'destination',
  'direction',
  'dedupe_id',
]) {}

/** An event in a list. */
export class EventItem {
  /** The event's id. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** The event type given by the sender. */
  @ApiProperty({ example: 'invoice.paid' })
  @IsString()
  event_type: string;

  /**
   * The path of the inbound endpoint that received the event, or the `ep_` id of the application endpoint that it is
   * sent to. `null` for other events.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  endpoint: string | null;

  /**
   * `retrying` until the outcome is final, then `delivered`, `dlq` (all retries are used up) or `failed` (a retry
   * cannot help). Received events that are not delivered are `quarantined` (the signature was invalid), `parked`
   * (stored but not processed further) or `ignored` (no route or subscription matched).
   */
  @ApiProperty({ example: 'delivered' })
  @IsIn(EVENT_STATUSES)
  status: string;

  /**
   * Target of a sent event: the destination's id, or the ad-hoc URL. `null` for an event of an endpoint, because its
   * deliveries show the targets.
   */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  destination: string | null;

  /** The message that the event belongs to; `null` for a received event. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  message_id: string | null;

  /** Time at which the event was accepted. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  received_at: string;
}

/** The result of an event's last attempt. */
export class LastAttemptItem {
  /** HTTP status of the response, or the mail server's reply code; `null` if there was no response. */
  @ApiProperty({ example: 503 })
  @CanBeNull()
  @IsInt()
  status: number | null;

  /** Why there was no response, with the same values as `error` in the event's attempts. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsIn(ATTEMPT_ERRORS)
  error: string | null;

  /** Time at which the attempt started. */
  @ApiProperty({ example: '2026-11-21T09:30:00.120Z' })
  @IsDateTime()
  at: string;
}

/** An event in a list, with its delivery progress. */
export class ListedEventItem extends EventItem {
  /** Number of attempts of all deliveries, including replays. */
  @ApiProperty({ example: 3 })
  @IsInt()
  attempt_count: number;

  /** The last attempt of the delivery that determines the event's status; `null` if that delivery has no attempt. */
  @ApiProperty({ example: { status: 503, error: null, at: '2026-11-21T09:30:00.120Z' } })
  @CanBeNull()
  @IsObjectOf(() => LastAttemptItem)
  last_attempt: LastAttemptItem | null;

  /**
   * Time at which the next attempt of any delivery is due; `null` if none is due. While a circuit breaker is open, the
   * attempt may be made later. The event's detail shows the exact time.
   */
  @ApiProperty({ example: '2026-11-21T09:35:00.000Z' })
  @CanBeNull()
  @IsDateTime()
  next_attempt_at: string | null;

  /**
   * Whether consumers have acknowledged the event. Only for events that consumers pull, whose `status` is `delivered` as
   * soon as they can be pulled; omitted for other events.
   */
  @ApiProperty({ example: false })
  @CanBeOmitted()
  @IsBoolean()
  acknowledged?: boolean;
}

/** One page of events, newest first. */
export class EventPage {
  /** The events of this page. */
  @IsArrayOf(() => ListedEventItem)
  data: ListedEventItem[];

  /**
   * Pass this value as `cursor` to get the next page; `null` on the last page. If only few events match, a page can be
   * short or empty and still have a next page.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;

  /**
   * Set only if the page ended early at the limit of rows scanned per page (3,000 to 10,000 rows of an index). All
   * events since this time were searched. Continue with `cursor`, or narrow the range with `since` and `until`.
   */
  @ApiProperty({ example: '2026-11-20T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  searched_to?: string;
}

/** The number of matching events. */
export class EventCountItem {
  /** Number of matching events, at most 10,000. */
  @ApiProperty({ example: 412 })
  @IsInt()
  @Min(0)
  @Max(10000)
  count: number;

  /** `true` if there may be more events. In this case, display the count as `10,000+` or `412+`. */
  @ApiProperty({ example: false })
  @IsBoolean()
  is_capped: boolean;

  /** Set only if the count stopped early at the limit of scanned rows. All events since this time were counted. */
  @ApiProperty({ example: '2026-11-20T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  searched_to?: string;
}

/** One attempt of a delivery. */
export class AttemptItem {
  /** The delivery that the attempt belongs to: the `id` of an item in `deliveries`. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0' })
  @IsString()
  delivery: string;

  /** Target of the attempt, as in the delivery's `destination`. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  destination: string;

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

  /**
   * Why there was no response: timeout, dns, connection, tls, blocked, protocol, refused (never sent), or adapter (the
   * adapter of the destination type failed).
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  error: string | null;

  /** `true` if the attempt belongs to a replay. */
  @ApiProperty({ example: false })
  @IsBoolean()
  replayed: boolean;
}

/** The circuit breaker that delays a delivery. */
export class DeliveryCircuitItem {
  /** `open` delays all deliveries to the target; `half_open` tries one of them. */
  @ApiProperty({ example: 'open' })
  @IsIn(['open', 'half_open'])
  state: string;

  /** Time at which the target's outage began. */
  @ApiProperty({ example: '2026-11-21T09:30:00.120Z' })
  @CanBeNull()
  @IsDateTime()
  opened_at: string | null;

  /**
   * Time of the next attempt that checks whether the target has recovered; `null` while such an attempt is in flight.
   */
  @ApiProperty({ example: '2026-11-21T09:30:30.120Z' })
  @CanBeNull()
  @IsDateTime()
  next_probe_at: string | null;
}

/** The delivery of one event to one destination. */
export class DeliveryItem {
  /** The event's id, followed by the position of the delivery within the event. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0' })
  @IsString()
  id: string;

  /** Target of the delivery: a destination's id, the ad-hoc URL, or the `ep_` id of an application's endpoint. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  destination: string;

  /** Status of the delivery. */
  @ApiProperty({ example: 'delivered' })
  @IsIn(DELIVERY_STATUSES)
  status: string;

  /**
   * Time at which the next attempt is due; `null` if none is due. While the target's circuit breaker is open, this time
   * is not before the next probe.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  next_attempt_at: string | null;

  /**
   * Circuit breaker of the target. Present while the delivery waits for the circuit breaker to close. The delivery is
   * sent after a probe succeeds. Waiting does not count as an attempt.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsObjectOf(() => DeliveryCircuitItem)
  circuit: DeliveryCircuitItem | null;

  /**
   * Why the delivery failed: gone (the receiver responded with 410), target_gone (the target was deleted),
   * target_disabled, filter_undecided (the filter took too long), refused (the payload will never be accepted),
   * cancelled, erased, expired or superseded (by a replay).
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  reason: string | null;

  /** `true` if the delivery is a replay. */
  @ApiProperty({ example: false })
  @IsBoolean()
  replayed: boolean;

  /**
   * Present if the destination is of type `pull`: whether a consumer has acknowledged the event. Such a delivery is
   * `delivered` as soon as consumers can pull it. Absent if a replay replaced the delivery, or if the database was
   * restored from a dump.
   */
  @ApiProperty({ example: { acknowledged: false, feed: null, committed_at: null } })
  @CanBeOmitted()
  @IsObjectOf(() => DeliveryPullItem)
  pull?: DeliveryPullItem;
}

/** An event with its payload, deliveries and attempts. */
export class EventDetailItem extends EventItem {
  /** The `webhook-id` header, which receivers use to deduplicate. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  webhook_id: string;

  /** `outbound` for a sent event, `inbound` for a received one. */
  @ApiProperty({ example: 'outbound' })
  @IsIn(['outbound', 'inbound'])
  direction: string;

  /** The application that the event was sent to; absent for other events. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeOmitted()
  @IsString()
  application?: string;

  /** Time at which the payload was erased; absent if it was not erased. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  payload_erased_at?: string;

  /**
   * Headers that are forwarded with the event. For API keys with the scope read, headers that authenticate
   * (`authorization`, cookies, tokens) appear as `(hidden)`.
   */
  @ApiProperty({ example: { 'x-tenant': '42' } })
  @IsStringMap()
  headers: Record<string, string>;

  /** Method of the received request; absent for a sent event. */
  @ApiProperty({ example: 'POST' })
  @CanBeOmitted()
  @IsString()
  method?: string;

  /** Part of the received path after the endpoint's own path, or an empty string; absent for a sent event. */
  @ApiProperty({ example: '' })
  @CanBeOmitted()
  @IsString()
  path?: string;

  /**
   * Query of the received request, without the question mark and without parameters that authenticate the provider;
   * absent for a sent event.
   */
  @ApiProperty({ example: 'to=447700900000&text=Hello' })
  @CanBeOmitted()
  @IsString()
  query?: string;

  /** The payload, character for character as it was accepted; absent if it is larger than 256 KB. */
  @ApiProperty({ example: { amount: 4200 } })
  @IsOptional()
  @MatchesSchema({ oneOf: ANYTHING })
  payload?: unknown;

  /**
   * Encoding of `payload`: `json`; `text` for a received body that is not JSON; `base64` for a received body that is
   * not text.
   */
  @ApiProperty({ example: 'json' })
  @CanBeOmitted()
  @IsIn(['json', 'text', 'base64'])
  payload_encoding?: string;

  /** Id of the raw request of a received event. */
  @ApiProperty({ example: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeOmitted()
  @IsString()
  request_id?: string;

  /**
   * Note about a received event: the reason why it was not delivered, the error of its transform if it was delivered
   * unchanged (`failMode: open`), or the headers that were too large to forward. `null` if there is no note.
   */
  @ApiProperty({ example: 'The transform failed: threw: TypeError: not a function (line 2).' })
  @IsOptional()
  @IsString()
  note?: string | null;

  /** Console output of the transform of a received event. `null` if there is no output. */
  @IsOptional()
  @IsObjectOf(() => CodeLogsItem)
  logs?: CodeLogsItem | null;

  /**
   * `true` if the payload is left out because it is larger than 256 KB. Fetch it with `GET /v1/events/{id}/payload`.
   */
  @ApiProperty({ example: true })
  @CanBeOmitted()
  @IsBoolean()
  payload_truncated?: boolean;

  /** All deliveries including replays, oldest first. */
  @IsArrayOf(() => DeliveryItem)
  deliveries: DeliveryItem[];

  /** All attempts, oldest first. */
  @IsArrayOf(() => AttemptItem)
  attempts: AttemptItem[];
}

export function presentEventPage({ rows, nextCursor, searchedTo }: ListedEvents): EventPage {
  return {
    data: rows.map(presentListed),
    next_cursor: nextCursor,
    ...searched(searchedTo),
  };
}

export function presentCount({ count, isCapped, searchedTo }: EventCount): EventCountItem {
  return { count, is_capped: isCapped, ...searched(searchedTo) };
}

const searched = (ms: number | null): { searched_to?: string } =>
  ms === null ? {} : { searched_to: new Date(ms).toISOString() };

function presentListed({ event, progress, isAcknowledged }: ListedEvent): ListedEventItem {
  const { attemptCount = 0, nextAttemptAt = null, lastAt = null, lastStatus = null, lastError = null } = progress ?? {};
  return {
    ...presentEvent(event),
    attempt_count: attemptCount,
    last_attempt: lastAt && { status: lastStatus, error: lastError, at: lastAt.toISOString() },
    next_attempt_at: nextAttemptAt?.toISOString() ?? null,
    ...(isAcknowledged !== null && { acknowledged: isAcknowledged }),
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

/** Returns the event detail as JSON text. The payload is inserted verbatim, so large integers keep their digits. */
export function presentEventDetail(
  { event, deliveries, attempts, circuits, pulled }: EventDetail,
  caller: Caller,
): string {
  const address = isReceived(event) ? null : event.url;
  // An application endpoint that has a URL is itself the target of its deliveries.
  const kindOf = (row: DeliveryRow): 'ep' | 'dst' =>
    event.messageId !== null && row.targetId === event.targetId ? 'ep' : 'dst';
  const destination = (row: DeliveryRow): string => address ?? showId(kindOf(row), row.targetId);
  const payload = event.payloadBytes <= PAYLOAD_SHOWN_BYTES_MAX ? shownPayload(event) : null;
  const detail: EventDetailItem = {
    ...presentEvent(event),
    webhook_id: showId(isReceived(event) ? 'evt' : 'msg', event.messageId ?? event.id),
    direction: event.direction,
    headers: shownHeaders(event.headers ?? {}, caller),
    ...requestLineOf(event),
    ...(event.applicationId !== null && { application: showId('app', event.applicationId) }),
    ...(isReceived(event) && { request_id: showId('req', event.id), note: event.note, logs: event.logs }),
    ...(event.erasedAt !== null && { payload_erased_at: event.erasedAt.toISOString() }),
    ...(payload ? { payload_encoding: payload.encoding } : event.erasedAt === null && { payload_truncated: true }),
    deliveries: deliveries.map((row) => ({
      id: shownDelivery(event.id, row.ordinal),
      destination: destination(row),
      status: row.status,
      ...waiting(row, circuits.get(row.targetId)),
      reason: row.reason,
      replayed: row.replayed,
      ...presentPulled(pulled.get(row.ordinal)),
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

/** Returns the time of the delivery's next attempt, and the circuit breaker that delays it. */
function waiting(
  { status, nextAttemptAt }: DeliveryRow,
  circuit: Circuit | undefined,
): Pick<DeliveryItem, 'next_attempt_at' | 'circuit'> {
  if (status !== 'retrying' || circuit === undefined || circuit.state === 'closed')
    return { next_attempt_at: nextAttemptAt?.toISOString() ?? null, circuit: null };
  // In the half-open state, probeAt is the time at which the running probe is abandoned.
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

/**
 * Returns the endpoint of an event. If no endpoint subscribes to a message, its only event has the message's id and no
 * endpoint.
 */
function endpointOf(row: EventRow): string | null {
  if (isReceived(row)) return row.url;
  return row.messageId === null || row.messageId === row.id ? null : showId('ep', row.targetId);
}

function isReceived({ direction }: EventRow): boolean {
  return direction === 'inbound';
}

/**
 * Returns the payload as JSON text. A received payload that is not JSON becomes a string with its text, or with base64
 * if it is not text.
 */
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
