import { ApiProperty } from '@nestjs/swagger';
import type { SynchronousAnswer } from '#engine/inbound/request.js';
import { Examples } from '#http/openapi-examples.js';
import { notFound } from '#kernel/errors.js';
import { type Id, idTimeMs, parseId, showId } from '#kernel/ids.js';
import type { RequestDetail, RequestRow } from '#modules/events/requests.contract.js';
import { shownAnswer } from './received-answer.js';

const STATUSES = ['routed', 'quarantined', 'parked', 'ignored', 'duplicate'] as const;

/** Filters of the raw requests of an endpoint. */
export class RequestListQuery {
  /** Only requests that this became of. */
  @ApiProperty({ required: false, enum: STATUSES, example: 'quarantined' })
  status?: (typeof STATUSES)[number];

  /** Only requests with this method, in upper case. */
  @ApiProperty({ required: false, pattern: '^[A-Z-]{1,32}$', example: 'POST' })
  method?: string;

  /** Only requests received at or after this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-14T00:00:00.000Z' })
  since?: string;

  /** Only requests received at or before this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;

  /** Where to go on: the `next_cursor` of the page before. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** How a raw request is shown. */
export class RequestViewQuery {
  /** Hides headers that authenticate from scope `write` too: for answers that somebody else reads. */
  @ApiProperty({ required: false, type: Boolean, default: false, example: true })
  hide_secrets?: boolean;
}

/** A raw request in a list. */
export class RequestItem {
  /** The request's id. Its event has the same one, with `evt_`; a duplicate has none of its own. */
  @ApiProperty({ example: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** The event that it became; of a duplicate that of the request that it repeats. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  event_id: string;

  /** The HTTP method. */
  @ApiProperty({ example: 'POST' })
  method: string;

  /** What came behind the endpoint's own path; empty when nothing did. */
  @ApiProperty({ example: '' })
  path: string;

  /** `routed` to its deliveries, `quarantined` (the signature failed), `parked` (paused, or its transform failed), `ignored`, or a `duplicate` of an earlier one. */
  @ApiProperty({ enum: STATUSES, example: 'routed' })
  status: string;

  /** Whether the provider's signature held; null where nothing is verified. */
  @ApiProperty({ type: Boolean, nullable: true, example: true })
  verified: boolean | null;

  /** When it came. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  received_at: string;

  /** Size of the body. */
  @ApiProperty({ type: 'integer', example: 512 })
  size_bytes: number;

  /** The provider's own id of this delivery, the same when it sends again; what repeats are told by where the endpoint's `deduplicate` says so. */
  @ApiProperty({ type: String, nullable: true, example: 'evt_1NG8Du2eZvKYlo2CUI79vXWy' })
  dedupe_id: string | null;

  /** What happened to it besides, in a sentence: why its signature did not hold, why it was parked, that it was transformed. */
  @ApiProperty({ type: String, nullable: true, example: null })
  note: string | null;

  /** The request that this one repeats: the one that the provider sent, also when a repetition was repeated. */
  @ApiProperty({ type: String, nullable: true, example: null })
  replay_of: string | null;

  /** When it was released: it had been set aside, and a repetition of it went where the routes lead. Null until then. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  released_at: string | null;
}

/** One page of raw requests, newest first. */
export class RequestPage {
  /** The requests of this page. */
  @ApiProperty({ type: [RequestItem] })
  data: RequestItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** What a provider was answered. */
export class RequestAnswer {
  /** HTTP status. */
  @ApiProperty({ type: 'integer', example: 200 })
  status: number;

  /** Headers that the endpoint's answer has; names in lower case. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { 'content-type': 'application/json; charset=utf-8' },
  })
  headers: Record<string, string>;

  /** The first 1 KB of the body; null where it was the error envelope of this status, or was erased with the request. */
  @ApiProperty({ type: String, nullable: true, example: '{"received":true,"id":"evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"}' })
  body: string | null;

  /** Whether the body was longer. */
  @ApiProperty({ example: false })
  truncated: boolean;
}

/** A raw request as it came. */
export class RequestDetailItem extends RequestItem {
  /** The URL that was called. */
  @ApiProperty({ example: 'https://hooks.example.com/in/acme/stripe' })
  url: string;

  /** The query as it was sent. */
  @ApiProperty({ example: 'source=eu' })
  query: string;

  /** The headers in their order, repeated ones too, names in lower case. Those that authenticate are `(hidden)` from scope `read`. */
  @ApiProperty({
    type: 'array',
    items: { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 2 },
    example: [['content-type', 'application/json']],
  })
  headers: [string, string][];

  /** The body: text, or base64 where it is none. */
  @ApiProperty({ example: '{"type":"invoice.paid"}' })
  body: string;

  /** How `body` is written. */
  @ApiProperty({ enum: ['text', 'base64'], example: 'text' })
  body_encoding: string;

  /** When it was erased with its event's payload: query, body and values of headers are empty then. Absent while they are there. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  erased_at?: string;

  /** The client's address. */
  @ApiProperty({ example: '203.0.113.7' })
  ip: string;

  /** What the provider was answered; null when nobody was (a replay), and for requests of versions that did not note it. */
  @ApiProperty({ type: RequestAnswer, nullable: true })
  answer: RequestAnswer | null;
}

/** What a replay of a raw request answers. */
export class RequestReplayed {
  /** Id of this replay call. */
  @ApiProperty({ example: 'rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  replay_id: string;

  /** The new event that came of it. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  event_id: string;
}

/** A sample event to send to an endpoint. */
@Examples({
  body: { summary: 'A body of your own', value: { body: '{"type":"invoice.paid"}' } },
  preset: { summary: "A provider's sample", value: { preset: 'stripe' } },
})
export class EndpointTestBody {
  /** Another preset's sample than that of the endpoint. */
  @ApiProperty({ required: false, maxLength: 64, example: 'stripe' })
  preset?: string;

  /** The type that the sample is to have; left out, that of the preset's own. */
  @ApiProperty({ required: false, pattern: '^[A-Za-z0-9._:/-]{1,256}$', example: 'invoice.paid' })
  event_type?: string;

  /** The body to send instead of the preset's sample, as text. */
  @ApiProperty({ required: false, maxLength: 262_144, example: '{"type":"invoice.paid"}' })
  body?: string;
}

/** What came of a sample event. */
export class EndpointTested {
  /** The event; null when the sample was a handshake or nothing was stored. */
  @ApiProperty({ type: String, nullable: true, example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  event_id: string | null;

  /** Whether its signature held; null where nothing is verified. */
  @ApiProperty({ type: Boolean, nullable: true, example: true })
  verified: boolean | null;

  /** HTTP status that the provider would be answered. */
  @ApiProperty({ type: 'integer', example: 200 })
  status: number;
}

/** A `req_` id, or the `evt_` id of the event that it became. Throws 404. */
export function requestId(text: string): Id {
  const id = parseId('req', text) ?? parseId('evt', text);
  if (id === null) throw notFound('request');
  return id;
}

/** The endpoint that an `ep_` id names. Throws 404. */
export function endpointIdOf(text: string): Id {
  const id = parseId('ep', text);
  if (id === null) throw notFound('endpoint');
  return id;
}

export function presentReplay(replayId: Id, eventId: Id): RequestReplayed {
  return { replay_id: showId('rpl', replayId), event_id: showId('evt', eventId) };
}

export function presentTested({
  eventId,
  answer,
  verifies,
}: {
  eventId: Id | null;
  answer: SynchronousAnswer | 'refused' | 'unavailable';
  verifies: boolean;
}): EndpointTested {
  const status = answer === 'refused' ? 401 : answer === 'unavailable' ? 502 : answer.status;
  return { event_id: eventId && showId('evt', eventId), verified: verifies ? answer !== 'refused' : null, status };
}

export function presentRequest(row: RequestRow): RequestItem {
  return {
    id: showId('req', row.id),
    event_id: showId('evt', row.duplicateOf ?? row.id),
    method: row.method,
    path: row.path,
    status: row.status,
    verified: row.verification === 'none' ? null : row.verification === 'verified',
    received_at: new Date(idTimeMs(row.id)).toISOString(),
    size_bytes: row.sizeBytes,
    dedupe_id: row.dedupeId,
    note: row.note,
    replay_of: row.replayOf && showId('req', row.replayOf),
    released_at: row.releasedAt?.toISOString() ?? null,
  };
}

export function presentRequestDetail(row: RequestDetail): RequestDetailItem {
  const text = row.body.toString();
  const isText = !row.body.includes(0) && Buffer.from(text).equals(row.body);
  return {
    ...presentRequest(row),
    url: row.url,
    query: row.query,
    headers: row.headers,
    body: isText ? text : row.body.toString('base64'),
    body_encoding: isText ? 'text' : 'base64',
    ...(row.erasedAt !== null && { erased_at: row.erasedAt.toISOString() }),
    ip: row.ip,
    answer: shownAnswer(row.answer, row.duplicateOf ?? row.id),
  };
}
