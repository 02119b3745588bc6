import { decay } from './decay.js';

export interface Pressure {
  ready: number;
  drainPerSecond: number;
}

/** Accepted backlog, in ms of work at the current rate. With less, slots would be empty between two commits. */
const LEAD_MS = 100;
/** Minimum accepted backlog, for environments with too few recent deliveries to compute a rate. */
const READY_MIN = 64;
/** Maximum wait of a request for any backlog, so that clients get a response before they time out. */
export const PACE_MS_MAX = 2_000;

/** `underWay`: deliveries whose commit is in flight. A request enters if one delivery fits, even if it creates more. */
export function mayEnter(pressure: Pressure, underWay: number, waitedMs: number): boolean {
  return waitedMs >= PACE_MS_MAX || pressure.ready + underWay <= readyMax(pressure);
}

function readyMax({ drainPerSecond }: Pressure): number {
  return Math.max(READY_MIN, (drainPerSecond * LEAD_MS) / 1000);
}

/** Maximum average time in a slot that is caused by this machine. A longer time is caused by slow receivers. */
const PLACE_MS_MAX = 1_000;

/** Returns true if waiting for a slot means waiting for CPU. `running` is the number of occupied slots. */
export function turnsOver(running: number, drainPerSecond: number): boolean {
  return running * 1000 <= drainPerSecond * PLACE_MS_MAX;
}

/** A decaying counter of recent events. Mutated in place by its single owner. */
export interface Meter {
  /** Number of events, decayed over time. */
  weight: number;
  /** Time of the last event, from a monotonic clock. */
  atMs: number;
}

/** Time after which a count has decayed to 1/e, about a third. */
const MEMORY_MS = 500;

export function metered(meter: Meter, nowMs: number): void {
  meter.weight = weightAt(meter, nowMs) + 1;
  meter.atMs = nowMs;
}

export function perSecond(meter: Meter, nowMs: number): number {
  return (weightAt(meter, nowMs) * 1000) / MEMORY_MS;
}

function weightAt({ weight, atMs }: Meter, nowMs: number): number {
  return weight * decay(nowMs - atMs, MEMORY_MS);
}

/** Measures how fast attempts are answered. Mutated in place. */
export interface Answering {
  /** Average response time. Failures and unknown targets are treated as slow. */
  meanMs: number;
  /** Time of the last update, from a monotonic clock. */
  atMs: number;
}

/** Slower deliveries wait for the target. With all slots in use, a busy machine alone causes a third of this time. */
const QUICK_MS = 500;
const SLOW_MS = 5_000;
const SMOOTHING = 1 / 8;

export function unanswered(): Answering {
  return { meanMs: SLOW_MS, atMs: -Infinity };
}

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

/** Returns whether the target responds as fast as a loaded machine calls it, so that deliveries do not wait for it. */
export function isQuick({ meanMs, atMs }: Answering, nowMs: number): boolean {
  return meanMs < QUICK_MS && nowMs - atMs < QUICK_MS;
}
