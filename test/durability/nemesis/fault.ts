import type { Disruption } from '../checker.js';
import type { Seeded } from '../random.js';
import type { Misbehaviour } from '../receiver.js';
import type { Fleet, FleetKind } from './fleet.js';

/**
 * Maximum time until a lasting fault has an effect. It is long, because other faults may stop all deliveries meanwhile.
 */
export const EFFECT_MS_MAX = 60_000;

/** Kind of a disruption: workers could not record results for as long as a lease lasts. */
export const STORAGE_OUT_OF_REACH = 'storage out of reach';

/** Record of an injected fault. Only the facts in this record may excuse a failure in the check. */
export interface Inflicted {
  kind: string;
  fromMs: number;
  /** Time at which the broken part works again and the service starts to recover. */
  toMs: number;
  /** The periods in which the fault interrupted attempts. Only these attempts may be repeated. */
  disruptions: readonly Disruption[];
  /** Whether storage was down, so that no node could accept messages. */
  isOutage: boolean;
  /** Extra time of each round trip to storage. Set only by the fault that slows storage down. */
  roundTripMs?: number;
  /** Number of stopped processes that exited with unfinished work, because their drain time was over. */
  undrained?: number;
  /** Addresses of API nodes that were down. */
  away: readonly string[];
  /** Restarts of processes in sequence, with their times. */
  turns?: readonly { url: string; fromMs: number; toMs: number }[];
  /** The effect of the fault on the service, as text. A fault without an effect fails the test. */
  effect: string;
}

export interface FaultKind {
  name: string;
  /** Two kinds of the same group are never injected at once, because they would interfere. */
  group: 'processes' | 'postgres' | 'redis' | 'clocks' | 'names' | `receiver-${Misbehaviour}`;
  fleets: readonly FleetKind[];
  /**
   * Duration in seconds: the value in CI, and the minimum and maximum for other runs. All three are zero for an
   * instantaneous fault.
   */
  seconds: readonly [ci: number, min: number, max: number];
  /** Whether the service guarantees an answer to every attempt during the fault. */
  isSeamless?: true;
  /** Whether the processes under test cannot be used for further faults afterwards. */
  usesUp?: true;
  inflict(fleet: Fleet, dice: Seeded, holdMs: number): Promise<Inflicted>;
}

/** Injects a fault with a duration: begins it, waits, ends it, and returns a record of it. */
export async function during(
  kind: string,
  begin: () => Promise<void> | void,
  lasts: () => Promise<unknown>,
  end: () => Promise<string> | string,
): Promise<Inflicted> {
  const fromMs = Date.now();
  await begin();
  await lasts();
  const effect = await end();
  return { kind, fromMs, toMs: Date.now(), disruptions: [], isOutage: false, away: [], effect };
}

/** Returns whether a fault prevented or delayed the recording of results. */
export function wasStorageBroken(faults: readonly Inflicted[]): boolean {
  return faults.some(
    ({ isOutage, roundTripMs, disruptions }) =>
      isOutage || roundTripMs !== undefined || disruptions.some(({ kind }) => kind === STORAGE_OUT_OF_REACH),
  );
}
