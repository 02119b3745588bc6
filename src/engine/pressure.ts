import { decay } from './decay.js';

export interface Pressure {
  ready: number;
  drainPerSecond: number;
}

/** Maximum backlog at which requests are accepted, in milliseconds of delivery time at the current rate. */
const LEAD_MS = 100;
/** Minimum backlog limit in deliveries, for environments with too few recent deliveries to compute a rate. */
const READY_MIN = 64;
/** Maximum time that a request waits because of a backlog. It is short enough that clients do not time out. */
export const PACE_MS_MAX = 2_000;

/**
 * Returns whether to accept a request, which may create several deliveries. `underWay`: deliveries whose commit is in
 * progress.
 */
export function mayEnter(pressure: Pressure, underWay: number, waitedMs: number): boolean {
  return waitedMs >= PACE_MS_MAX || pressure.ready + underWay <= readyMax(pressure);
}

function readyMax({ drainPerSecond }: Pressure): number {
  return Math.max(READY_MIN, (drainPerSecond * LEAD_MS) / 1000);
}

/**
 * Average time that a delivery occupies its slot. Above this time, the receivers are the bottleneck, not this machine.
 */
const PLACE_MS_MAX = 1_000;

/**
 * Returns whether deliveries wait for CPU time of this machine and not for slow receivers. `running`: number of
 * occupied slots.
 */
export function turnsOver(running: number, drainPerSecond: number): boolean {
  return running * 1000 <= drainPerSecond * PLACE_MS_MAX;
}

/** A decaying counter of events. Mutated in place by its single owner. */
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

/** Moving average of a target's response time. Mutated in place. */
export interface Answering {
  /** Average response time. Failures and unknown targets are treated as slow. */
  meanMs: number;
  /** Time of the last update, from a monotonic clock. */
  atMs: number;
}

/** Response time below which a target counts as quick. A busy machine alone adds at most a third of this time. */
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

/** Returns whether the target has responded in the last half second, and quickly on average. */
export function isQuick({ meanMs, atMs }: Answering, nowMs: number): boolean {
  return meanMs < QUICK_MS && nowMs - atMs < QUICK_MS;
}
