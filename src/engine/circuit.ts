import { isHardFailure, type Outcome } from './outcome.js';

/**
 * An immutable value. `openedAt` and `probeAt` are set exactly while the state is not `closed`. `openedAt` is the start
 * of the outage and survives failed probes. `probes` counts failed probes.
 */
export interface Circuit {
  state: 'closed' | 'open' | 'half_open';
  consecutiveFailures: number;
  openedAt: Date | null;
  /** If open: time of the next probe. If half open: time when the prober counts as dead and another may start. */
  probeAt: Date | null;
  probes: number;
}

export interface CircuitPolicy {
  /** Consecutive hard failures that open the circuit. At least 1. */
  failureThreshold: number;
}

export const CLOSED: Circuit = Object.freeze({
  state: 'closed',
  consecutiveFailures: 0,
  openedAt: null,
  probeAt: null,
  probes: 0,
});

export const DEFAULT_CIRCUIT_POLICY: CircuitPolicy = Object.freeze({ failureThreshold: 10 });

const FIRST_PROBE_DELAY_MS = 30_000;
const NEXT_PROBE_DELAYS_MS = [60_000, 120_000, 300_000] as const;
const LAST_PROBE_DELAY_MS = 600_000;

/**
 * Returns the circuit after an attempt. A success closes it in any state. A deferral also closes it, because the target
 * was reached and works.
 *
 * Throttled answers neither count nor reset. `gone` disables the target elsewhere. `refused` concerns the payload, not
 * the target. A failure while the circuit is already open belongs to an attempt that was in flight, so it does not
 * postpone the next probe.
 */
export function after(circuit: Circuit, outcome: Outcome, now: Date, policy: CircuitPolicy): Circuit {
  if (outcome === 'success' || outcome === 'deferred') return CLOSED;
  if (outcome === 'gone' || outcome === 'refused' || circuit.state === 'open') return circuit;
  const consecutiveFailures = circuit.consecutiveFailures + (isHardFailure(outcome) ? 1 : 0);
  if (circuit.state === 'half_open') return reopened(circuit, consecutiveFailures, now);
  if (!isHardFailure(outcome)) return circuit;
  if (consecutiveFailures < policy.failureThreshold) return { ...circuit, consecutiveFailures };
  return { state: 'open', consecutiveFailures, openedAt: now, probeAt: later(now, FIRST_PROBE_DELAY_MS), probes: 0 };
}

export function mayProbe(circuit: Circuit, now: Date): boolean {
  return circuit.state !== 'closed' && circuit.probeAt !== null && circuit.probeAt <= now;
}

/**
 * Claims the probe. Returns the same object when none is due, so that only one of two callers gets to probe. The claim
 * lasts `leaseMs`: a prober that dies without a result does not block the target forever.
 */
export function probing(circuit: Circuit, now: Date, leaseMs: number): Circuit {
  if (!mayProbe(circuit, now)) return circuit;
  return { ...circuit, state: 'half_open', probeAt: later(now, leaseMs) };
}

/** Reopens the circuit, also for a throttling target: it is alive, but its backlog must not be drained now. */
function reopened(circuit: Circuit, consecutiveFailures: number, now: Date): Circuit {
  const delayMs = NEXT_PROBE_DELAYS_MS[circuit.probes] ?? LAST_PROBE_DELAY_MS;
  return { ...circuit, state: 'open', consecutiveFailures, probeAt: later(now, delayMs), probes: circuit.probes + 1 };
}

function later(now: Date, delayMs: number): Date {
  return new Date(now.getTime() + delayMs);
}
