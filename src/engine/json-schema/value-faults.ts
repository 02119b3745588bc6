import type { ErrorObject } from 'ajv';
import type { Fault } from '#engine/conditions/faults.js';

/** Maximum number of reported faults, to limit the size of the response. */
export const FAULTS_MAX = 20;
/** Maximum number of Ajv errors to process. The search for redundant errors takes quadratic time. */
const ERRORS_MAX = 200;
const NAME_LENGTH_MAX = 100;
const PATH_LENGTH_MAX = 400;
const QUOTE_LENGTH_MAX = 200;

type Params = Record<string, unknown>;

const PHRASES: Readonly<Record<string, (params: Params) => string>> = {
  required: () => 'is required',
  dependentRequired: ({ property }) => `is required beside ${quoted(property)}`,
  additionalProperties: () => 'is not known here',
  unevaluatedProperties: () => 'is not known here',
  unevaluatedItems: ({ len }) => `must have at most ${String(len)} entries`,
  items: ({ limit }) => `must have at most ${String(limit)} entries`,
  type: ({ type }) =>
    `must be ${[type]
      .flat()
      .map((name) => TYPES[String(name)] ?? String(name))
      .join(' or ')}`,
  enum: ({ allowedValues }) =>
    `must be one of ${shortened((allowedValues as unknown[]).map((value) => textOf(value)).join(', '))}`,
  const: ({ allowedValue }) => `must be ${shortened(JSON.stringify(allowedValue))}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} characters`),
  maxLength: ({ limit }) => `must have at most ${String(limit)} characters`,
  minimum: ({ limit }) => `must be at least ${String(limit)}`,
  maximum: ({ limit }) => `must be at most ${String(limit)}`,
  exclusiveMinimum: ({ limit }) => `must be greater than ${String(limit)}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${String(limit)}`,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${String(multipleOf)}`,
  minItems: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} entries`),
  maxItems: ({ limit }) => `must have at most ${String(limit)} entries`,
  uniqueItems: () => 'must not contain an entry twice',
  contains: ({ minContains, maxContains }) => containsPhrase(minContains, maxContains),
  minProperties: ({ limit }) => `must have at least ${String(limit)} fields`,
  maxProperties: ({ limit }) => `must have at most ${String(limit)} fields`,
  pattern: ({ pattern }) => `must match ${shortened(String(pattern))}`,
  format: ({ format }) => `must be ${FORMATS[String(format)] ?? `a valid ${String(format)}`}`,
  propertyNames: ({ propertyName }) => `has a field name that is not allowed: ${quoted(propertyName)}`,
  anyOf: () => 'matches none of the alternatives',
  oneOf: ({ passingSchemas }) =>
    passingSchemas === null ? 'matches none of the alternatives' : 'matches more than one of the alternatives',
  not: () => 'must not match the schema in `not`',
  if: ({ failingKeyword }) => `must fit \`${String(failingKeyword)}\``,
  'false schema': () => 'is not allowed here',
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
  time: 'a time such as 12:00:00Z (RFC 3339)',
  duration: 'a duration such as P1DT12H',
  uri: 'an absolute URL',
  uuid: 'a uuid',
  email: 'an email address',
  hostname: 'a host name',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
};

/** Returns at most 20 faults, each with the dotted path of the field concerned. */
export function valueFaults(errors: readonly ErrorObject[]): Fault[] {
  const examined = errors.slice(0, ERRORS_MAX);
  const faults = new Map<string, Fault>();
  for (const error of examined) {
    if (faults.size >= FAULTS_MAX) break;
    if (isEcho(error, examined)) continue;
    const message = PHRASES[error.keyword]?.(error.params as Params) ?? shortened(error.message ?? 'is not valid');
    const fault = { path: pathOf(error), message };
    faults.set(`${fault.path}\n${message}`, fault);
  }
  return [...faults.values()];
}

/**
 * Converts `/lines/0/amount` to `lines.0.amount`. For a missing or unknown field, Ajv reports the parent's path, so
 * this appends the field's name.
 */
function pathOf({ instancePath, params }: ErrorObject): string {
  const names = instancePath
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { missingProperty, additionalProperty, unevaluatedProperty } = params as Record<string, string | undefined>;
  const own = missingProperty ?? additionalProperty ?? unevaluatedProperty;
  const all = own === undefined ? names : [...names, own];
  return all
    .map((name) => name.slice(0, NAME_LENGTH_MAX))
    .join('.')
    .slice(0, PATH_LENGTH_MAX);
}

/**
 * Returns whether an error only repeats other errors. Two kinds of errors are redundant:
 *
 * - the error of `anyOf`, `oneOf` or `if`, if Ajv also reports errors of its subschemas,
 * - the error of the `null` branch in `anyOf: [object, null]`, if the object has errors.
 */
function isEcho(error: ErrorObject, errors: readonly ErrorObject[]): boolean {
  if (['anyOf', 'oneOf', 'if'].includes(error.keyword)) {
    const below =
      error.keyword === 'if'
        ? error.schemaPath.replace(/if$/, String(error.params['failingKeyword']))
        : error.schemaPath;
    return errors.some((other) => other !== error && isWithin(other, error) && other.schemaPath.startsWith(below));
  }
  const isNullBranch =
    error.keyword === 'type' &&
    (error.params as Params)['type'] === 'null' &&
    /\/(anyOf|oneOf)\/\d+\/type$/.test(error.schemaPath);
  return (
    isNullBranch &&
    errors.some((other) => other !== error && isWithin(other, error) && !['anyOf', 'oneOf'].includes(other.keyword))
  );
}

const isWithin = (inner: ErrorObject, outer: ErrorObject): boolean =>
  inner.instancePath === outer.instancePath || inner.instancePath.startsWith(`${outer.instancePath}/`);

function containsPhrase(min: unknown, max: unknown): string {
  if (max === undefined)
    return min === 1
      ? 'must contain an entry that matches `contains`'
      : `must contain at least ${String(min)} entries that match \`contains\``;
  return `must contain ${Number(min)} to ${Number(max)} entries that match \`contains\``;
}

const quoted = (value: unknown): string => String(value).slice(0, NAME_LENGTH_MAX);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

const shortened = (text: string): string =>
  text.length <= QUOTE_LENGTH_MAX ? text : `${text.slice(0, QUOTE_LENGTH_MAX)}…`;
