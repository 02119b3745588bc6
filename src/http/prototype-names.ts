import type { Fault } from '#kernel/errors.js';
import { FAULTS_MAX } from './faults.js';

/**
 * Returns faults for fields named `__proto__`. Code that copies such a field by assignment sets the prototype of the
 * copy and loses the field. Skips the top-level fields in `verbatim`.
 */
export function prototypeFaults(body: object, verbatim: ReadonlySet<string> = new Set()): Fault[] {
  const faults: Fault[] = [];
  const rest: [path: string, value: unknown][] = [['', body]];
  for (let next = rest.pop(); next !== undefined && faults.length < FAULTS_MAX; next = rest.pop()) {
    const [parent, value] = next;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value)) {
      if (value === body && verbatim.has(name)) continue;
      const path = parent === '' ? name : `${parent}.${name}`;
      if (name === '__proto__') faults.push({ path, message: 'is not allowed as a field name' });
      else rest.push([path, inner]);
    }
  }
  return faults;
}
