import type { Seeded } from '../random.js';
import type { FaultKind } from './fault.js';
import type { FleetKind } from './fleet.js';
import { OUTSIDE_FAULTS } from './outside-faults.js';
import { PROCESS_FAULTS } from './process-faults.js';
import { STORAGE_FAULTS } from './storage-faults.js';

export const KINDS: readonly FaultKind[] = [...PROCESS_FAULTS, ...STORAGE_FAULTS, ...OUTSIDE_FAULTS];

export function kindNamed(name: string): FaultKind {
  const kind = KINDS.find((other) => other.name === name);
  if (!kind) throw new Error(`There is no kind ${name}. Kinds: ${KINDS.map((other) => other.name).join(', ')}.`);
  return kind;
}

/**
 * Picks kinds of faults that do not interfere with each other. Returns `atOnceMin` kinds in half of the calls,
 * otherwise up to `atOnceMax`.
 */
export function overlapping(
  kinds: readonly FaultKind[],
  fleet: FleetKind,
  dice: Seeded,
  atOnceMax: number,
  atOnceMin = 1,
): FaultKind[] {
  const possible = dice.shuffled(kinds.filter(({ fleets }) => fleets.includes(fleet)));
  const count = atOnceMax <= atOnceMin || dice.next() < 0.5 ? atOnceMin : dice.between(atOnceMin + 1, atOnceMax);
  const chosen: FaultKind[] = [];
  for (const kind of possible) {
    if (chosen.length < count && !chosen.some(({ group }) => group === kind.group)) chosen.push(kind);
  }
  return chosen;
}
