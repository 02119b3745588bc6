import type { FaultFields } from './fault-headline';

/** A part of a page that its own call loads. `fault` is null if the call did not fail. */
export interface LoadedPart {
  name: string;
  fault: unknown;
}

/** Parts of a page that failed with equal errors. */
export interface FaultGroup {
  /** Identifies the group while its parts are loaded again. */
  key: string;
  faults: unknown[];
  names: string[];
}

/** Groups the failed parts of a page by their error, without its request id, in the order of the page. */
export function groupFaults(parts: readonly LoadedPart[]): FaultGroup[] {
  const groups = new Map<string, FaultGroup>();
  for (const { name, fault } of parts) {
    if (fault === null || fault === undefined) continue;
    const { type, status } = fault as FaultFields;
    const key = [type, status, fault instanceof Error ? fault.message : ''].join(' ');
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { key, faults: [fault], names: [name] });
    else {
      known.faults.push(fault);
      known.names.push(name);
    }
  }
  return [...groups.values()];
}
