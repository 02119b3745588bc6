import { ApiProperty } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsIn, IsInt, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import type { SynchronousAnswer } from '#engine/inbound/request.js';
import { Examples } from '#http/openapi-examples.js';
import {
  CanBeNull,
  CanBeOmitted,
  IsArrayOf,
  IsDateTime,
  IsObjectOf,
  IsStringMap,
  MatchesSchema,
} from '#http/validation.js';
import { noSuch } from '#kernel/errors.js';
import { type Id, idTimeMs, parseId, showId } from '#kernel/ids.js';
import { CodeLogsItem } from '#modules/events/contract.dto.js';
import type { RequestDetail, RequestRow } from '#modules/events/requests.contract.js';
import { shownAnswer } from './received-answer.js';

const STATUSES = ['routed', 'quarantined', 'parked', 'ignored', 'duplicate', 'too_large'] as const;

/** Filters for the raw requests of an endpoint. */
export class RequestListQuery {
  /** Returns only requests with this status. */
  @ApiProperty({ example: 'quarantined' })
  @CanBeOmitted()
  @IsIn(STATUSES)
  status?: (typeof STATUSES)[number];

  /** Returns only requests with this method, in upper case. */
  @ApiProperty({ example: 'POST' })
  @CanBeOmitted()
  @IsString()
  @Matches(/^[A-Z-]{1,32}$/u)
  method?: string;

