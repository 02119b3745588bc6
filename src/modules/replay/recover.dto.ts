import { ApiProperty } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import type { EraseDryRun } from './application-jobs.js';
import { ErasedItem } from './replays.dto.js';

/** Filter for the failed deliveries to send again. */
export class RecoverBody {
  /** Selects only events accepted at or after this time (RFC 3339). */
  @ApiProperty({ format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since: string;

  /** Selects only events accepted at or before this time (RFC 3339). Defaults to the current time. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;

  /** Selects only deliveries that ended in this state. If omitted, both states are included. */
  @ApiProperty({ required: false, enum: ['failed', 'dlq'], example: 'dlq' })
  status?: 'failed' | 'dlq';

  /** If `true`, cancelled deliveries are sent again as well. */
  @ApiProperty({ required: false, default: false, example: false })
  include_cancelled?: boolean;
}

/** Filter for the events of an application to send again. */
export class ApplicationReplayBody {
  /** Selects only events accepted at or after this time (RFC 3339). */
  @ApiProperty({ format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since: string;

  /** Selects only events accepted at or before this time (RFC 3339). Defaults to the current time. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;
}

/** Options for the erasure of an application. */
@Examples({
  count: { summary: 'Only count, without making changes', value: { dry_run: true } },
  erase: { summary: 'Erase the application permanently', value: {} },
})
export class EraseApplicationBody {
  /** If `true`, only counts the items and erases nothing. */
  @ApiProperty({ required: false, default: false, example: true })
  dry_run?: boolean;
}

/** Numbers of items that an erasure would remove. */
export class EraseDryRunResult extends ErasedItem {
  /** Always `true` in this response. */
  @ApiProperty({ example: true })
  dry_run: boolean;

  /**
   * `true` if there may be more messages and attempts. The count examines the newest 20,000 messages and events, or
   * slightly more.
   */
  @ApiProperty({ example: false })
  is_capped: boolean;
}

/** Filter for the waiting deliveries to end. Without fields, all deliveries that wait for the target are ended. */
@Examples({
  type: { summary: 'Cancel the waiting deliveries of one event type', value: { event_type: 'invoice.paid' } },
  all: { summary: 'Cancel all waiting deliveries', value: {} },
})
export class CancelBody {
  /** Selects only events of exactly this type. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 256, example: 'invoice.paid' })
  event_type?: string;

  /** Selects only events accepted at or before this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;
}

export function presentEraseDryRun({
  isCapped,
  endpoints,
  messages,
  deliveries,
  attempts,
}: EraseDryRun): EraseDryRunResult {
  return { dry_run: true, endpoints, messages, deliveries, attempts, is_capped: isCapped };
}
