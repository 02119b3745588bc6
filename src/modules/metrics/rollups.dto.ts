import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsNumber, IsString } from 'class-validator';
import { quantile } from '#engine/histogram.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime, IsObjectOf } from '#http/validation.js';
import type { Rollup } from './rollups.store.js';
import { type MetricsWindow, WINDOWS } from './windows.js';

/** Object, window length and range of the rollups. */
export class RollupQuery {
  /**
   * Object of the rollups: an endpoint (`ep_…`), a destination (`dst_…`) or an application (`app_…`) in the key's
   * environment. `GET /v1/metrics/overview` returns the figures of the whole environment.
   */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  key: string;

  /**
   * Length of a window. Windows begin at full minutes, hours and days in UTC. They are kept for 7, 90 and 400 days
   * respectively.
   */
  @ApiProperty({ default: '1h', example: '1h' })
  @CanBeOmitted()
  @IsIn(WINDOWS)
  window?: MetricsWindow;

  /**
   * Start of the range (RFC 3339): the first window is the one that contains this time. Defaults to 60 minutes, 48
   * hours or 30 days before `until`, depending on `window`. A range has at most 1,440 windows.
   */
  @ApiProperty({ example: '2026-11-20T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  since?: string;

  /**
   * End of the range (RFC 3339): only windows that begin before this time are returned. Defaults to the current window.
   */
  @ApiProperty({ example: '2026-11-21T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  until?: string;

  /** Whether to omit windows without any activity. */
  @ApiProperty({ default: false, example: true })
  @CanBeOmitted()
  @IsBoolean()
  sparse?: boolean;
}

/** Quantiles of the attempt durations. */
export class LatencyItem {
  /** Median: half of the attempts took at most this number of milliseconds. */
  @ApiProperty({ example: 42 })
  @IsInt()
  p50: number;

  /** 95 % of the attempts took at most this number of milliseconds. */
  @ApiProperty({ example: 118 })
  @IsInt()
  p95: number;

  /** 99 % of the attempts took at most this number of milliseconds. */
  @ApiProperty({ example: 240 })
  @IsInt()
  p99: number;
}

/** Counts and latencies of one window. */
export class RollupItem {
  /** Start of the time window that the figures cover. */
  @ApiProperty({ example: '2026-11-20T09:00:00.000Z' })
  @IsDateTime()
  start: string;

  /** Length of the time window that the figures cover. */
  @ApiProperty({ example: '1h' })
  @IsIn(WINDOWS)
  window: MetricsWindow;

  /**
   * Number of events sent to the destination, or received by the endpoint. For the environment, the number of all
   * accepted events. A replay of an event does not increase this number.
   */
  @ApiProperty({ example: 1204 })
  @IsInt()
  received: number;

  /** Number of deliveries that succeeded. */
  @ApiProperty({ example: 1197 })
  @IsInt()
  delivered: number;

  /** Number of deliveries that failed permanently because a retry could not help. */
  @ApiProperty({ example: 1 })
  @IsInt()
  failed: number;

  /** Number of attempts that failed and were retried, or will be retried. */
  @ApiProperty({ example: 17 })
  @IsInt()
  retried: number;

  /** Number of deliveries that ended in the dead-letter queue. */
  @ApiProperty({ example: 2 })
  @IsInt()
  dlq: number;

  /** Number of attempts that started in this window. */
  @ApiProperty({ example: 1217 })
  @IsInt()
  attempts: number;

  /** `delivered` as a fraction of all deliveries that ended, from 0 to 1; `null` if none ended. */
  @ApiProperty({ example: 0.9975 })
  @CanBeNull()
  @IsNumber()
  success_rate: number | null;

  /**
   * Durations of the attempts, including failed ones, accurate to one sixteenth of the value; `null` if there were no
   * attempts.
   */
  @CanBeNull()
  @IsObjectOf(() => LatencyItem)
  latency_ms: LatencyItem | null;
}

/** Windows of the range. */
export class RollupList {
  /**
   * Windows, oldest first. Windows without activity contain zeros, or are omitted if `sparse` is set. Windows past
   * their retention are omitted.
   */
  @IsArrayOf(() => RollupItem)
  data: RollupItem[];
}

export function presentRollup(window: MetricsWindow, { startMs, histogram, ...counts }: Rollup): RollupItem {
  const ended = counts.delivered + counts.failed + counts.dlq;
  return {
    start: new Date(startMs).toISOString(),
    window,
    received: counts.received,
    delivered: counts.delivered,
    failed: counts.failed,
    retried: counts.retried,
    dlq: counts.dlq,
    attempts: counts.attempts,
    success_rate: ended === 0 ? null : counts.delivered / ended,
    latency_ms: presentLatency(histogram),
  };
}

/** Returns whether the window has any activity. */
export const isBusy = ({ received, delivered, failed, retried, dlq, attempts }: Rollup): boolean =>
  received + delivered + failed + retried + dlq + attempts > 0;

export function presentLatency(histogram: Rollup['histogram']): LatencyItem | null {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((q) => quantile(histogram, q));
  return p50 == null || p95 == null || p99 == null ? null : { p50, p95, p99 };
}
