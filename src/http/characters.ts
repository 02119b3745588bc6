import type { Fault } from '#kernel/errors.js';
import { FAULTS_MAX } from './faults.js';

/** U+0000 and unpaired surrogates. JSON can express them, but PostgreSQL's text and jsonb cannot store them. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

const MESSAGE = 'must not contain U+0000 or half of a surrogate pair';

/** Returns faults for strings and field names that cannot be stored. Skips the top-level fields in `verbatim`. */
export function unstorable(body: object, verbatim: ReadonlySet<string>): Fault[] {
  const faults: Fault[] = [];
  const rest: [path: string, value: unknown][] = [];
  for (const [name, value] of Object.entries(body)) if (!verbatim.has(name)) rest.push([name, value]);
  for (let next = rest.pop(); next !== undefined && faults.length < FAULTS_MAX; next = rest.pop()) {
    const [path, value] = next;
    if (typeof value === 'string' && UNSTORABLE.test(value)) faults.push({ path, message: MESSAGE });
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value)) {
      if (UNSTORABLE.test(name)) faults.push({ path, message: `${MESSAGE} in a field name` });
      else rest.push([`${path}.${name}`, inner]);
    }
  }
  return faults;
}
