import { badRequest } from '#kernel/errors.js';

/** Window lengths, shortest first. Windows begin at full minutes, hours and days in UTC. */
export const WINDOWS = ['1m', '1h', '1d'] as const;
export type MetricsWindow = (typeof WINDOWS)[number];

const DAY_MS = 86_400_000;
const LENGTHS_MS: Readonly<Record<MetricsWindow, number>> = { '1m': 60_000, '1h': 3_600_000, '1d': DAY_MS };
const SHOWN_BY_DEFAULT: Readonly<Record<MetricsWindow, number>> = { '1m': 60, '1h': 48, '1d': 30 };
const SHOWN_MAX = 1_440;

/** Retention of rollups, counted from the start of their window. */
export const KEPT_MS: Readonly<Record<MetricsWindow, number>> = {
  '1m': 7 * DAY_MS,
  '1h': 90 * DAY_MS,
  '1d': 400 * DAY_MS,
};

/** Time ranges of an overview, shortest first. */
export const RANGES = ['1h', '24h', '7d', '30d'] as const;
export type OverviewRange = (typeof RANGES)[number];

export const OVERVIEWS: Readonly<Record<OverviewRange, { window: MetricsWindow; windows: number }>> = {
  '1h': { window: '1m', windows: 60 },
  '24h': { window: '1h', windows: 24 },
  '7d': { window: '1h', windows: 168 },
  '30d': { window: '1d', windows: 30 },
};

/** Returns the start of the first window of the range. The last window is the current window. */
export function overviewSinceMs(range: OverviewRange, nowMs: number): number {
  const { window, windows } = OVERVIEWS[range];
  return floored(nowMs, LENGTHS_MS[window]) - (windows - 1) * LENGTHS_MS[window];
}

/** Time range, in milliseconds since the epoch. */
export interface Range {
  /** Time within the first window. Defaults to a fixed number of windows before `untilMs` (see `startsOf`). */
  sinceMs?: number;
  /** Time before which the last window begins. Defaults to now, so that the current window is included. */
  untilMs?: number;
}

/**
 * Returns window starts, oldest first. Includes only windows that have begun and are within their retention, because
 * the counts of other windows are unknown, not zero. Throws 400 for a range that is empty or too long.
 */
export function startsOf(window: MetricsWindow, { sinceMs, untilMs }: Range, nowMs: number): number[] {
  const lengthMs = LENGTHS_MS[window];
  const endMs = untilMs ?? nowMs + 1;
  if (sinceMs !== undefined && sinceMs >= endMs) throw badRequest('since must be before until, which defaults to now.');
  const lastMs = floored(endMs - 1, lengthMs);
  const firstMs =
    sinceMs === undefined ? lastMs - (SHOWN_BY_DEFAULT[window] - 1) * lengthMs : floored(sinceMs, lengthMs);
  const count = (lastMs - firstMs) / lengthMs + 1;
  if (count > SHOWN_MAX) {
    throw badRequest(
      `The range has ${count} windows of ${window}, but at most ${SHOWN_MAX} are returned. Request a shorter range, or longer windows.`,
    );
  }
  const starts = Array.from({ length: count }, (_, i) => firstMs + i * lengthMs);
  return starts.filter((startMs) => startMs >= nowMs - KEPT_MS[window] && startMs <= nowMs);
}

export interface WindowSpan {
  window: MetricsWindow;
  firstMs: number;
  lastMs: number;
  endMs: number;
}

/**
 * Returns whole windows that cover the range. Chooses the shortest window length that the maximum number of windows and
 * the retention allow. Without `sinceMs`, the range is one day. Throws 400 for a range that is empty, begins in the
 * future, or is too long.
 */
export function spanOf({ sinceMs, untilMs }: Range, nowMs: number): WindowSpan {
  const endMs = Math.min(untilMs ?? nowMs + 1, nowMs + 1);
  const startMs = sinceMs ?? endMs - DAY_MS;
  if (startMs >= endMs) throw badRequest('since must be in the past and before until, which defaults to now.');
  for (const window of WINDOWS) {
    const lengthMs = LENGTHS_MS[window];
    const [firstMs, lastMs] = [floored(startMs, lengthMs), floored(endMs - 1, lengthMs)];
    const isKept = firstMs >= nowMs - KEPT_MS[window];
    if (isKept && (lastMs - firstMs) / lengthMs <= SHOWN_MAX)
      return { window, firstMs, lastMs, endMs: lastMs + lengthMs };
  }
  throw badRequest('since is before the 400 days for which metrics are kept.');
}

/** Parses an RFC 3339 time. Returns undefined for an absent parameter. Throws 400 for an invalid time. */
export function timeMs(parameter: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/i.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(ms)) throw badRequest(`${parameter} must be an RFC 3339 time such as 2026-11-21T09:30:00.000Z.`);
  return ms;
}

const floored = (timeMs: number, lengthMs: number): number => Math.floor(timeMs / lengthMs) * lengthMs;
