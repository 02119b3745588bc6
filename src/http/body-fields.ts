import { type Fault, shownPath } from '#kernel/errors.js';
import { FAULTS_MAX } from './faults.js';

/** Name and value of a field, with the path of the field and of the object or list that contains it. */
export type FieldCheck = (name: string, value: unknown, path: string, parent: string) => Fault | null;

/**
 * Returns at most `FAULTS_MAX` faults of the fields of a body, at any depth. Skips the top-level fields in `verbatim`, and
 * the contents of a field with a fault. Cuts paths while it builds them, because the paths of a deeply nested body are
 * many times larger than the body.
 */
export function fieldFaults(body: object, check: FieldCheck, verbatim: ReadonlySet<string> = new Set()): Fault[] {
  const faults: Fault[] = [];
  const rest: [path: string, value: object][] = [['', body]];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [parent, object] = next;
    for (const [name, value] of Object.entries(object) as [string, unknown][]) {
      if (object === body && verbatim.has(name)) continue;
      const path = shownPath(parent === '' ? name : `${parent}.${name}`);
      const fault = check(name, value, path, parent);
      if (fault !== null && faults.push(fault) === FAULTS_MAX) return faults;
      if (fault === null && typeof value === 'object' && value !== null) rest.push([path, value]);
    }
  }
  return faults;
}
