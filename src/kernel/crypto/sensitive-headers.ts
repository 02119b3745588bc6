import type { Fault } from '../errors.js';
import { type Caller, grants } from '../tenant.js';

/** What readers are shown in place of a value that authenticates. */
export const HIDDEN = '(hidden)';

const NAMES: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie']);
/** `x-api-key`, `x-auth-token`, `x-session-id`: a word of the name says that its value lets somebody in. */
const WORDS =
  /(?:^|[-_.])(?:auth|tokens?|secrets?|passw(?:or)?d|credentials?|session|api-?keys?|(?:access|private|secret)-?keys?)(?:$|[-_.])/;

const NONE: ReadonlySet<string> = new Set();

/** Senders use few names, and each again and again. */
const decided = new Map<string, boolean>();
const DECIDED_MAX = 2_000;

/** Whether a header of this name, in lower case, may let somebody in: it is sealed where it is stored, and shown to nobody who only reads. */
export function isSensitive(lowerName: string): boolean {
  let answer = decided.get(lowerName);
  if (answer === undefined) {
    answer = NAMES.has(lowerName) || WORDS.test(lowerName);
    if (decided.size < DECIDED_MAX) decided.set(lowerName, answer);
  }
  return answer;
}

/** The headers as a caller may see them: with the values of sensitive ones only for who may write. */
export function shownHeaders(
  headers: Readonly<Record<string, string>>,
  { scope }: Pick<Caller, 'scope'>,
): Record<string, string> {
  return Object.fromEntries(shownPairs(Object.entries(headers), { scope }));
}

/** Returns ordered header pairs, repeated ones too, as this caller may see them. `secret` names further secret headers in lower case. */
export function shownPairs(
  headers: readonly (readonly [string, string])[],
  { scope }: Pick<Caller, 'scope'>,
  secret: ReadonlySet<string> = NONE,
): [string, string][] {
  const maySeeAll = grants(scope, 'write');
  const isHidden = (name: string): boolean => isSensitive(name) || secret.has(name);
  return headers.map(([name, value]) => [name, maySeeAll || !isHidden(name.toLowerCase()) ? value : HIDDEN]);
}

/** A fault for each header that a caller gives with the placeholder as its value: a client that writes back what it read would store it in place of the secret. */
export function placeholderFaults(
  headers: Readonly<Record<string, unknown>> | null | undefined,
  path = 'headers',
): Fault[] {
  const names = Object.entries(headers ?? {})
    .filter(([, value]) => value === HIDDEN)
    .map(([name]) => name);
  return names.map((name) => ({
    path: `${path}.${name}`,
    message: `is ${HIDDEN}, which only stands for a value that is not shown: send the value itself`,
  }));
}
