import type { Outcome } from './outcome.js';

/**
 * How many attempts may run against one target at once.
 *
 * Unlike the rest of the engine a window is changed in place, because it is touched twice per attempt: it is a value
 * owned by one caller, never shared or stored.
 */
export interface ConcurrencyWindow {
  limit: number;
  inFlight: number;
  /** Of those in flight, how many have taken so long that others may start beside them; absent for none. */
  lingering?: number;
  /** What the limit never exceeds: 512 unless the target's owner said how much it takes. */
  ceiling: number;
}

const LIMIT_INITIAL = 32;
const LIMIT_MIN = 1;
const LIMIT_MAX = 512;

/** A window for a target that nothing is known of: 32 attempts at once, or as few as its owner allows. */
export function initialWindow(concurrency: number | null = null): ConcurrencyWindow {
  const ceiling = concurrency ?? LIMIT_MAX;
  return { limit: Math.min(LIMIT_INITIAL, ceiling), inFlight: 0, ceiling };
}

/** Follows what the target's owner allows; null leaves it to what the target bears. Changes `w`. */
export function setCeiling(w: ConcurrencyWindow, concurrency: number | null): void {
  w.ceiling = concurrency ?? LIMIT_MAX;
  w.limit = Math.min(w.limit, w.ceiling);
}

/** Whether one more attempt may start. */
export function hasRoom(w: ConcurrencyWindow): boolean {
  return w.inFlight - (w.lingering ?? 0) < w.limit;
}

/** Whether the target's owner said how much it takes at once. */
export function isBounded(w: ConcurrencyWindow): boolean {
  return w.ceiling < LIMIT_MAX;
}

/** Notes that an attempt began. Changes `w`. */
export function onStart(w: ConcurrencyWindow): void {
  w.inFlight += 1;
}

/** Records that an attempt takes long, which says nothing about the target's capacity. Frees its slot in `w`. */
export function onLinger(w: ConcurrencyWindow): void {
  w.lingering = (w.lingering ?? 0) + 1;
}

/**
 * Notes that an attempt ended: throttled halves the limit (not below 1), a success raises it by one (not above the
 * ceiling), anything else leaves it. Changes `w`.
 *
 * A success counts only when the window was exactly full: below that the limit was not what held the target back, and
 * above it the limit has just been halved and the success is older than that.
 */
export function onSettle(w: ConcurrencyWindow, outcome: Outcome, wasLingering = false): void {
  const wasFull = !wasLingering && w.inFlight - (w.lingering ?? 0) === w.limit;
  w.inFlight = Math.max(0, w.inFlight - 1);
  if (wasLingering) w.lingering = Math.max(0, (w.lingering ?? 0) - 1);
  if (outcome === 'throttled') w.limit = Math.max(LIMIT_MIN, Math.floor(w.limit / 2));
  else if (outcome === 'success' && wasFull) w.limit = Math.min(w.ceiling, w.limit + 1);
}
