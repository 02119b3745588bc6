import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, Max, Min } from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { CanBeOmitted, IsDateTime, IsObjectOf } from '#http/validation.js';
import { EventFilterQuery } from '#modules/events/contract.dto.js';
import type { SelectionEstimate } from './event-jobs.js';
import { EVENTS_MAX, JOB_ACTIONS, type JobAction } from './replay-job.js';

/** The action and the filter that selects the events. */
@Examples({
  count: {
    summary: 'Only count, without making changes',
    value: { action: 'recover', filter: { application: 'customer-42' }, dry_run: true },
  },
  recover: {
    summary: 'Resend events that a customer did not receive',
    value: { action: 'recover', filter: { application: 'customer-42', since: '2026-11-20T00:00:00.000Z' } },
  },
  replay: {
    summary: 'Recover all events of a type that timed out',
    value: { action: 'replay', filter: { event_type: 'invoice.paid', error: 'timeout' } },
  },
  cancel: {
    summary: 'Cancel deliveries that wait for a destination',
    value: { action: 'cancel', filter: { destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' } },
  },
})
export class EventJobBody {
  /**
   * `replay` resends each event to all its original targets, whatever the outcome was. `recover` selects events that
   * are `failed` or `dlq`, and resends them only to the targets at which they ended in that state. `cancel` selects
   * events that are `retrying`, and ends their waiting deliveries as `failed` with reason `cancelled`. If the filter
   * has a `destination`, each action affects only the deliveries to it.
   */
  @ApiProperty({ example: 'recover' })
  @IsIn(JOB_ACTIONS)
  action: JobAction;

  /** The filters of `GET /v1/events`, with `status` as a list. Without filters, all events are selected. */
  @ApiProperty({ example: { application: 'customer-42', error: 'timeout' } })
  @IsObjectOf(() => EventFilterQuery)
  filter: EventFilterQuery;

  /** Maximum number of events to process. The newest events are processed first. */
  @ApiProperty({ default: EVENTS_MAX, example: 1000 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(EVENTS_MAX)
  limit?: number;

  /** For a recovery: if `true`, canceled deliveries are sent again as well. */
  @ApiProperty({ default: false, example: false })
  @CanBeOmitted()
  @IsBoolean()
  include_cancelled?: boolean;

  /** If `true`, only counts the events and changes nothing. */
  @ApiProperty({ default: false, example: false })
  @CanBeOmitted()
  @IsBoolean()
  dry_run?: boolean;
}

/** Result of a dry run of a job that processes events by filter. */
export class EventJobDryRun {
  /** Always `true` in this response. */
  @ApiProperty({ example: true })
  @IsBoolean()
  dry_run: boolean;

  /** Action that the job would perform. */
  @ApiProperty({ example: 'recover' })
  @IsIn(JOB_ACTIONS)
  action: string;

  /**
   * Number of events in the states that the action selects, counted up to 10,000 in the same way as `GET
   * /v1/events/count`.
   */
  @ApiProperty({ example: 400 })
  @IsInt()
  @Min(0)
  @Max(10000)
  count: number;

  /** `true` if there may be more events than counted. Display the number as `10,000+` or `412+`. */
  @ApiProperty({ example: false })
  @IsBoolean()
  is_capped: boolean;

  /** All selected events since this time were counted. Present only if the count stopped at the search limit. */
  @ApiProperty({ example: '2026-11-20T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  searched_to?: string;

  /** Maximum number of events that the job would process. */
  @ApiProperty({ example: 1000 })
  @IsInt()
  limit: number;
}

export function presentEventJobDryRun(
  action: JobAction,
  { count, isCapped, searchedTo, max }: SelectionEstimate,
): EventJobDryRun {
  return {
    dry_run: true,
    action,
    count,
    is_capped: isCapped,
    ...(searchedTo !== null && { searched_to: new Date(searchedTo).toISOString() }),
    limit: max,
  };
}
