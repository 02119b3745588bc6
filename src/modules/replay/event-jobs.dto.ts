import { ApiProperty } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import { EventFilterQuery } from '#modules/events/contract.dto.js';
import type { SelectionEstimate } from './event-jobs.js';
import { EVENTS_MAX, JOB_ACTIONS, type JobAction } from './replay-job.js';

/** What to do with which events. */
@Examples({
  count: { summary: 'Count only', value: { action: 'recover', filter: { application: 'customer-42' }, dry_run: true } },
  recover: {
    summary: 'What a customer did not get',
    value: { action: 'recover', filter: { application: 'customer-42', since: '2026-11-20T00:00:00.000Z' } },
  },
  replay: {
    summary: 'Everything of a type that timed out',
    value: { action: 'replay', filter: { event_type: 'invoice.paid', error: 'timeout' } },
  },
  cancel: {
    summary: 'What waits for a destination',
    value: { action: 'cancel', filter: { destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' } },
  },
})
export class EventJobBody {
  /**
   * `replay` sends each event again to wherever it went, whatever became of it. `recover` takes events that are `failed` or `dlq`, and sends them
   * again to where they ended so, and nowhere else. `cancel` takes events that are `retrying`, and ends what waits of them as `failed` with
   * reason `cancelled`. With the filter `destination`, all three mean deliveries there, and no others of the same events.
   */
  @ApiProperty({ enum: JOB_ACTIONS, example: 'recover' })
  action: JobAction;

  /** The filters of `GET /v1/events`, `status` as a list; all events without any. */
  @ApiProperty({ type: EventFilterQuery, example: { application: 'customer-42', error: 'timeout' } })
  filter: EventFilterQuery;

  /** So many events at most, the newest ones. */
  @ApiProperty({
    required: false,
    type: 'integer',
    minimum: 1,
    maximum: EVENTS_MAX,
    default: EVENTS_MAX,
    example: 1000,
  })
  limit?: number;

  /** Of a recovery: true to send again also what was cancelled. */
  @ApiProperty({ required: false, default: false, example: false })
  include_cancelled?: boolean;

  /** True to count only: nothing is done. */
  @ApiProperty({ required: false, default: false, example: false })
  dry_run?: boolean;
}

/** What a job over a list of events would look at. */
export class EventJobDryRun {
  /** Always true here. */
  @ApiProperty({ example: true })
  dry_run: boolean;

  /** What would be done. */
  @ApiProperty({ enum: JOB_ACTIONS, example: 'recover' })
  action: string;

  /** Events that it would look at, in the states that the action takes: 10,000 at most, as `GET /v1/events/count` counts. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 10000, example: 400 })
  count: number;

  /** True when there may be more: show it as `10,000+`, or `412+`. */
  @ApiProperty({ example: false })
  is_capped: boolean;

  /** Set when it is capped because enough was looked at: everything from this time on was counted. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  searched_to?: string;

  /** So many events at most. */
  @ApiProperty({ type: 'integer', example: 1000 })
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
