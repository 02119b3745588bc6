import { ApiProperty, OmitType } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsNumber, IsString, Max, MaxLength, Min } from 'class-validator';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime, IsObjectOf } from '#http/validation.js';
import { showId } from '#kernel/ids.js';
import { isApplicationEndpoint } from '#modules/names/resource-names.store.js';
import type { Overview } from './overview.js';
import type { FailingTarget } from './overview.store.js';
import { isBusy, presentRollup, RollupItem } from './rollups.dto.js';
import { type MetricsWindow, type OverviewRange, RANGES, WINDOWS } from './windows.js';

/** Time range and application of the overview. */
export class OverviewQuery {
  /**
   * Time range: 60 windows of one minute, 24 or 168 windows of one hour, or 30 windows of one day. The last window is
   * the current one and still incomplete.
   */
  @ApiProperty({ default: '24h', example: '24h' })
  @CanBeOmitted()
  @IsIn(RANGES)
  range?: OverviewRange;

  /** Limits the overview to this application, given as its `app_` id or your uid. Defaults to the whole environment. */
  @ApiProperty({ example: 'customer-42' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(256)
  application?: string;

  /** Whether to omit windows without any activity. */
  @ApiProperty({ default: false, example: true })
  @CanBeOmitted()
  @IsBoolean()
  sparse?: boolean;
}

/** Time range and maximum number of targets. */
export class FailingTargetsQuery {
  /** Time range. Ranges of 7 and 30 days consist of whole UTC days. */
  @ApiProperty({ default: '24h', example: '24h' })
  @CanBeOmitted()
  @IsIn(RANGES)
  range?: OverviewRange;

  /** Maximum number of items to return, worst first. */
  @ApiProperty({ default: 10, example: 10 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** Deliveries that have not ended. */
export class OpenItem {
  /** Number of deliveries. */
  @ApiProperty({ example: 12 })
  @IsInt()
  count: number;

  /** True if counting stopped at 10,000, so that there may be more. */
  @ApiProperty({ example: false })
  @IsBoolean()
  is_capped: boolean;

  /**
   * Due time of the environment's oldest due delivery that no worker has started. It is `null` if there is none, and
   * always `null` for an application.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  oldest_due_at: string | null;
}

/** Totals of the whole range. */
export class TotalItem extends OmitType(RollupItem, ['start', 'window'] as const) {}

/** Overview of an environment or an application. */
export class OverviewItem {
  /** Start of the first time window of the series. */
  @ApiProperty({ example: '2026-11-20T10:00:00.000Z' })
  @IsDateTime()
  since: string;

  /** End of the range: the current time. The data is about two seconds old. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  until: string;

  /** Length of each time window of the series. */
  @ApiProperty({ example: '1h' })
  @IsIn(WINDOWS)
  window: MetricsWindow;

  /** Totals over all time windows of the series. */
  @IsObjectOf(() => TotalItem)
  total: TotalItem;

  /**
   * Deliveries that are waiting now. For an environment, these are all deliveries that have not ended. For an
   * application, these are the deliveries that wait for their next attempt, for the circuit breaker or for the rate
   * limit.
   */
  @IsObjectOf(() => OpenItem)
  waiting: OpenItem;

  /** Windows of the range, oldest first. */
  @IsArrayOf(() => RollupItem)
  data: RollupItem[];
}

/** A target with failures. */
export class FailingTargetItem {
  /** Id of the destination (`dst_…`), or of the application endpoint (`ep_…`) that has its own URL. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  target: string;

  /** Human-readable name. */
  @ApiProperty({ example: 'Orders' })
  @IsString()
  name: string;

  /** Id of the application that the endpoint belongs to; `null` for a destination. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  application: string | null;

  /** Number of deliveries that failed permanently because a retry could not help. */
  @ApiProperty({ example: 1 })
  @IsInt()
  failed: number;

  /** Number of deliveries that used up their retries. */
  @ApiProperty({ example: 5 })
  @IsInt()
  dlq: number;

  /** Number of failed attempts that are followed by another attempt. */
  @ApiProperty({ example: 24 })
  @IsInt()
  retried: number;

  /** Number of successful deliveries. */
  @ApiProperty({ example: 10 })
  @IsInt()
  delivered: number;

  /**
   * Fraction of attempts and final results that failed: `(retried + failed + dlq) / (delivered + retried + failed +
   * dlq)`.
   */
  @ApiProperty({ example: 0.75 })
  @IsNumber()
  failure_rate: number;
}

/** Targets with the most failures. */
export class FailingTargetList {
  /** Targets ordered by number of unsuccessful deliveries, then by number of attempts, highest first. */
  @IsArrayOf(() => FailingTargetItem)
  data: FailingTargetItem[];
}

export function presentOverview(
  { window, sinceMs, untilMs, rollups, total, open }: Overview,
  isSparse: boolean,
): OverviewItem {
  const { start: _start, window: _window, ...counts } = presentRollup(window, total);
  return {
    since: new Date(sinceMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    window,
    total: counts,
    waiting: { count: open.count, is_capped: open.isCapped, oldest_due_at: open.oldestDueAt?.toISOString() ?? null },
    data: (isSparse ? rollups.filter(isBusy) : rollups).map((rollup) => presentRollup(window, rollup)),
  };
}

export function presentFailingTarget(of: FailingTarget): FailingTargetItem {
  const { id, name, failed, dlq, retried, delivered } = of;
  const isOwned = isApplicationEndpoint(of);
  const failures = failed + dlq + retried;
  return {
    target: showId(isOwned ? 'ep' : 'dst', id),
    name,
    application: isOwned ? showId('app', of.ownerId) : null,
    failed,
    dlq,
    retried,
    delivered,
    failure_rate: Math.round((failures / (delivered + failures)) * 10_000) / 10_000,
  };
}
