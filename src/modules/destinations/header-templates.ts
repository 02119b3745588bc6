import { forwardedHeaderFaults } from '#engine/headers.js';
import type { Fault } from '#kernel/errors.js';

/** Everything between the braces, so that a misspelled name is an unknown one and never sent as it stands. */
const REFERENCE = /\{\{\s*secrets\.([^{}]*)\}\}/g;
/** What a secret may be called. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const FAULTS_MAX = 50;

/** The names of the secrets in `{{secrets.NAME}}`, each once. */
export function secretNames(headers: Readonly<Record<string, string>>): string[] {
  return [...new Set(Object.values(headers).flatMap((value) => [...value.matchAll(REFERENCE)].map(nameIn)))];
}

/** The headers with the values of their secrets, which are taken as they are: what looks like a reference in one is none. */
export function filledIn(
  headers: Readonly<Record<string, string>>,
  values: ReadonlyMap<string, string>,
): Record<string, string> {
  const fill = (template: string): string =>
    template.replace(REFERENCE, (whole, name: string) => values.get(name.trim()) ?? whole);
  // Unlike an assignment, fromEntries makes "__proto__" a name like any other.
  return Object.fromEntries(Object.entries(headers).map(([name, template]) => [name, fill(template)]));
}

/**
 * Why headers can't be sent with these values; empty when they can. Secrets must exist, each must be a valid header
 * value by itself, and so must be what becomes of the header. No fault says anything of a value.
 */
export function templateFaults(
  headers: Readonly<Record<string, string>>,
  values: ReadonlyMap<string, string>,
): Fault[] {
  const faults = Object.entries(headers).flatMap(([header, template]) =>
    secretNames({ header: template }).flatMap((name) => referenceFaults(header, name, values.get(name))),
  );
  return faults.length > 0 ? faults.slice(0, FAULTS_MAX) : forwardedHeaderFaults(filledIn(headers, values));
}

function referenceFaults(header: string, name: string, value: string | undefined): Fault[] {
  const path = `headers.${header}`;
  // What can't be a name may be anything, a secret in the wrong place too: it is not repeated.
  if (value === undefined)
    return [{ path, message: NAME.test(name) ? `names the secret ${name}, which does not exist` : 'names no secret' }];
  return forwardedHeaderFaults({ 'x-secret': value }).map(({ message }) => ({
    path,
    message: `can't hold the secret ${name}: ${message}`,
  }));
}

function nameIn([, name = '']: RegExpMatchArray): string {
  return name.trim();
}
