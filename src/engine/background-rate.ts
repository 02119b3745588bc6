/** What is known of the time since the pace was last set. */
export interface BackgroundLoad {
  /** Work per second that comes first. */
  urgentPerSecond: number;
  /** Part of the time in which the loop had something to do. */
  utilization: number;
  /** What the yielding work did itself. */
  tookPerSecond: number;
}

/** Less than this does not wait for anybody. */
const URGENT_MIN = 10;
const CROWDED = 0.8;
const ROOMY = 0.65;
/** More is no pace any more. */
const PACE_MAX = 5_000;

/**
 * How much work per second may be done that lets other work pass: half of what it was where the loop has hardly a moment left, slowly
 * more where it has, and twice as much at each look where there is nobody to let pass, until it is all (Infinity). What comes in bursts
 * would find the door wide open each time if a pause opened it at once. Never less than `floor`: it goes on, however crowded it is.
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
