import { badRequest } from '#kernel/errors.js';

/** The lengths of a window, shortest first. Windows begin at full minutes, hours and days of UTC. */
export const WINDOWS = ['1m', '1h', '1d'] as const;
export type MetricsWindow = (typeof WINDOWS)[number];

const DAY_MS = 86_400_000;
const LENGTHS_MS: Readonly<Record<MetricsWindow, number>> = { '1m': 60_000, '1h': 3_600_000, '1d': DAY_MS };
const SHOWN_BY_DEFAULT: Readonly<Record<MetricsWindow, number>> = { '1m': 60, '1h': 48, '1d': 30 };
const SHOWN_MAX = 1_440;

/** How long windows are kept, counted from their start. */
export const KEPT_MS: Readonly<Record<MetricsWindow, number>> = {
  '1m': 7 * DAY_MS,
  '1h': 90 * DAY_MS,
  '1d': 400 * DAY_MS,
};

/** How far back an overview looks, shortest first. */
export const RANGES = ['1h', '24h', '7d', '30d'] as const;
export type OverviewRange = (typeof RANGES)[number];

/** The windows of an overview: as many as a plot shows, of the length that has them. */
export const OVERVIEWS: Readonly<Record<OverviewRange, { window: MetricsWindow; windows: number }>> = {
  '1h': { window: '1m', windows: 60 },
  '24h': { window: '1h', windows: 24 },
  '7d': { window: '1h', windows: 168 },
  '30d': { window: '1d', windows: 30 },
};

/** The beginning of the first window of an overview: the last is the one that runs now. */
export function overviewSinceMs(range: OverviewRange, nowMs: number): number {
  const { window, windows } = OVERVIEWS[range];
  return floored(nowMs, LENGTHS_MS[window]) - (windows - 1) * LENGTHS_MS[window];
}

/** A range of time, in milliseconds since the epoch. */
export interface Range {
  /** The window that holds it is the first. Left out: as many windows before `untilMs` as are shown by default. */
  sinceMs?: number;
  /** The last window begins before it. Left out: now, the running window included. */
  untilMs?: number;
}

/**
 * The starts of the windows in a range, oldest first: of all that have begun and are still kept, since of others nothing
 * is known, which is not the same as nothing having happened. Throws 400 for a range that is empty, or too long.
 */
export function startsOf(window: MetricsWindow, { sinceMs, untilMs }: Range, nowMs: number): number[] {
  const lengthMs = LENGTHS_MS[window];
  const endMs = untilMs ?? nowMs + 1;
  if (sinceMs !== undefined && sinceMs >= endMs)
    throw badRequest('since must be before until, which is now when it is left out.');
  const lastMs = floored(endMs - 1, lengthMs);
  const firstMs =
    sinceMs === undefined ? lastMs - (SHOWN_BY_DEFAULT[window] - 1) * lengthMs : floored(sinceMs, lengthMs);
  const count = (lastMs - firstMs) / lengthMs + 1;
  if (count > SHOWN_MAX) {
    throw badRequest(
      `The range has ${count} windows of ${window}; at most ${SHOWN_MAX} are shown. Ask for less, or for longer windows.`,
    );
  }
  const starts = Array.from({ length: count }, (_, i) => firstMs + i * lengthMs);
  return starts.filter((startMs) => startMs >= nowMs - KEPT_MS[window] && startMs <= nowMs);
}

/** Windows to add up, from the start of the first to the end of the last. */
export interface WindowSpan {
  window: MetricsWindow;
  firstMs: number;
  lastMs: number;
  endMs: number;
}

/**
 * The shortest windows that a range has no more of than are shown at once, and that are still kept: the range is widened
 * to full ones. Without `sinceMs` it is a day. Throws 400 for a range that is empty, begins in the future, or is too long.
 */
export function spanOf({ sinceMs, untilMs }: Range, nowMs: number): WindowSpan {
  const endMs = Math.min(untilMs ?? nowMs + 1, nowMs + 1);
  const startMs = sinceMs ?? endMs - DAY_MS;
  if (startMs >= endMs)
    throw badRequest('since must be in the past and before until, which is now when it is left out.');
  for (const window of WINDOWS) {
    const lengthMs = LENGTHS_MS[window];
    const [firstMs, lastMs] = [floored(startMs, lengthMs), floored(endMs - 1, lengthMs)];
    const isKept = firstMs >= nowMs - KEPT_MS[window];
    if (isKept && (lastMs - firstMs) / lengthMs <= SHOWN_MAX)
      return { window, firstMs, lastMs, endMs: lastMs + lengthMs };
  }
  throw badRequest('since is further back than the 400 days for which figures are kept.');
}

/** Milliseconds of an RFC 3339 time; undefined stays so. Throws 400. */
export function timeMs(parameter: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/i.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(ms)) throw badRequest(`${parameter} must be an RFC 3339 time such as 2026-11-21T09:30:00.000Z.`);
  return ms;
}

const floored = (timeMs: number, lengthMs: number): number => Math.floor(timeMs / lengthMs) * lengthMs;
