import { ApiProperty, PickType } from '@nestjs/swagger';
import { showId } from '#kernel/ids.js';
import { EVENT_STATUSES } from '../event-rows.js';
import { EventFilterQuery, EventItem, presentEvent } from '../events.dto.js';
import type { ChangeRow } from './stream.store.js';
import { CHANGE_KINDS } from './stream-position.js';

/** What of the environment is told: the filters that mean the same as of the list, and those that do not. */
export class StreamQuery extends PickType(EventFilterQuery, ['event_type', 'application'] as const) {
  /** Only changes after which their event is in this state. */
  @ApiProperty({ required: false, enum: EVENT_STATUSES, example: 'dlq' })
  status?: (typeof EVENT_STATUSES)[number];

  /** Only events that this inbound endpoint received (its id or path), or that this endpoint of an application got. */
  @ApiProperty({ required: false, maxLength: 200, example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  endpoint?: string;

  /** Only events that were sent to this destination (its id, or an ad-hoc URL), and attempts and deliveries there of received ones. */
  @ApiProperty({ required: false, maxLength: 2048, example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  destination?: string;

  /** Only events that were sent (`outbound`), or that were received (`inbound`). */
  @ApiProperty({ required: false, enum: ['outbound', 'inbound'], example: 'inbound' })
  direction?: 'outbound' | 'inbound';

  /** Of a session, which of its environments: `EventSource` can send no header. A key has its own, which this must be if it is given. */
  @ApiProperty({ required: false, enum: ['live', 'test'], example: 'live' })
  environment?: 'live' | 'test';

  /** `false` ends the stream once everything up to now was told: with `Last-Event-ID`, what happened since. */
  @ApiProperty({ required: false, type: Boolean, default: true, example: false })
  follow?: boolean;
}

/** Why something is not told: the client was `slow`, the place to go on from is `too_old`, there are `too_many` changes behind it, or the `storage` failed over or was restored. */
export type GapReason = 'slow' | 'too_old' | 'too_many' | 'storage';

/** What is not told: everything between two times, RFC 3339, which the list of events has. */
export interface StreamGap {
  reason: GapReason;
  since: string | null;
  until: string;
}

/** A change as JSON: the event as it is when it is told, and what happened to it. */
export interface StreamItem extends EventItem {
  direction: string;
  /** The application that it was sent to. */
  application?: string;
  payload_erased_at?: string;
  attempt?: {
    destination: string | null;
    number: number;
    status: number | null;
    error: string | null;
    duration_ms: number;
    at: string;
    next_attempt_at: string | null;
  };
  delivery?: { destination: string | null; status: string; reason: string | null };
}

export function presentChange(row: ChangeRow): StreamItem {
  return {
    ...presentEvent(row),
    direction: row.direction,
    ...(row.applicationId !== null && { application: showId('app', row.applicationId) }),
    ...(row.erasedAt !== null && { payload_erased_at: row.erasedAt.toISOString() }),
    ...(row.kind === CHANGE_KINDS.attempt && { attempt: presentAttempt(row) }),
    ...(row.kind === CHANGE_KINDS.status && {
      delivery: { destination: placeOf(row), status: row.deliveryStatus ?? 'failed', reason: row.reason },
    }),
  };
}

function presentAttempt(row: ChangeRow): NonNullable<StreamItem['attempt']> {
  return {
    destination: placeOf(row),
    number: row.number,
    status: row.httpStatus,
    error: row.error,
    duration_ms: row.durationMs ?? 0,
    at: row.startedAt?.toISOString() ?? '',
    next_attempt_at: row.nextAttemptAt?.toISOString() ?? null,
  };
}

/** As a delivery of the detail has it; null for one that is gone since. */
function placeOf({ direction, url, messageId, targetId, deliveryTargetId }: ChangeRow): string | null {
  if (direction === 'outbound' && url !== null) return url;
  if (deliveryTargetId === null) return null;
  return showId(messageId !== null && deliveryTargetId === targetId ? 'ep' : 'dst', deliveryTargetId);
}
