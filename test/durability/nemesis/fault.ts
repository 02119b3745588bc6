import type { Disruption } from '../checker.js';
import type { Seeded } from '../random.js';
import type { Misbehaviour } from '../receiver.js';
import type { Fleet, FleetKind } from './fleet.js';

/** A fault that lasts has its effect within this time, also beside others that keep deliveries away. */
export const EFFECT_MS_MAX = 60_000;

/** The kind of a disruption by which workers could not record for as long as their lease. */
export const STORAGE_OUT_OF_REACH = 'storage out of reach';

/** A fault as it was: what the checker may hold against it, and nothing else. */
export interface Inflicted {
  kind: string;
  fromMs: number;
  /** From here on whatever was broken works again; what the service still has to get over begins. */
  toMs: number;
  /** Attempts that were cut: only those may be repeated. */
  disruptions: readonly Disruption[];
  /** Whether storage was away: then nobody could accept. */
  isOutage: boolean;
  /** How much longer each round trip to storage took, where that was the fault. */
  roundTripMs?: number;
  /** Processes that were told to stop and left at the end of their time, with work in hand. */
  undrained?: number;
  /** Addresses of API nodes that were away. */
  away: readonly string[];
  /** Processes that were stopped and came back one after the other, and when: another fault may have had the only other one meanwhile. */
  turns?: readonly { url: string; fromMs: number; toMs: number }[];
  /** What shows that something was broken. A fault without an effect is none, and fails. */
  effect: string;
}

/** One kind of fault. */
export interface FaultKind {
  name: string;
  /** Of several kinds at once no two are of one group: they would get into each other's way. */
  group: 'processes' | 'postgres' | 'redis' | 'clocks' | 'names' | `receiver-${Misbehaviour}`;
  fleets: readonly FleetKind[];
  /** How long it lasts in CI, and at least and at most otherwise; zeros for what is done in a moment. */
  seconds: readonly [ci: number, min: number, max: number];
  /** Whether the service promises to answer every single try meanwhile. */
  isSeamless?: true;
  /** Whether the fleet is of no use afterwards. */
  usesUp?: true;
  inflict(fleet: Fleet, dice: Seeded, holdMs: number): Promise<Inflicted>;
}

/** A fault of some length: it begins, lasts, ends, and tells what it did. */
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

/** Whether results could not be recorded for a while, or late only. */
export function wasStorageBroken(faults: readonly Inflicted[]): boolean {
  return faults.some(
    ({ isOutage, roundTripMs, disruptions }) =>
      isOutage || roundTripMs !== undefined || disruptions.some(({ kind }) => kind === STORAGE_OUT_OF_REACH),
  );
}
