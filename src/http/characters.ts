import type { Fault } from '#kernel/errors.js';
import { fieldFaults } from './body-fields.js';

/** U+0000 and unpaired surrogates. JSON can express them, but PostgreSQL's text and jsonb cannot store them. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

const MESSAGE = 'must not contain U+0000 or half of a surrogate pair';

/** Returns faults for strings and field names that cannot be stored. Skips the top-level fields in `verbatim`. */
export function unstorable(body: object, verbatim: ReadonlySet<string>): Fault[] {
  return fieldFaults(body, faultOf, verbatim);
}

function faultOf(name: string, value: unknown, path: string, parent: string): Fault | null {
  if (UNSTORABLE.test(name)) return { path: parent, message: `${MESSAGE} in a field name` };
  return typeof value === 'string' && UNSTORABLE.test(value) ? { path, message: MESSAGE } : null;
}
