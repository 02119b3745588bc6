import { isHardFailure, type Outcome } from './outcome.js';

/**
 * Immutable state of a target's circuit breaker. `openedAt` and `probeAt` are set only while the state is not `closed`.
 * `openedAt` is the start of the outage. `probes` counts the probes that have failed since then.
 */
export interface Circuit {
  state: 'closed' | 'open' | 'half_open';
  consecutiveFailures: number;
  openedAt: Date | null;
  /** If open: time of the next probe. If half open: time after which the running probe is treated as lost. */
  probeAt: Date | null;
  probes: number;
}

export interface CircuitPolicy {
  /** Number of consecutive hard failures that open the circuit. At least 1. */
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
 * Returns the state of the circuit breaker after an attempt:
 *
 * - `success` and `deferred` close the circuit in any state, because the target responded.
 * - A failure counts toward the threshold that opens the circuit. A failed probe reopens the circuit.
 * - `throttled` reopens the circuit after a probe. Otherwise it changes nothing.
 * - `gone` changes nothing, because other code then disables the target.
 * - `refused` changes nothing, because only the payload is at fault.
 *
 * Failures while the circuit is open are ignored. They belong to attempts that started earlier, so they must not
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
 * Claims the next probe for the caller, so that only one caller probes. Returns `circuit` itself if no probe may start
 * yet. The claim expires after `leaseMs`, because the process may crash during its probe.
 */
export function probing(circuit: Circuit, now: Date, leaseMs: number): Circuit {
  if (!mayProbe(circuit, now)) return circuit;
  return { ...circuit, state: 'half_open', probeAt: later(now, leaseMs) };
}

/**
 * Reopens the circuit after a probe. A throttled probe also reopens it, because the target responds but is overloaded.
 */
function reopened(circuit: Circuit, consecutiveFailures: number, now: Date): Circuit {
  const delayMs = NEXT_PROBE_DELAYS_MS[circuit.probes] ?? LAST_PROBE_DELAY_MS;
  return { ...circuit, state: 'open', consecutiveFailures, probeAt: later(now, delayMs), probes: circuit.probes + 1 };
}

function later(now: Date, delayMs: number): Date {
  return new Date(now.getTime() + delayMs);
}
