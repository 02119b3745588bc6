import { ApiProperty } from '@nestjs/swagger';
import { quantile } from '#engine/histogram.js';
import type { Rollup } from './rollups.store.js';
import { type MetricsWindow, WINDOWS } from './windows.js';

/** Whose rollups, how long each window is, and which of them. */
export class RollupQuery {
  /** An endpoint (`ep_…`), a destination (`dst_…`) or an application (`app_…`) of the key's environment; the whole environment when left out. */
  @ApiProperty({ required: false, example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  key?: string;

  /** How long a window is. They begin at full minutes, hours and days of UTC, and are kept for 7, 90 and 400 days. */
  @ApiProperty({ required: false, enum: WINDOWS, default: '1h', example: '1h' })
  window?: MetricsWindow;

  /**
   * From the window that holds this time (RFC 3339); when it is left out, the last 60 minutes, 48 hours or 30 days
   * before `until`. A range has at most 1,440 windows.
   */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since?: string;

  /** Only windows that begin before this time (RFC 3339); when it is left out, up to the one that runs now. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;

  /** Leave out windows in which nothing happened. */
  @ApiProperty({ required: false, type: Boolean, default: false, example: true })
  sparse?: boolean;
}

/** Quantiles of the attempts' durations. */
export class LatencyItem {
  /** Half of the attempts took at most this many milliseconds. */
  @ApiProperty({ type: 'integer', example: 42 })
  p50: number;

  /** 95 % of the attempts took at most this many milliseconds. */
  @ApiProperty({ type: 'integer', example: 118 })
  p95: number;

  /** 99 % of the attempts took at most this many milliseconds. */
  @ApiProperty({ type: 'integer', example: 240 })
  p99: number;
}

/** What happened in one window. */
export class RollupItem {
  /** When the window begins. */
  @ApiProperty({ format: 'date-time', example: '2026-11-20T09:00:00.000Z' })
  start: string;

  /** How long it is. */
  @ApiProperty({ enum: WINDOWS, example: '1h' })
  window: MetricsWindow;

  /** Events that were sent to the destination, or received by the endpoint; for the environment, all that were accepted. Replays are not counted again. */
  @ApiProperty({ type: 'integer', example: 1204 })
  received: number;

  /** Deliveries that ended with success. */
  @ApiProperty({ type: 'integer', example: 1197 })
  delivered: number;

  /** Deliveries that ended because no retry could help. */
  @ApiProperty({ type: 'integer', example: 1 })
  failed: number;

  /** Attempts that did not succeed and were followed by another one, or will be. */
  @ApiProperty({ type: 'integer', example: 17 })
  retried: number;

  /** Deliveries that ended in the dead-letter queue. */
  @ApiProperty({ type: 'integer', example: 2 })
  dlq: number;

  /** Attempts that began in this window. */
  @ApiProperty({ type: 'integer', example: 1217 })
  attempts: number;

  /** `delivered` as a share of all deliveries that ended, from 0 to 1; null when none did. */
  @ApiProperty({ type: 'number', nullable: true, example: 0.9975 })
  success_rate: number | null;

  /** How long the attempts took, failed ones included, to within a sixteenth; null when there were none. */
  @ApiProperty({ type: LatencyItem, nullable: true })
  latency_ms: LatencyItem | null;
}

/** Every window of the range. */
export class RollupList {
  /** Oldest first. Windows in which nothing happened are there with zeros, unless `sparse` leaves them out; those that are not kept any more are left out. */
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

/** Whether anything happened. */
export const isBusy = ({ received, delivered, failed, retried, dlq, attempts }: Rollup): boolean =>
  received + delivered + failed + retried + dlq + attempts > 0;

export function presentLatency(histogram: Rollup['histogram']): LatencyItem | null {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((q) => quantile(histogram, q));
  return p50 == null || p95 == null || p99 == null ? null : { p50, p95, p99 };
}
