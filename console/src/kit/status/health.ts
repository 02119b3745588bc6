/** Outcomes of a target's attempts in a time range. `retried` counts failed attempts that another attempt follows. */
export interface Outcomes {
  delivered: number;
  retried: number;
  failed: number;
  dlq: number;
}

/** Facts about a target, which determine its health. */
export interface TargetFacts {
  status: 'active' | 'disabled';
  /** Sentence with the reason why the target is disabled. */
  reason: string | null;
  disabledAt: string | null;
  /**
   * State of the target's circuit breaker. Null if the target has no circuit breaker of its own. `nextProbeAt` is null
   * if the API does not return it.
   */
  circuit: { state: 'closed' | 'open' | 'half_open'; openedAt: string | null; nextProbeAt: string | null } | null;
  /** Outcomes of the last hour. Null while unknown. */
  hour: Outcomes | null;
  /** Outcomes of the last day. Null while unknown. */
  day: Outcomes | null;
}

/**
 * Health of a target. The first of these states that applies: disabled, circuit open, idle, degraded, healthy. It is
 * unknown if the figures could not be loaded.
 */
export type Health =
  | { state: 'disabled'; reason: string | null; since: string | null }
  | { state: 'circuit-open'; since: string | null; nextProbeAt: string | null; isProbing: boolean }
  | { state: 'idle' }
  | { state: 'degraded'; failureRate: number; range: 'hour' | 'day' }
  | { state: 'healthy' }
  | { state: 'unknown' };

/** Share of failed attempts from which a target counts as degraded. Retries compensate for a lower share. */
const DEGRADED_MIN = 0.01;
/**
 * If the last hour has at least this number of attempts, only that hour determines the health, so that earlier failures
 * do not affect a target that works again.
 */
const HOUR_ATTEMPTS_MIN = 10;

export const attemptsIn = ({ delivered, retried, failed, dlq }: Outcomes): number => delivered + retried + failed + dlq;

export const failuresIn = ({ retried, failed, dlq }: Outcomes): number => retried + failed + dlq;

/** Returns the share of attempts that failed, from 0 to 1, or null if there were no attempts. */
export function failureRate(outcomes: Outcomes): number | null {
  const attempts = attemptsIn(outcomes);
  return attempts === 0 ? null : failuresIn(outcomes) / attempts;
}

/** Adds up the outcomes of several time windows. */
export function totalOf(windows: readonly Outcomes[]): Outcomes {
  const total = { delivered: 0, retried: 0, failed: 0, dlq: 0 };
  for (const window of windows) {
    total.delivered += window.delivered;
    total.retried += window.retried;
    total.failed += window.failed;
    total.dlq += window.dlq;
  }
  return total;
}

/** Returns the health of a target, or null while the required figures are unknown. */
export function healthOf({ status, reason, disabledAt, circuit, hour, day }: TargetFacts): Health | null {
  if (status === 'disabled') return { state: 'disabled', reason, since: disabledAt };
  if (circuit !== null && circuit.state !== 'closed') {
    const { state, openedAt: since, nextProbeAt } = circuit;
    return { state: 'circuit-open', since, nextProbeAt, isProbing: state === 'half_open' };
  }
  if (day === null) return null;
  const ofDay = failureRate(day);
  if (ofDay === null) return { state: 'idle' };
  if (failuresIn(day) === 0) return { state: 'healthy' };
  if (hour === null) return null;
  const range = attemptsIn(hour) >= HOUR_ATTEMPTS_MIN ? 'hour' : 'day';
  const rate = (range === 'hour' ? failureRate(hour) : null) ?? ofDay;
  return rate < DEGRADED_MIN ? { state: 'healthy' } : { state: 'degraded', failureRate: rate, range };
}
