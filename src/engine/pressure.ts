import { decay } from './decay.js';

/** Deliveries of one environment that wait for CPU in this process. */
export interface Pressure {
  /** Deliveries that are due and only wait for CPU. */
  ready: number;
  /** Recent delivery rate of the environment, in deliveries per second. */
  drainPerSecond: number;
}

/**
 * Accepted backlog of ready deliveries, in milliseconds of the current rate. With less, slots would be empty between
 * two commits.
 */
const LEAD_MS = 100;
/** Minimum accepted backlog, for environments with too few recent deliveries to know the rate. */
const READY_MIN = 64;
/** Maximum wait of a request, whatever the backlog. Clients must not time out before they are answered. */
export const PACE_MS_MAX = 2_000;

/**
 * Returns whether a request that has waited for `waitedMs` is accepted now. `underWay` is the number of deliveries from
 * admitted requests whose commit is still in flight. A request needs room for a single delivery, however many it
 * creates.
 */
export function mayEnter(pressure: Pressure, underWay: number, waitedMs: number): boolean {
  return waitedMs >= PACE_MS_MAX || pressure.ready + underWay <= readyMax(pressure);
}

function readyMax({ drainPerSecond }: Pressure): number {
  return Math.max(READY_MIN, (drainPerSecond * LEAD_MS) / 1000);
}

/**
 * Longest average time that an attempt occupies a slot because of this machine. Attempts that take longer wait for
 * their receivers.
 */
const PLACE_MS_MAX = 1_000;

/**
 * Returns whether slots are released so quickly that waiting for one means waiting for CPU. `running` is the number of
 * occupied slots.
 */
export function turnsOver(running: number, drainPerSecond: number): boolean {
  return running * 1000 <= drainPerSecond * PLACE_MS_MAX;
}

/** A decaying counter of recent events. Mutated in place by its single owner, like a window. */
export interface Meter {
  /** The count, decayed over time. */
  weight: number;
  /** Time of the last update, from a monotonic clock. */
  atMs: number;
}

/** Time after which a count has decayed to 1/e, about a third. */
const MEMORY_MS = 500;

/** Counts one event. Mutates `meter`. */
export function metered(meter: Meter, nowMs: number): void {
  meter.weight = weightAt(meter, nowMs) + 1;
  meter.atMs = nowMs;
}

/** Returns the recent number of events per second. */
export function perSecond(meter: Meter, nowMs: number): number {
  return (weightAt(meter, nowMs) * 1000) / MEMORY_MS;
}

function weightAt({ weight, atMs }: Meter, nowMs: number): number {
  return weight * decay(nowMs - atMs, MEMORY_MS);
}

/** Response times of a target. Mutated in place, like a window. */
export interface Answering {
  /** Moving average of recent response times. Failures and unknown targets count as slow. */
  meanMs: number;
  /** Time of the last answer, from a monotonic clock. */
  atMs: number;
}

/**
 * Above this response time, deliveries wait for the target. A busy machine with all slots in use adds a third of it by
 * itself.
 */
const QUICK_MS = 500;
const SLOW_MS = 5_000;
const SMOOTHING = 1 / 8;

/** Returns the response times of a target without any answers yet. */
export function unanswered(): Answering {
  return { meanMs: SLOW_MS, atMs: -Infinity };
}

/** Records an answer. Mutates `answering`. */
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

/**
 * Returns whether a target answers as fast as a fully loaded machine can call it, so that its deliveries do not wait
 * for the target.
 */
export function isQuick({ meanMs, atMs }: Answering, nowMs: number): boolean {
  return meanMs < QUICK_MS && nowMs - atMs < QUICK_MS;
}
