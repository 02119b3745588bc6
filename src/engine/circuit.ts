import { isHardFailure, type Outcome } from './outcome.js';

/**
 * The circuit breaker of one target; a value that is never changed in place.
 *
 * `openedAt` and `probeAt` are set exactly while the state is not `closed`. `openedAt` is the start of the outage and
 * survives failed probes. `probes` counts the failed ones.
 */
export interface Circuit {
  state: 'closed' | 'open' | 'half_open';
  consecutiveFailures: number;
  openedAt: Date | null;
  /** Open: when a probe may be sent. Half open: when the prober counts as dead and another may take its turn. */
  probeAt: Date | null;
  probes: number;
}

/** When a circuit opens. */
export interface CircuitPolicy {
  /** Consecutive hard failures; at least 1. */
  failureThreshold: number;
}

/** A target that nothing is known against. */
export const CLOSED: Circuit = Object.freeze({
  state: 'closed',
  consecutiveFailures: 0,
  openedAt: null,
  probeAt: null,
  probes: 0,
});

/** Ten hard failures in a row. */
export const DEFAULT_CIRCUIT_POLICY: CircuitPolicy = Object.freeze({ failureThreshold: 10 });

const FIRST_PROBE_DELAY_MS = 30_000;
const NEXT_PROBE_DELAYS_MS = [60_000, 120_000, 300_000] as const;
const LAST_PROBE_DELAY_MS = 600_000;

/**
 * The circuit after an answer. A success closes it whatever its state, and so does a deferral: the target was reached, and works.
 *
 * Throttled answers neither count nor reset, `gone` disables the target elsewhere, and `refused` speaks of a payload, not
 * of the target. A failure while already open is a late attempt that was in flight: it must not push the next probe away.
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

/** Whether one attempt may test an open target now. A closed circuit needs no probe. */
export function mayProbe(circuit: Circuit, now: Date): boolean {
  return circuit.state !== 'closed' && circuit.probeAt !== null && circuit.probeAt <= now;
}

/**
 * The circuit with its probe taken; the same object when none is due, so that of two callers only one gets a turn.
 *
 * The turn lasts `leaseMs`: a prober that dies without an answer does not keep the target shut for good.
 */
export function probing(circuit: Circuit, now: Date, leaseMs: number): Circuit {
  if (!mayProbe(circuit, now)) return circuit;
  return { ...circuit, state: 'half_open', probeAt: later(now, leaseMs) };
}

/** A throttled probe comes here too: the target is alive but asks for less, which draining its backlog is not. */
function reopened(circuit: Circuit, consecutiveFailures: number, now: Date): Circuit {
  const delayMs = NEXT_PROBE_DELAYS_MS[circuit.probes] ?? LAST_PROBE_DELAY_MS;
  return { ...circuit, state: 'open', consecutiveFailures, probeAt: later(now, delayMs), probes: circuit.probes + 1 };
}

function later(now: Date, delayMs: number): Date {
  return new Date(now.getTime() + delayMs);
}
