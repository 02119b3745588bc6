import { ApiProperty, OmitType } from '@nestjs/swagger';
import { showId } from '#kernel/ids.js';
import type { Overview } from './overview.js';
import type { FailingTarget } from './overview.store.js';
import { isBusy, presentRollup, RollupItem } from './rollups.dto.js';
import { type MetricsWindow, type OverviewRange, RANGES, WINDOWS } from './windows.js';

/** How far back, and of whom. */
export class OverviewQuery {
  /** How far back: 60 windows of a minute, 24 or 168 of an hour, 30 of a day. The last one runs now. */
  @ApiProperty({ required: false, enum: RANGES, default: '24h', example: '24h' })
  range?: OverviewRange;

  /** Only this application, by its `app_` id or your uid; the whole environment when left out. */
  @ApiProperty({ required: false, maxLength: 256, example: 'customer-42' })
  application?: string;

  /** Leave out windows in which nothing happened. */
  @ApiProperty({ required: false, type: Boolean, default: false, example: true })
  sparse?: boolean;
}

/** How far back, and how many. */
export class FailingTargetsQuery {
  /** How far back; 7 and 30 days are whole days of UTC. */
  @ApiProperty({ required: false, enum: RANGES, default: '24h', example: '24h' })
  range?: OverviewRange;

  /** How many to return at most: the worst. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 10, example: 10 })
  limit?: number;
}

/** Deliveries that have not ended. */
export class OpenItem {
  /** How many. */
  @ApiProperty({ type: 'integer', example: 12 })
  count: number;

  /** True when counting ended at 10,000: there may be more. */
  @ApiProperty({ example: false })
  is_capped: boolean;

  /** Since when the oldest of the environment is due that no worker has taken up; null when none is, and for an application. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  oldest_due_at: string | null;
}

/** Everything of the range added up. */
export class TotalItem extends OmitType(RollupItem, ['start', 'window'] as const) {}

/** An environment, or an application, at a glance. */
export class OverviewItem {
  /** When the first window begins. */
  @ApiProperty({ format: 'date-time', example: '2026-11-20T10:00:00.000Z' })
  since: string;

  /** Now, as far as the figures know. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  until: string;

  /** How long each window is. */
  @ApiProperty({ enum: WINDOWS, example: '1h' })
  window: MetricsWindow;

  /** The range as a whole. */
  @ApiProperty({ type: TotalItem })
  total: TotalItem;

  /** What waits now: of an environment everything that has not ended, of an application what waits for its next attempt, the circuit or the rate limit. */
  @ApiProperty({ type: OpenItem })
  waiting: OpenItem;

  /** The windows, oldest first. */
  @ApiProperty({ type: [RollupItem] })
  data: RollupItem[];
}

/** A target that failed. */
export class FailingTargetItem {
  /** The destination (`dst_…`), or the endpoint of an application (`ep_…`) that has a URL of its own. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  target: string;

  /** What people know it by. */
  @ApiProperty({ example: 'Orders' })
  name: string;

  /** The application that it belongs to; null for a destination. */
  @ApiProperty({ type: String, nullable: true, example: null })
  application: string | null;

  /** Deliveries that ended because no retry could help. */
  @ApiProperty({ type: 'integer', example: 1 })
  failed: number;

  /** Deliveries that used up their retries. */
  @ApiProperty({ type: 'integer', example: 5 })
  dlq: number;

  /** Attempts without success that another one follows. */
  @ApiProperty({ type: 'integer', example: 24 })
  retried: number;

  /** Deliveries that arrived. */
  @ApiProperty({ type: 'integer', example: 10 })
  delivered: number;

  /** Of all attempts and ends, the share that failed: `(retried + failed + dlq) / (delivered + retried + failed + dlq)`. */
  @ApiProperty({ type: 'number', example: 0.75 })
  failure_rate: number;
}

/** Which targets failed most. */
export class FailingTargetList {
  /** Most deliveries that ended without success first, then most attempts. */
  @ApiProperty({ type: [FailingTargetItem] })
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

export function presentFailingTarget({
  id,
  name,
  ownerId,
  failed,
  dlq,
  retried,
  delivered,
}: FailingTarget): FailingTargetItem {
  const isOwned = ownerId !== null && ownerId !== id;
  const failures = failed + dlq + retried;
  return {
    target: showId(isOwned ? 'ep' : 'dst', id),
    name,
    application: isOwned ? showId('app', ownerId) : null,
    failed,
    dlq,
    retried,
    delivered,
    failure_rate: Math.round((failures / (delivered + failures)) * 10_000) / 10_000,
  };
}
