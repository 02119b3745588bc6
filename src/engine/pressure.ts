import { decay } from './decay.js';

export interface Pressure {
  ready: number;
  drainPerSecond: number;
}

/** Accepted backlog, in ms of the current rate. With less backlog, slots would be empty between two commits. */
const LEAD_MS = 100;
/** Minimum accepted backlog, for environments with too few recent deliveries to compute a rate. */
const READY_MIN = 64;
/** Maximum wait of a request, whatever the backlog, so that clients get a response before they time out. */
export const PACE_MS_MAX = 2_000;

/** `underWay`: deliveries whose commit is in flight. A request enters if one fits, however many it creates. */
export function mayEnter(pressure: Pressure, underWay: number, waitedMs: number): boolean {
  return waitedMs >= PACE_MS_MAX || pressure.ready + underWay <= readyMax(pressure);
}

function readyMax({ drainPerSecond }: Pressure): number {
  return Math.max(READY_MIN, (drainPerSecond * LEAD_MS) / 1000);
}

/** Maximum average time in a slot that this machine can cause. Longer attempts wait for their receivers. */
const PLACE_MS_MAX = 1_000;

/** Returns true if waiting for a slot means waiting for CPU. `running` is the number of occupied slots. */
export function turnsOver(running: number, drainPerSecond: number): boolean {
  return running * 1000 <= drainPerSecond * PLACE_MS_MAX;
}

/** A decaying counter of recent events. Mutated in place by its single owner, like a window. */
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

/** Mutated in place, like a window. */
export interface Answering {
  /** Average response time. Failures and unknown targets count as slow. */
  meanMs: number;
  /** Time of the last update, from a monotonic clock. */
  atMs: number;
}

/** Slower deliveries wait for the target. A busy machine with all slots in use adds a third by itself. */
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

/** Returns whether deliveries do not wait for the target: it responds as fast as a loaded machine calls it. */
export function isQuick({ meanMs, atMs }: Answering, nowMs: number): boolean {
  return meanMs < QUICK_MS && nowMs - atMs < QUICK_MS;
}
