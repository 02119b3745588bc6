import type { Fault } from '../errors.js';
import { type Caller, grants } from '../tenant.js';

export const HIDDEN = '(hidden)';

const NAMES: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-vercel-protection-bypass',
]);
/** Words in a header's name that mark its value as a credential: `x-api-key`, `x-auth-token`, `x-session-id`. */
const WORDS =
  /(?:^|[-.])(?:auth|tokens?|secrets?|passw(?:or)?d|credentials?|session|api-?keys?|(?:access|private|secret)-?keys?)(?:$|[-.])/;

const NONE: ReadonlySet<string> = new Set();

/** Cached results of `isSensitive`. Most senders use a small number of header names. */
const decided = new Map<string, boolean>();
const DECIDED_MAX = 2_000;

/**
 * Returns whether a header may contain a credential. Such headers are encrypted in storage, and hidden from read-only
 * callers.
 */
export function isSensitive(lowerName: string): boolean {
  let answer = decided.get(lowerName);
  if (answer === undefined) {
    const hyphened = lowerName.replaceAll('_', '-');
    answer = NAMES.has(hyphened) || WORDS.test(hyphened);
    if (decided.size < DECIDED_MAX) decided.set(lowerName, answer);
  }
  return answer;
}

/** Returns the headers as the API shows them: sensitive values are visible only with write access. */
export function shownHeaders(
  headers: Readonly<Record<string, string>>,
  { scope }: Pick<Caller, 'scope'>,
): Record<string, string> {
  return Object.fromEntries(shownPairs(Object.entries(headers), { scope }));
}

/**
 * Returns the headers as the API shows them, in order: sensitive values are visible only with write access. `secret`
 * contains the names of additional secret headers (in lower case, `_` replaced by `-`).
 */
export function shownPairs(
  headers: readonly (readonly [string, string])[],
  { scope }: Pick<Caller, 'scope'>,
  secret: ReadonlySet<string> = NONE,
): [string, string][] {
  const maySeeAll = grants(scope, 'write');
  const isHidden = (name: string): boolean => isSensitive(name) || secret.has(name.replaceAll('_', '-'));
  return headers.map(([name, value]) => [name, maySeeAll || !isHidden(name.toLowerCase()) ? value : HIDDEN]);
}

/**
 * Returns a fault for each value that equals the placeholder of a hidden secret. Storing the placeholder would
 * overwrite the secret.
 */
export function placeholderFaults(
  headers: Readonly<Record<string, unknown>> | null | undefined,
  path = 'headers',
): Fault[] {
  const names = Object.entries(headers ?? {})
    .filter(([, value]) => value === HIDDEN)
    .map(([name]) => name);
  return names.map((name) => ({
    path: `${path}.${name}`,
    message: `is ${HIDDEN}, the placeholder of a hidden value: send the value itself`,
  }));
}
