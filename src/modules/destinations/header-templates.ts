import { forwardedHeaderFaults } from '#engine/headers.js';
import type { Fault } from '#kernel/errors.js';

/** Matches any text after `secrets.`, so that a misspelled name is reported as unknown and never sent literally. */
const REFERENCE = /\{\{\s*secrets\.([^{}]*)\}\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const FAULTS_MAX = 50;

/** Returns the distinct names in the `{{secrets.NAME}}` references of the headers. */
export function secretNames(headers: Readonly<Record<string, string>>): string[] {
  return [...new Set(Object.values(headers).flatMap((value) => [...value.matchAll(REFERENCE)].map(nameIn)))];
}

/** Returns the headers with the secrets' values inserted. References inside a secret's value are not resolved. */
export function filledIn(
  headers: Readonly<Record<string, string>>,
  values: ReadonlyMap<string, string>,
): Record<string, string> {
  const fill = (template: string): string =>
    template.replace(REFERENCE, (whole, name: string) => values.get(name.trim()) ?? whole);
  // `fromEntries` treats the header name "__proto__" as an ordinary name. An assignment would set the prototype.
  return Object.fromEntries(Object.entries(headers).map(([name, template]) => [name, fill(template)]));
}

/** Returns the errors in headers: missing secrets and invalid results. Errors never contain the value of a secret. */
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
  // The error does not repeat text that cannot be a secret's name, because the text might be a secret itself.
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
