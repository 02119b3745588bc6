import { ApiProperty } from '@nestjs/swagger';
import { quantile } from '#engine/histogram.js';
import type { Rollup } from './rollups.store.js';
import { type MetricsWindow, WINDOWS } from './windows.js';

/** Subject, window length and range of the rollups. */
export class RollupQuery {
  /**
   * Subject of the rollups: an endpoint (`ep_…`), a destination (`dst_…`) or an application (`app_…`) in the key's
   * environment. Defaults to the whole environment.
   */
  @ApiProperty({ required: false, example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  key?: string;

  /**
   * Length of a window. Windows begin at full minutes, hours and days in UTC. They are kept for 7, 90 and 400 days
   * respectively.
   */
  @ApiProperty({ required: false, enum: WINDOWS, default: '1h', example: '1h' })
  window?: MetricsWindow;

  /**
   * Start of the range (RFC 3339): the first window is the one that contains this time. Defaults to 60 minutes, 48
   * hours or 30 days before `until`, depending on `window`. A range has at most 1,440 windows.
   */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since?: string;

  /**
   * End of the range (RFC 3339): only windows that begin before this time are returned. Defaults to the current window.
   */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;

  /** Whether to omit windows without any activity. */
  @ApiProperty({ required: false, type: Boolean, default: false, example: true })
  sparse?: boolean;
}

/** Quantiles of the attempt durations. */
export class LatencyItem {
  /** Median: half of the attempts took at most this number of milliseconds. */
  @ApiProperty({ type: 'integer', example: 42 })
  p50: number;

  /** 95 % of the attempts took at most this number of milliseconds. */
  @ApiProperty({ type: 'integer', example: 118 })
  p95: number;

  /** 99 % of the attempts took at most this number of milliseconds. */
  @ApiProperty({ type: 'integer', example: 240 })
  p99: number;
}

/** Counts and latencies of one window. */
export class RollupItem {
  /** Start of the window. */
  @ApiProperty({ format: 'date-time', example: '2026-11-20T09:00:00.000Z' })
  start: string;

  /** Length of the window. */
  @ApiProperty({ enum: WINDOWS, example: '1h' })
  window: MetricsWindow;

  /**
   * Number of events sent to the destination, or received by the endpoint. For the environment, number of all accepted
   * events. Replays are not counted again.
   */
  @ApiProperty({ type: 'integer', example: 1204 })
  received: number;

  /** Number of deliveries that succeeded. */
  @ApiProperty({ type: 'integer', example: 1197 })
  delivered: number;

  /** Number of deliveries that failed permanently because a retry could not help. */
  @ApiProperty({ type: 'integer', example: 1 })
  failed: number;

  /** Number of attempts that failed and were retried, or will be retried. */
  @ApiProperty({ type: 'integer', example: 17 })
  retried: number;

  /** Number of deliveries that ended in the dead-letter queue. */
  @ApiProperty({ type: 'integer', example: 2 })
  dlq: number;

  /** Number of attempts that started in this window. */
  @ApiProperty({ type: 'integer', example: 1217 })
  attempts: number;

  /** `delivered` as a fraction of all deliveries that ended, from 0 to 1; `null` if none ended. */
  @ApiProperty({ type: 'number', nullable: true, example: 0.9975 })
  success_rate: number | null;

  /**
   * Durations of the attempts, including failed ones, accurate to one sixteenth of the value; `null` if there were no
   * attempts.
   */
  @ApiProperty({ type: LatencyItem, nullable: true })
  latency_ms: LatencyItem | null;
}

/** Windows of the range. */
export class RollupList {
  /**
   * Windows, oldest first. Windows without activity contain zeros, or are omitted if `sparse` is set. Windows past
   * their retention are omitted.
   */
  @ApiProperty({ type: [RollupItem] })
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
