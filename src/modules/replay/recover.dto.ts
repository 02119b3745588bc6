import { ApiProperty } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import type { EraseDryRun } from './application-jobs.js';
import { ErasedItem } from './replays.dto.js';

/** Which failed deliveries to send again. */
export class RecoverBody {
  /** Events accepted at or after this time (RFC 3339). */
  @ApiProperty({ format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since: string;

  /** Only events accepted at or before this time (RFC 3339); up to now when left out. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;

  /** Only deliveries that ended so; both when left out. */
  @ApiProperty({ required: false, enum: ['failed', 'dlq'], example: 'dlq' })
  status?: 'failed' | 'dlq';

  /** True to send again also what was cancelled. */
  @ApiProperty({ required: false, default: false, example: false })
  include_cancelled?: boolean;
}

/** Which events of an application to send again. */
export class ApplicationReplayBody {
  /** Events accepted at or after this time (RFC 3339). */
  @ApiProperty({ format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since: string;

  /** Only events accepted at or before this time (RFC 3339); up to now when left out. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;
}

/** How to erase an application. */
@Examples({
  count: { summary: 'Count only', value: { dry_run: true } },
  erase: { summary: 'Erase it for good', value: {} },
})
export class EraseApplicationBody {
  /** True to count only: nothing is erased. */
  @ApiProperty({ required: false, default: false, example: true })
  dry_run?: boolean;
}

/** The counts of what an erasure would remove. */
export class EraseDryRunResult extends ErasedItem {
  /** Always true here. */
  @ApiProperty({ example: true })
  dry_run: boolean;

  /** True when there may be more messages and attempts: the newest 20,000 messages and events were looked at, or a few more. */
  @ApiProperty({ example: false })
  is_capped: boolean;
}

/** Which waiting deliveries to end; all that wait for the target without a field. */
@Examples({
  type: { summary: 'What waits of one event type', value: { event_type: 'invoice.paid' } },
  all: { summary: 'Everything that waits', value: {} },
})
export class CancelBody {
  /** Only events of exactly this type. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 256, example: 'invoice.paid' })
  event_type?: string;

  /** Only events accepted at or before this time (RFC 3339). */
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
