import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsInt, IsString, Max, MaxLength, Min } from 'class-validator';
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
import type { Batch } from './pull.service.js';
import type { ItemRow } from './pull.store.js';

/** Any JSON value, because a received body may have any type. */
const ANYTHING = ['object', 'array', 'string', 'number', 'boolean'].map((type) =>
  type === 'array' ? { type, items: {} } : { type },
);

/** Position and size of the batch to pull. */
export class PullQuery {
  /** The `next_cursor` of an earlier response. The pull commits all events before the cursor and continues after it. */
  @ApiProperty({ example: 'WyIxLjgwMC4wMTlhOWY2NS4wIl0.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of events to return. Fewer events are returned if their payloads exceed 4 MB in total. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;

  /** Seconds to wait for events if none are available (long polling). */
  @ApiProperty({ default: 0, example: 20 })
  @CanBeOmitted()
  @IsInt()
  @Min(0)
  @Max(20)
  wait?: number;
}

/** Times at which the event was received, stored, made available and returned, in milliseconds since the epoch. */
export class PullTimings {
  /** Time at which Posthorn received the event. */
  @ApiProperty({ format: 'int64', example: 1_795_253_400_000 })
  @IsInt()
  edge_at: number;

  /** Time at which the event was stored. */
  @ApiProperty({ format: 'int64', example: 1_795_253_400_004 })
  @IsInt()
  stored_at: number;

  /** Time at which the event became available to pull. Later than `stored_at` for a replay. */
  @ApiProperty({ format: 'int64', example: 1_795_253_400_004 })
  @IsInt()
  processed_at: number;

  /** Time at which this response was created. */
  @ApiProperty({ format: 'int64', example: 1_795_253_400_120 })
  @IsInt()
  consumed_at: number;
}

/** An event as a pull returns it. */
export class PullItem {
  /** The event's id. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Id for detecting duplicates. It is the same each time the event is delivered. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  webhook_id: string;

  /** The event type given by the sender, or by the endpoint that received the event. */
  @ApiProperty({ example: 'invoice.paid' })
  @IsString()
  event_type: string;

  /** The path of the inbound endpoint that received the event; `null` for a sent event. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  endpoint: string | null;

  /** Status of this delivery, which is always `delivered`. */
  @ApiProperty({ example: 'delivered' })
  @IsIn(['delivered'])
  status: string;

  /** Time at which the event was accepted. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  received_at: string;

  /** Time at which the payload was erased; `payload` is then `null`. Absent if it was not erased. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  payload_erased_at?: string;

  /** Method of the received request; `null` for a sent event. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  method: string | null;

  /** Part of the received path after the endpoint's own path, or an empty string; `null` for a sent event. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  path: string | null;

  /**
   * Query of the received request, without the question mark and without parameters that authenticate the provider;
   * `null` for a sent event.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  query: string | null;

  /**
   * Headers that are forwarded with the event, with lower-case names. For keys of scope `read`, the values of
   * authentication headers appear as `(hidden)`.
   */
  @ApiProperty({ example: { 'x-tenant': '42' } })
  @IsStringMap()
  headers: Record<string, string>;

  /** `true` if this delivery is a replay. */
  @ApiProperty({ example: false })
  @IsBoolean()
  replayed: boolean;

  /** Times at which the event was received, stored, made available and returned. */
  @IsObjectOf(() => PullTimings)
  timings: PullTimings;

  /** Always empty, because Posthorn makes no attempts for deliveries that are pulled. */
  @ApiProperty({ example: [] })
  @IsArray()
  @ArrayMaxSize(0)
  @MatchesSchema({ type: 'object' }, { each: true })
  attempts: never[];

  /**
   * Encoding of `payload`: `json`; `text` for a received body that is not JSON; `base64` for a received body that is
   * not text.
   */
  @ApiProperty({ example: 'json' })
  @IsIn(['json', 'text', 'base64'])
  payload_encoding: string;

  /** The payload. JSON is returned character for character as it was accepted. */
  @ApiProperty({ example: { amount: 4200 } })
  @CanBeNull()
  @MatchesSchema({ oneOf: ANYTHING })
  payload: unknown;
}

/** One batch of events, in the order in which they became available. */
export class PullPage {
  /** The events of this batch. */
  @IsArrayOf(() => PullItem)
  data: PullItem[];

  /** Pass this value as `cursor` after this batch is processed. `null` only if no event has ever been available. */
  @ApiProperty({ example: 'WyIxLjgwMC4wMTlhOWY2NS4wIl0.c2lnbmF0dXJl' })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** The cursor to commit. */
export class AckBody {
  /** The `next_cursor` of the batch that was processed. */
  @ApiProperty({ example: 'WyIxLjgwMC4wMTlhOWY2NS4wIl0.c2lnbmF0dXJl' })
  @IsString()
  @MaxLength(1024)
  cursor: string;
}

/** Response to an acknowledgment. */
export class Acknowledged {
  /** The last committed event. It is later than the cursor's event if another consumer has committed more. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  committed_through: string;
}

/** Returns the batch as JSON text. Payloads are inserted verbatim, so large integers keep their digits. */
export function presentBatch({ items, nextCursor, consumedAtMs }: Batch, caller: Pick<Caller, 'scope'>): string {
  const data = items.map((row) => presentItem(row, consumedAtMs, caller)).join(',');
  return `{"data":[${data}],"next_cursor":${JSON.stringify(nextCursor)}}`;
}

function presentItem(row: ItemRow, consumedAtMs: number, caller: Pick<Caller, 'scope'>): string {
  const isReceived = row.direction === 'inbound';
  const { encoding, json } = shownPayload(row);
  const item: Omit<PullItem, 'payload'> = {
    id: showId('evt', row.eventId),
    webhook_id: showId(isReceived ? 'evt' : 'msg', row.messageId ?? row.eventId),
    event_type: row.eventType,
    endpoint: isReceived ? row.url : null,
    status: 'delivered',
    received_at: new Date(idTimeMs(row.eventId)).toISOString(),
    ...(row.erasedAt !== null && { payload_erased_at: row.erasedAt.toISOString() }),
    method: row.method,
    path: row.path,
    query: row.query,
    headers: shownHeaders(row.headers ?? {}, caller),
    replayed: row.replayed,
    timings: timingsOf(row, consumedAtMs),
    attempts: [],
    payload_encoding: encoding,
  };
  return `${JSON.stringify(item).slice(0, -1)},"payload":${json}}`;
}

/**
 * Returns the times of an event's stages in ascending order. PostgreSQL's clock may be behind this machine's clock, so
 * each time is raised to at least that of the previous stage.
 */
function timingsOf({ eventId, replayed, settledAt }: ItemRow, consumedAtMs: number): PullTimings {
  const edgeAtMs = idTimeMs(eventId);
  const processedAtMs = Math.max(edgeAtMs, settledAt?.getTime() ?? 0);
  return {
    edge_at: edgeAtMs,
    // One commit stores an event and makes it available. Only a replay makes a stored event available later.
    stored_at: replayed ? edgeAtMs : processedAtMs,
    processed_at: processedAtMs,
    consumed_at: Math.max(processedAtMs, consumedAtMs),
  };
}

/** Returns the payload as JSON text. A received payload that is not JSON becomes a string. */
function shownPayload({ direction, payload, body, erasedAt }: ItemRow): {
  encoding: 'json' | 'text' | 'base64';
  json: string;
} {
  if (erasedAt !== null) return { encoding: 'json', json: 'null' };
  if (payload === null) return { encoding: 'base64', json: JSON.stringify(body?.toString('base64') ?? '') };
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
