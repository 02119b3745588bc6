import { decay } from './decay.js';

/** What one environment has waiting in a process that has no time for it. */
export interface Pressure {
  /** Deliveries that would be made now, had the machine time for them. */
  ready: number;
  /** Deliveries of the environment that were made of late, per second. */
  drainPerSecond: number;
}

/** So much may be ready and wait: less, and places would stand empty between two commits. */
const LEAD_MS = 100;
/** Where little or nothing was made yet, nobody knows the rate: so many may wait all the same. */
const READY_MIN = 64;
/** Longer than that nobody waits, whatever is ready: he who asks must not give up before he is answered. */
export const PACE_MS_MAX = 2_000;

/**
 * Whether what has waited for `waitedMs` is accepted now. `underWay`: deliveries of what waited, was let go on, and is not ready yet
 * because its commit is under way. However many deliveries it makes itself, it comes in when there is room for one.
 */
export function mayEnter(pressure: Pressure, underWay: number, waitedMs: number): boolean {
  return waitedMs >= PACE_MS_MAX || pressure.ready + underWay <= readyMax(pressure);
}

function readyMax({ drainPerSecond }: Pressure): number {
  return Math.max(READY_MIN, (drainPerSecond * LEAD_MS) / 1000);
}

/** A place that an attempt keeps for longer, on average, is kept by a receiver: a machine without time to spare gives it back sooner. */
const PLACE_MS_MAX = 1_000;

/** Whether places are given back so soon that who waits for one waits for the machine, with `running` of them taken. */
export function turnsOver(running: number, drainPerSecond: number): boolean {
  return running * 1000 <= drainPerSecond * PLACE_MS_MAX;
}

/** Something that is counted, and how much of it there was of late. Like a window it is changed in place, by its one owner. */
export interface Meter {
  /** What was counted, of which time takes away what is long ago. */
  weight: number;
  /** When it was looked at last, by a monotonic clock. */
  atMs: number;
}

/** After so long a third of what was counted still weighs. */
const MEMORY_MS = 500;

/** Counts one. Changes `meter`. */
export function metered(meter: Meter, nowMs: number): void {
  meter.weight = weightAt(meter, nowMs) + 1;
  meter.atMs = nowMs;
}

/** How many per second were counted of late. */
export function perSecond(meter: Meter, nowMs: number): number {
  return (weightAt(meter, nowMs) * 1000) / MEMORY_MS;
}

function weightAt({ weight, atMs }: Meter, nowMs: number): number {
  return weight * decay(nowMs - atMs, MEMORY_MS);
}

/** How soon a target answers. Changed in place, as a window is. */
export interface Answering {
  /** Of what it answered of late; a failure counts as slow, and so does what is not known. */
  meanMs: number;
  /** When it answered last, by a monotonic clock. */
  atMs: number;
}

/** A target that takes longer to answer is what its deliveries wait for; with every place in use a busy machine takes a third of it by itself. */
const QUICK_MS = 500;
const SLOW_MS = 5_000;
const SMOOTHING = 1 / 8;

/** A target that nothing is known of. */
export function unanswered(): Answering {
  return { meanMs: SLOW_MS, atMs: -Infinity };
}

/** Notes an answer. Changes `answering`. */
export function noteAnswer(
  answering: Answering,
  { tookMs, isSuccess }: { tookMs: number; isSuccess: boolean },
  nowMs: number,
): void {
  const isFirst = answering.atMs === -Infinity;
  const ms = isSuccess ? Math.min(tookMs, SLOW_MS) : SLOW_MS;
  answering.meanMs = isFirst ? ms : answering.meanMs + (ms - answering.meanMs) * SMOOTHING;
  answering.atMs = nowMs;
}

/** Whether a target answers as fast as a machine without time to spare can ask it, so that it is not the target that its deliveries wait for. */
export function isQuick({ meanMs, atMs }: Answering, nowMs: number): boolean {
  return meanMs < QUICK_MS && nowMs - atMs < QUICK_MS;
}
