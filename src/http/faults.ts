import type { ErrorObject } from 'ajv';
import type { Fault } from '#kernel/errors.js';

/** Maximum number of reported faults, to limit the size of the response. */
export const FAULTS_MAX = 50;

type Phrase = (params: Record<string, unknown>, error: ErrorObject) => string;

const PHRASES: Readonly<Record<string, Phrase>> = {
  required: () => 'is required',
  additionalProperties: () => 'is not known here',
  type: ({ type }) =>
    `must be ${[type]
      .flat()
      .map((name) => TYPES[String(name)] ?? String(name))
      .join(' or ')}`,
  enum: ({ allowedValues }) => `must be one of ${(allowedValues as unknown[]).map(String).join(', ')}`,
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} characters`),
  maxLength: ({ limit }) => `must have at most ${String(limit)} characters`,
  minimum: ({ limit }) => `must be at least ${String(limit)}`,
  maximum: ({ limit }) => `must be at most ${String(limit)}`,
  exclusiveMinimum: ({ limit }) => `must be greater than ${String(limit)}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${String(limit)}`,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${String(multipleOf)}`,
  minItems: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} entries`),
  maxItems: ({ limit }, { data }) =>
    `must have at most ${String(limit)} entries${Array.isArray(data) ? `, and has ${data.length}` : ''}`,
  uniqueItems: () => 'must not name anything twice',
  minProperties: ({ limit }) => `must have at least ${String(limit)} fields`,
  maxProperties: ({ limit }) => `must have at most ${String(limit)} fields`,
  pattern: ({ pattern }) => `must match ${String(pattern)}`,
  format: ({ format }) => `must be ${FORMATS[String(format)] ?? `a valid ${String(format)}`}`,
  propertyNames: ({ propertyName }) => `has a field name that is not allowed: ${String(propertyName)}`,
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'a time such as 2026-01-31T12:00:00.000Z (RFC 3339)',
  date: 'a date such as 2026-01-31',
  uri: 'an absolute URL',
  uuid: 'a uuid',
  email: 'an email address',
};

/** Returns at most `FAULTS_MAX` faults, each with the path of its field. */
export function faultsOf(errors: readonly ErrorObject[]): Fault[] {
  const relevant = errors.filter((error) => !isEcho(error, errors)).slice(0, FAULTS_MAX);
  return relevant.map((error) => ({
    path: pathOf(error),
    message:
      PHRASES[error.keyword]?.(error.params as Record<string, unknown>, error) ?? error.message ?? 'is not valid',
  }));
}

/**
 * Returns the path of a field: `retry.schedule.0` for `/retry/schedule/0`. If a field is missing or unknown, appends
 * its name.
 */
function pathOf({ instancePath, params }: ErrorObject): string {
  const names = instancePath
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { missingProperty, additionalProperty } = params as { missingProperty?: string; additionalProperty?: string };
  const own = missingProperty ?? additionalProperty;
  return [...names, ...(own === undefined ? [] : [own])].join('.');
}

/**
 * Returns whether an error only repeats another one. For a fault in the object of `anyOf: [object, null]`, Ajv also
 * reports that the value is not null, and that it matches no alternative. For a list that is too long in `oneOf:
 * [string, array]`, Ajv also reports that it is not a string.
 */
function isEcho(error: ErrorObject, errors: readonly ErrorObject[]): boolean {
  if (error.keyword === 'anyOf' || error.keyword === 'oneOf') {
    return errors.some((other) => other !== error && other.instancePath.startsWith(error.instancePath));
  }
  if (error.keyword !== 'type') return false;
  if ((error.params as { type?: unknown }).type === 'null' && /\/anyOf\/\d+\/type$/.test(error.schemaPath)) return true;
  const [alternatives] = /^.*\/oneOf\/(?=\d+\/type$)/.exec(error.schemaPath) ?? [];
  return (
    alternatives !== undefined &&
    errors.some(
      ({ schemaPath, instancePath }) =>
        schemaPath.startsWith(alternatives) &&
        instancePath.startsWith(error.instancePath) &&
        !schemaPath.slice(alternatives.length).match(/^\d+\/type$/),
    )
  );
}
