import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsString, Length } from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { CanBeOmitted, IsDateTime } from '#http/validation.js';
import type { EraseDryRun } from './application-jobs.js';
import { ErasedItem } from './replays.dto.js';

/** Filter for the failed deliveries to resend. */
export class RecoverBody {
  /** Selects only events accepted at or after this time (RFC 3339). */
  @ApiProperty({ example: '2026-11-20T00:00:00.000Z' })
  @IsDateTime()
  since: string;

  /** Selects only events accepted at or before this time (RFC 3339). Defaults to the current time. */
  @ApiProperty({ example: '2026-11-21T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  until?: string;

  /** Selects only deliveries that ended in this state. If omitted, both states are included. */
  @ApiProperty({ example: 'dlq' })
  @CanBeOmitted()
  @IsIn(['failed', 'dlq'])
  status?: 'failed' | 'dlq';

  /** If `true`, canceled deliveries are resent as well. */
  @ApiProperty({ default: false, example: false })
  @CanBeOmitted()
  @IsBoolean()
  include_cancelled?: boolean;
}

/** Filter for the events of an application to resend. */
export class ApplicationReplayBody {
  /** Selects only events accepted at or after this time (RFC 3339). */
  @ApiProperty({ example: '2026-11-20T00:00:00.000Z' })
  @IsDateTime()
  since: string;

  /** Selects only events accepted at or before this time (RFC 3339). Defaults to the current time. */
  @ApiProperty({ example: '2026-11-21T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  until?: string;
}

/** Options for the erasure of an application. */
@Examples({
  count: { summary: 'Only count, without making changes', value: { dry_run: true } },
  erase: { summary: 'Erase the application permanently', value: {} },
})
export class EraseApplicationBody {
  /** If `true`, only counts the items and erases nothing. */
  @ApiProperty({ default: false, example: true })
  @CanBeOmitted()
  @IsBoolean()
  dry_run?: boolean;
}

/** Numbers of items that an erasure would remove. */
export class EraseDryRunResult extends ErasedItem {
  /** Always `true` in this response. */
  @ApiProperty({ example: true })
  @IsBoolean()
  dry_run: boolean;

  /**
   * `true` if there may be more messages and attempts. The count examines the newest 20,000 messages and events, or
   * slightly more.
   */
  @ApiProperty({ example: false })
  @IsBoolean()
  is_capped: boolean;
}

/**
 * Filter for the waiting deliveries to cancel. Without fields, all deliveries that wait for the target are canceled.
 */
@Examples({
  type: { summary: 'Cancel the waiting deliveries of one event type', value: { event_type: 'invoice.paid' } },
  all: { summary: 'Cancel all waiting deliveries', value: {} },
})
export class CancelBody {
  /** Selects only events of exactly this type. */
  @ApiProperty({ example: 'invoice.paid' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 256)
  event_type?: string;

  /** Selects only events accepted at or before this time (RFC 3339). */
  @ApiProperty({ example: '2026-11-21T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
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