  /** Returns only requests received at or after this time (RFC 3339). */
  @ApiProperty({ example: '2026-11-14T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  since?: string;

  /** Returns only requests received at or before this time (RFC 3339). */
  @ApiProperty({ example: '2026-11-21T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  until?: string;

  /** Cursor of the page to return: the `next_cursor` of the previous page. Returns the first page if omitted. */
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

/** Display options for a raw request. */
export class RequestViewQuery {
  /**
   * If `true`, authentication headers are hidden even for a key of scope `write`. Use it if others will see the
   * response.
   */
  @ApiProperty({ default: false, example: true })
  @CanBeOmitted()
  @IsBoolean()
  hide_secrets?: boolean;
}

/** A raw request as shown in a list. */
export class RequestItem {
  /** Id of the request. Its event has the same id with the prefix `evt_`. Not every request creates an event. */
  @ApiProperty({ example: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /**
   * Id of the event that the request created. For a duplicate, this is the event of the original request. `null` for
   * status `too_large`.
   */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  event_id: string | null;

  /** The HTTP method. */
  @ApiProperty({ example: 'POST' })
  @IsString()
  method: string;

  /** Part of the path after the endpoint's own path. Empty if there is none. */
  @ApiProperty({ example: '' })
  @IsString()
  path: string;

  /**
   * `routed` (deliveries were created), `quarantined` (the signature is invalid), `parked` (the endpoint was paused, or
   * its transform failed), `ignored` (no route matched, or the transform dropped the event), `duplicate` (an earlier
   * request had the same id), or `too_large` (the body was larger than the endpoint's `max_body_bytes`, and was not
   * stored).
   */
  @ApiProperty({ example: 'routed' })
  @IsIn(STATUSES)
  status: string;

  /** `true` if the provider's signature is valid. `null` if the endpoint does not verify signatures. */
  @ApiProperty({ example: true })
  @CanBeNull()
  @IsBoolean()
  verified: boolean | null;

  /** Time at which the request was received. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  received_at: string;

  /**
   * Size of the body in bytes. For status `too_large`, the declared size, or the number of bytes that had arrived when
   * the request was rejected.
   */
  @ApiProperty({ example: 512 })
  @IsInt()
  size_bytes: number;

  /**
   * The provider's id of this delivery, which stays the same when the provider resends it. The endpoint's `deduplicate`
   * setting can use this id to detect duplicates.
   */
  @ApiProperty({ example: 'evt_1NG8Du2eZvKYlo2CUI79vXWy' })
  @CanBeNull()
  @IsString()
  dedupe_id: string | null;

  /**
   * Note on the processing, as a sentence: why the signature is invalid, why the request was parked, or that it was
   * transformed.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  note: string | null;

  /** Id of the request that this request replays. For a replay of a replay, this is the provider's original request. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  replay_of: string | null;

  /**
   * Time at which a replay routed the quarantined, parked or dropped request. `null` if the request was not released in
   * this manner.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  released_at: string | null;
}

/** One page of raw requests, newest first. */
export class RequestPage {
  /** The requests of this page. */
  @IsArrayOf(() => RequestItem)
  data: RequestItem[];

  /** Pass this value as `cursor` to get the next page. `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** The response that the provider got. */
export class RequestAnswer {
  /** HTTP status code. */
  @ApiProperty({ example: 200 })
  @IsInt()
  status: number;

  /** Headers that the endpoint's response sets. Names are in lower case. */
  @ApiProperty({ example: { 'content-type': 'application/json; charset=utf-8' } })
  @IsStringMap()
  headers: Record<string, string>;

  /**
   * First 1 KB of the body. `null` if the body was the standard error body for this status, or was erased with the
   * request.
   */
  @ApiProperty({ example: '{"received":true,"id":"evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"}' })
  @CanBeNull()
  @IsString()
  body: string | null;

  /** `true` if the body was longer than 1 KB. */
  @ApiProperty({ example: false })
  @IsBoolean()
  truncated: boolean;
}

/** A raw request as it was received. */
export class RequestDetailItem extends RequestItem {
  /** URL that was called. */
  @ApiProperty({ example: 'https://hooks.example.com/in/acme/stripe' })
  @IsString()
  url: string;

  /** Query string as it was sent. */
  @ApiProperty({ example: 'source=eu' })
  @IsString()
  query: string;

  /**
   * Headers in their original order, including repeated ones, with names in lower case. With scope `read`, the values
   * of authentication headers are `(hidden)`.
   */
  @ApiProperty({ example: [['content-type', 'application/json']] })
  @IsArray()
  @MatchesSchema({ type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 2 }, { each: true })
  headers: [string, string][];

  /** The body as text, or in base64 if it is not text. */
  @ApiProperty({ example: '{"type":"invoice.paid"}' })
  @IsString()
  body: string;

  /** Encoding of `body`. */
  @ApiProperty({ example: 'text' })
  @IsIn(['text', 'base64'])
  body_encoding: string;

  /**
   * Time at which the request was erased together with its event's payload. The query, the body and the values of the
   * headers are then empty. Absent if the request is not erased.
   */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  erased_at?: string;

  /** IP address of the client. */
  @ApiProperty({ example: '203.0.113.7' })
  @IsString()
  ip: string;

  /**
   * The response that the provider got. `null` for a replay, because no provider waits for its response. Also `null`
   * for requests stored by versions that did not record it.
   */
  @CanBeNull()
  @IsObjectOf(() => RequestAnswer)
  answer: RequestAnswer | null;

  /** Console output of the transform. `null` if there is no output. */
  @CanBeNull()
  @IsObjectOf(() => CodeLogsItem)
  logs: CodeLogsItem | null;
}

/** Response to the replay of a raw request. */
export class RequestReplayed {
  /** Id of this replay request. */
  @ApiProperty({ example: 'rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  replay_id: string;

  /** Id of the new event. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  event_id: string;
}

/** The sample event to send to an inbound endpoint. */
@Examples({
  body: { summary: 'Send your own body', value: { body: '{"type":"invoice.paid"}' } },
  preset: { summary: "Send a provider's sample event", value: { preset: 'stripe' } },
})
export class EndpointTestBody {
  /** Preset whose sample event is sent. Defaults to the endpoint's own preset. */
  @ApiProperty({ example: 'stripe' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(64)
  preset?: string;

  /** Type of the sample event. Defaults to the type of the preset's own sample. */
  @ApiProperty({ example: 'invoice.paid' })
  @CanBeOmitted()
  @IsString()
  @Matches(/^[A-Za-z0-9._:/-]{1,256}$/u)
  event_type?: string;

  /** Body to send instead of the preset's sample, as text. */
  @ApiProperty({ example: '{"type":"invoice.paid"}' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(262_144)
  body?: string;
}

/** Result of sending a sample event. */
export class EndpointTested {
  /** Id of the event. `null` if the sample was a handshake or nothing was stored. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  event_id: string | null;

  /** `true` if the signature is valid. `null` if the endpoint does not verify signatures. */
  @ApiProperty({ example: true })
  @CanBeNull()
  @IsBoolean()
  verified: boolean | null;

  /** HTTP status code that the provider would get. */
  @ApiProperty({ example: 200 })
  @IsInt()
  status: number;
}

/** Returns the id of a request, given its `req_` id or its event's `evt_` id. Throws 404 if the text is neither. */
export function requestId(text: string): Id {
  const id = parseId('req', text) ?? parseId('evt', text);
  if (id === null) throw noSuch('request');
  return id;
}

/** Returns the endpoint id of an `ep_` text. Throws 404 if the text is not a valid id. */
export function endpointIdOf(text: string): Id {
  const id = parseId('ep', text);
  if (id === null) throw noSuch('endpoint');
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
    event_id: row.status === 'too_large' ? null : showId('evt', row.duplicateOf ?? row.id),
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
    logs: row.logs,
  };
}
