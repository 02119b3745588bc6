import type { Fault } from '#kernel/errors.js';
import { fieldFaults } from './body-fields.js';

/**
 * Returns faults for fields named `__proto__`. Code that copies such a field by assignment sets the prototype of the
 * copy and loses the field. Skips the top-level fields in `verbatim`.
 */
export function prototypeFaults(body: object, verbatim?: ReadonlySet<string>): Fault[] {
  const check = (name: string, _value: unknown, path: string): Fault | null =>
    name === '__proto__' ? { path, message: 'is not allowed as a field name' } : null;
  return fieldFaults(body, check, verbatim);
}
