export interface BackgroundLoad {
  /** Number of deliveries (foreground work) started per second. */
  urgentPerSecond: number;
  /** Fraction of the time in which the event loop was busy, from 0 to 1. */
  utilization: number;
  /** Background work done per second, in the unit that `backgroundRate` limits. */
  tookPerSecond: number;
}

/** If fewer deliveries than this start per second, the rate of background work is doubled. */
const URGENT_MIN = 10;
const CROWDED = 0.8;
const ROOMY = 0.65;
/** Rate per second above which background work is no longer limited. */
const PACE_MAX = 5_000;

/**
 * Returns how much background work per second may run next to foreground work (AIMD):
 *
 * - At most half of the previous rate while the event loop is busy.
 * - A little more than the previous rate while there is spare capacity.
 * - Twice the previous rate without foreground work. Above 5,000 per second, the limit is removed (`Infinity`). It is
 * not removed at once, because foreground work may arrive in bursts.
 *
 * The rate never drops below `floor`, so background work always makes progress.
 */
export function backgroundRate(
  perSecond: number,
  { urgentPerSecond, utilization, tookPerSecond }: BackgroundLoad,
  floor: number,
): number {
  if (urgentPerSecond < URGENT_MIN) return orNone(perSecond * 2);
  if (utilization >= CROWDED) return Math.max(floor, Math.min(perSecond, tookPerSecond) / 2);
  if (utilization > ROOMY || perSecond === Infinity) return perSecond;
  return orNone(perSecond * 1.1 + floor / 10);
}

function orNone(perSecond: number): number {
  return perSecond > PACE_MAX ? Infinity : perSecond;
}
