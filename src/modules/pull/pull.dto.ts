import { ApiProperty } from '@nestjs/swagger';
import { shownHeaders } from '#kernel/crypto/sensitive-headers.js';
import { idTimeMs, showId } from '#kernel/ids.js';
import type { Caller } from '#kernel/tenant.js';
import type { Batch } from './pull.service.js';
import type { ItemRow } from './pull.store.js';

/** Any JSON: the type of a received body is its provider's business. */
const ANYTHING = ['object', 'array', 'string', 'number', 'boolean'].map((type) =>
  type === 'array' ? { type, items: {} } : { type },
);

/** How to read on. */
export class PullQuery {
  /** The `next_cursor` of an earlier answer: commits everything before it and goes on behind it. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIxLjgwMC4wMTlhOWY2NS4wIl0.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return at most; fewer when their payloads come to more than 4 MB. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;

  /** Seconds to wait for something to arrive when there is nothing. */
  @ApiProperty({ required: false, type: 'integer', minimum: 0, maximum: 20, default: 0, example: 20 })
  wait?: number;
}

/** When an event passed each stage, in milliseconds since the epoch. */
export class PullTimings {
  /** When it came in. */
  @ApiProperty({ type: 'integer', format: 'int64', example: 1_795_253_400_000 })
  edge_at: number;

  /** When it was stored. */
  @ApiProperty({ type: 'integer', format: 'int64', example: 1_795_253_400_004 })
  stored_at: number;

  /** When it was put where it can be pulled; later than `stored_at` for a replay. */
  @ApiProperty({ type: 'integer', format: 'int64', example: 1_795_253_400_004 })
  processed_at: number;

  /** When this answer was made. */
  @ApiProperty({ type: 'integer', format: 'int64', example: 1_795_253_400_120 })
  consumed_at: number;
}

/** An event as its consumer pulls it. */
export class PullItem {
  /** The event's id. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** What to dedupe on: the same every time that the event comes. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  webhook_id: string;

  /** The type that it was sent with, or that its endpoint gave it. */
  @ApiProperty({ example: 'invoice.paid' })
  event_type: string;

  /** The path of the inbound endpoint that received it; null for an event that was sent. */
  @ApiProperty({ type: String, nullable: true, example: null })
  endpoint: string | null;

  /** Of this delivery: what can be pulled is `delivered`. */
  @ApiProperty({ enum: ['delivered'], example: 'delivered' })
  status: string;

  /** When it was accepted. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  received_at: string;

  /** When its payload was erased: `payload` is null then. Absent while it is there. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  payload_erased_at?: string;

  /** Headers that are forwarded with it, lower-case names; a key of scope read is shown `(hidden)` for those that authenticate. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: { 'x-tenant': '42' } })
  headers: Record<string, string>;

  /** True when it comes by a replay. */
  @ApiProperty({ example: false })
  replayed: boolean;

  /** When it passed each stage. */
  @ApiProperty({ type: PullTimings })
  timings: PullTimings;

  /** Empty: what waits to be pulled is never tried. */
  @ApiProperty({ type: 'array', items: { type: 'object' }, maxItems: 0, example: [] })
  attempts: never[];

  /** How the payload is shown: `json`, `text` for a received body that is none, `base64` for one that is no text. */
  @ApiProperty({ enum: ['json', 'text', 'base64'], example: 'json' })
  payload_encoding: string;

  /** The payload, JSON in the very characters that it came in. */
  @ApiProperty({ nullable: true, oneOf: ANYTHING, example: { amount: 4200 } })
  payload: unknown;
}

/** One batch, in the order of acceptance. */
export class PullPage {
  /** The events of this batch. */
  @ApiProperty({ type: [PullItem] })
  data: PullItem[];

  /** Pass it as `cursor` once this batch is done with; null only while nothing was ever there. */
  @ApiProperty({ type: String, nullable: true, example: 'WyIxLjgwMC4wMTlhOWY2NS4wIl0.c2lnbmF0dXJl' })
  next_cursor: string | null;
}

/** What to commit. */
export class AckBody {
  /** The `next_cursor` of the batch that is done with. */
  @ApiProperty({ maxLength: 1024, example: 'WyIxLjgwMC4wMTlhOWY2NS4wIl0.c2lnbmF0dXJl' })
  cursor: string;
}

/** What an ack answers. */
export class Acknowledged {
  /** The last event that is committed now. Later than the cursor's when another consumer committed more. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  committed_through: string;
}

/** The batch as JSON text: each payload goes in as the characters that it came in, large integers and all. */
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
    headers: shownHeaders(row.headers ?? {}, caller),
    replayed: row.replayed,
    timings: timingsOf(row, consumedAtMs),
    attempts: [],
    payload_encoding: encoding,
  };
  return `${JSON.stringify(item).slice(0, -1)},"payload":${json}}`;
}

/** PostgreSQL's clock may be behind this machine's: no stage is shown before the one in front of it. */
function timingsOf({ eventId, replayed, settledAt }: ItemRow, consumedAtMs: number): PullTimings {
  const edgeAtMs = idTimeMs(eventId);
  const processedAtMs = Math.max(edgeAtMs, settledAt?.getTime() ?? 0);
  return {
    edge_at: edgeAtMs,
    // It was stored by the commit that put it here, unless that was a replay, long after.
    stored_at: replayed ? edgeAtMs : processedAtMs,
    processed_at: processedAtMs,
    consumed_at: Math.max(processedAtMs, consumedAtMs),
  };
}

/** The payload as JSON text. What was sent is JSON; what was received may be anything. */
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
