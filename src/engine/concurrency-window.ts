import type { Outcome } from './outcome.js';

/**
 * Limit of concurrent attempts against one target. Unlike other engine values, it is mutated in place, because each
 * attempt changes it twice. It has a single owner and is never shared or stored.
 */
export interface ConcurrencyWindow {
  limit: number;
  inFlight: number;
  /** Number of slow attempts in flight that no longer occupy a slot. Undefined means 0. */
  lingering?: number;
  /** Upper bound of `limit`: 512 unless the owner of the target configured a lower one. */
  ceiling: number;
}

const LIMIT_INITIAL = 32;
const LIMIT_MIN = 1;
const LIMIT_MAX = 512;

/**
 * Returns the window of a target without history: 32 concurrent attempts, or fewer if the owner of the target
 * configured fewer.
 */
export function initialWindow(concurrency: number | null = null): ConcurrencyWindow {
  const ceiling = concurrency ?? LIMIT_MAX;
  return { limit: Math.min(LIMIT_INITIAL, ceiling), inFlight: 0, ceiling };
}

/** Sets the ceiling to the configured concurrency, or to 512 for null. Mutates `w`. */
export function setCeiling(w: ConcurrencyWindow, concurrency: number | null): void {
  w.ceiling = concurrency ?? LIMIT_MAX;
  w.limit = Math.min(w.limit, w.ceiling);
}

export function hasRoom(w: ConcurrencyWindow): boolean {
  return w.inFlight - (w.lingering ?? 0) < w.limit;
}

export function isBounded(w: ConcurrencyWindow): boolean {
  return w.ceiling < LIMIT_MAX;
}

export function onStart(w: ConcurrencyWindow): void {
  w.inFlight += 1;
}

/**
 * Frees the slot of a slow attempt, because a slow attempt does not mean that the target is overloaded. Mutates `w`.
 */
export function onLinger(w: ConcurrencyWindow): void {
  w.lingering = (w.lingering ?? 0) + 1;
}

/**
 * Adjusts the limit after an attempt. Mutates `w`. `throttled` halves the limit, down to 1.
 *
 * A success raises the limit by one, up to the ceiling, but only if exactly `limit` attempts were in flight. With
 * fewer, the limit was not the bottleneck. With more, the limit was halved while this attempt was in flight.
 */
export function onSettle(w: ConcurrencyWindow, outcome: Outcome, wasLingering = false): void {
  const wasFull = !wasLingering && w.inFlight - (w.lingering ?? 0) === w.limit;
  w.inFlight = Math.max(0, w.inFlight - 1);
  if (wasLingering) w.lingering = Math.max(0, (w.lingering ?? 0) - 1);
  if (outcome === 'throttled') w.limit = Math.max(LIMIT_MIN, Math.floor(w.limit / 2));
  else if (outcome === 'success' && wasFull) w.limit = Math.min(w.ceiling, w.limit + 1);
}
