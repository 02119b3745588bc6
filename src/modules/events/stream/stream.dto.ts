import { ApiProperty, PickType } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsString, MaxLength } from 'class-validator';
import { CanBeOmitted } from '#http/validation.js';
import { showId } from '#kernel/ids.js';
import { EVENT_STATUSES } from '../event-rows.js';
import { EventFilterQuery, EventItem, presentEvent } from '../events.dto.js';
import type { ChangeRow } from './stream.store.js';
import { CHANGE_KINDS } from './stream-position.js';

/** Filters of the event stream. A filter with the same name as in the event list has the same effect. */
export class StreamQuery extends PickType(EventFilterQuery, ['event_type', 'application'] as const) {
  /** Streams only changes after which the event has this status. */
  @ApiProperty({ example: 'dlq' })
  @CanBeOmitted()
  @IsIn(EVENT_STATUSES)
  status?: (typeof EVENT_STATUSES)[number];

  /**
   * Streams only events that this inbound endpoint (id or path) received, or that were sent to this endpoint of an
   * application.
   */
  @ApiProperty({ example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(200)
  endpoint?: string;

  /**
   * Streams only events that were sent to this destination (id or ad-hoc URL). For received events, only the attempts
   * and deliveries to this destination are streamed.
   */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(2048)
  destination?: string;

  /** Streams only sent events (`outbound`), or only received ones (`inbound`). */
  @ApiProperty({ example: 'inbound' })
  @CanBeOmitted()
  @IsIn(['outbound', 'inbound'])
  direction?: 'outbound' | 'inbound';

  /**
   * Environment whose events are streamed. Browser sessions use this parameter, because `EventSource` cannot send a
   * header. With an API key, omit it or set it to the key's environment.
   */
  @ApiProperty({ example: 'live' })
  @CanBeOmitted()
  @IsIn(['live', 'test'])
  environment?: 'live' | 'test';

  /**
   * `false` ends the stream after all changes up to now have been sent. With `Last-Event-ID`, the stream contains the
   * changes since that id.
   */
  @ApiProperty({ default: true, example: false })
  @CanBeOmitted()
  @IsBoolean()
  follow?: boolean;
}

/**
 * Reason why changes are missing from the stream: the client was too `slow`, the resume position is `too_old`, there
 * are `too_many` changes after it, or the `storage` failed over or was restored.
 */
export type GapReason = 'slow' | 'too_old' | 'too_many' | 'storage';

/** A gap in the stream: all changes between two times (RFC 3339) are missing. Their events are in the event list. */
export interface StreamGap {
  reason: GapReason;
  since: string | null;
  until: string;
}

/** A change as JSON: the event as it is when the change is sent, and the change itself. */
export interface StreamItem extends EventItem {
  direction: string;
  /** The application that the event was sent to. */
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

/** Returns the delivery's target in the format of the event detail, or null if the delivery no longer exists. */
function placeOf({ direction, url, messageId, targetId, deliveryTargetId }: ChangeRow): string | null {
  if (direction === 'outbound' && url !== null) return url;
  if (deliveryTargetId === null) return null;
  return showId(messageId !== null && deliveryTargetId === targetId ? 'ep' : 'dst', deliveryTargetId);
}
