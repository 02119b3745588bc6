import type { Type } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { unsafeNumbers } from '#engine/unsafe-numbers.js';
import { badRequest, type Fault, invalid } from '#kernel/errors.js';
import { isSuspect } from './body-parser.js';
import { unstorable } from './characters.js';
import { decoratorCheck } from './decorator-check.js';
import { FAULTS_MAX, faultsOf } from './faults.js';
import { prototypeFaults } from './prototype-names.js';
import { type ParameterSchema, typedQuery } from './query-values.js';
import type { Check, CheckBody } from './request.js';
import type { RouteHandler } from './routes.js';
import { allowsUnknownFields } from './unknown-fields.js';
import { checkedFields } from './validation-schemas.js';

/**
 * Validators of a component's schema, compiled on first use. `validate` stops at the first fault. `explain` finds all.
 */
interface Compiled {
  validate: () => ValidateFunction;
  explain: () => ValidateFunction;
  properties: Record<string, ParameterSchema>;
  verbatim: ReadonlySet<string>;
  /**
   * Fields in which numbers are not checked. Null if no other field can contain a number, so that the check is skipped.
   */
  numbersExcept: ReadonlySet<string> | null;
  fixed: ReadonlyMap<string, string>;
}

interface Operation {
  operationId?: string;
  parameters?: { name: string; in: string }[];
}

interface SchemaParts {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, SchemaParts>;
  items?: SchemaParts;
  anyOf?: SchemaParts[];
  oneOf?: SchemaParts[];
  allOf?: SchemaParts[];
  additionalProperties?: unknown;
}

const VERBATIM = Symbol('posthorn:verbatim');
const ROUNDS_NUMBERS = Symbol('posthorn:rounds-numbers');
const FIXED = Symbol('posthorn:fixed');
const COMPONENTS = '#/components/schemas/';
/** Keywords whose values are not schemas. */
const VALUES = new Set(['const', 'default', 'enum', 'example', 'examples']);

/**
 * Maximum number of fields in a body for which all faults are reported. In a body of one megabyte, finding all faults
 * would take seconds.
 */
const EXPLAINED_FIELDS_MAX = 2_000;

/** Class decorator for the body of an update. Names the fields that cannot be changed, each with its error message. */
export function Fixed(fields: Readonly<Record<string, string>>): ClassDecorator {
  return (target) => Reflect.defineMetadata(FIXED, fields, target);
}

/** Marks a top-level field of a body that is stored exactly as sent. Strings in it are never rejected. */
export function Verbatim(): PropertyDecorator {
  return noted(VERBATIM);
}

/**
 * Marks a top-level field whose inexact numbers are rounded instead of rejected. The response shows the stored number.
 */
export function RoundsNumbers(): PropertyDecorator {
  return noted(ROUNDS_NUMBERS);
}

function noted(key: symbol): PropertyDecorator {
  return (target, name) =>
    Reflect.defineMetadata(key, [...notedOf(key, target.constructor), String(name)], target.constructor);
}

function notedOf(key: symbol, type: object): string[] {
  return (Reflect.getMetadata(key, type) ?? []) as string[];
}

/**
 * Compiles the checks of each route's body and query from the schemas of the OpenAPI document, so that the checks always
 * match the document.
 *
 * `inputs` contains the schemas of bodies and queries. The whole `document` is built only when a request sends a
 * parameter to a route without a query class. Throws for a class without a schema in `inputs`, and for an invalid schema.
 *
 * The schemas are derived from the class-validator decorators of the classes (ADR 37). `@ApiProperty` adds examples,
 * defaults and descriptions:
 *
 *     @IsString() @Length(1, 100)                                    name: string;
 *     @CanBeOmitted() @IsIn(['https', 'sqs'])                        kind?: 'https' | 'sqs';
 *     @IsOptional() @IsString()                                      description?: string | null;   // null clears it
 *     @CanBeNull() @IsString()                                       reason: string | null;         // always present
 *     @CanBeOmitted() @IsInt() @Min(1)                               timeout_ms?: number;
 *     @CanBeOmitted() @IsStringMap()                                 headers?: Record<string, string>;
 *     @IsObject()                                                    payload: Record<string, unknown>;
 *     @IsArray() @ArrayMaxSize(20) @IsInt({ each: true })            schedule: number[];
 *     @IsOptional() @IsObjectOf(() => RetryDto)                      retry?: RetryDto | null;
 *     @IsArrayOf(() => RouteDto)                                     routes: RouteDto[];
 *
 * Posthorn's DTOs are in `*.dto.ts` files, because the Swagger plugin of `nest build` reads doc comments as descriptions
 * only in such files. A field must not have an initializer. Defaults apply only in query classes.
 */
export function compileChecks(
  inputs: OpenAPIObject,
  routes: readonly RouteHandler[],
  document: () => OpenAPIObject,
): void {
  const documented = schemasOf(inputs);
  closeBodies(inputs, routes);
  const schemas = withoutChecked(documented, routes);
  let parameters: ReturnType<typeof queryParameters> | undefined;
  let every: Ajv | undefined;
  const thorough = (): Ajv => (every ??= engine(schemas, true));
  const quick = engine(schemas, false);
  const refuseMistakes = mistakesIn(documented, quick.formats);
  const compile = (type: Type): Compiled => {
    const schema = schemas[type.name];
    if (!schema) throw new Error(`${type.name} is not in the OpenAPI document.`);
    const $ref = `openapi#/components/schemas/${type.name}`;
    refuseMistakes(documented[type.name]);
    const verbatim = new Set(notedOf(VERBATIM, type));
    const except = new Set([...verbatim, ...notedOf(ROUNDS_NUMBERS, type)]);
    let validate: ValidateFunction | undefined;
    let explain: ValidateFunction | undefined;
    return {
      // Compiled on first use. Compiling all schemas would take a tenth of the start time, and most processes never
      // serve most of the routes.
      validate: () => (validate ??= quick.compile({ $ref })),
      explain: () => (explain ??= thorough().compile({ $ref })),
      properties: (documented[type.name]?.['properties'] ?? {}) as Record<string, ParameterSchema>,
      verbatim,
      numbersExcept: mayHoldNumbers(schema, schemas, except) ? except : null,
      fixed: new Map(Object.entries((Reflect.getOwnMetadata(FIXED, type) ?? {}) as Record<string, string>)),
    };
  };
  const nothing = checkBodyWith(emptyObject(quick, thorough));
  for (const { name, config, body, isBodiless, query } of routes) {
    if (body) config.checkBody = checkBodyWith(compile(body));
    // Rejects a body that would have no effect, for example `{"dry_run": true}`, because the caller expects an effect.
    else if (isBodiless) config.checkBody = (sent, text) => (sent === undefined ? sent : nothing(sent, text));
    config.runDecorators = decoratorCheck(body, query);
    if (query) config.checkQuery = checkQueryWith(compile(query));
    // OAuth requires servers to ignore unknown parameters (RFC 6749, section 3.1).
    else if (config.uncounted !== true && config.page !== true && config.oauth !== true)
      config.checkQuery = checkNames(() => (parameters ??= queryParameters(document())).get(name));
  }
}

/**
 * Returns the schemas without rules for the fields that class-validator checks. These fields accept any value and may
 * be missing.
 */
function withoutChecked(
  schemas: Record<string, Record<string, unknown>>,
  routes: readonly RouteHandler[],
): Record<string, Record<string, unknown>> {
  const inputs = routes.flatMap(({ body, query }) => [body ?? [], query ?? []].flat());
  const changed = inputs.flatMap((input) =>
    [...checkedFields(input)].map(([{ name }, fields]) => {
      const { properties, required = [], ...others } = schemas[name] as SchemaParts & { required?: string[] };
      const open = Object.fromEntries(fields.map((field) => [field, {}]));
      const needed = required.filter((field) => !fields.includes(field));
      return [name, { ...others, properties: { ...properties, ...open }, required: needed }] as const;
    }),
  );
  return changed.length === 0 ? schemas : { ...schemas, ...Object.fromEntries(changed) };
}

/**
 * Returns a function that throws for missing references, unknown formats and invalid patterns. Such an error stops the
 * start.
 */
function mistakesIn(schemas: Record<string, unknown>, formats: object): (part: unknown) => void {
  const seen = new Set<object>();
  return function refuse(part) {
    if (typeof part !== 'object' || part === null || seen.has(part)) return;
    seen.add(part);
    const { $ref, format, pattern } = part as Record<string, unknown>;
    if (typeof $ref === 'string') {
      const referred = $ref.startsWith(COMPONENTS) ? schemas[$ref.slice(COMPONENTS.length)] : undefined;
      if (!referred) throw new Error(`OpenAPI document: ${$ref} refers to nothing.`);
      refuse(referred);
    }
    if (typeof format === 'string' && !Object.hasOwn(formats, format))
      throw new Error(`OpenAPI document: the format ${format} is not known.`);
    if (typeof pattern === 'string') new RegExp(pattern, 'u');
    for (const [keyword, value] of Object.entries(part)) if (!VALUES.has(keyword)) refuse(value);
  };
}

function emptyObject(quick: Ajv, thorough: () => Ajv): Compiled {
  const schema = { type: 'object', additionalProperties: false };
  let validate: ValidateFunction | undefined;
  let explain: ValidateFunction | undefined;
  return {
    validate: () => (validate ??= quick.compile(schema)),
    explain: () => (explain ??= thorough().compile(schema)),
    properties: {},
    verbatim: new Set(),
    numbersExcept: null,
    fixed: new Map(),
  };
}

function schemasOf(document: OpenAPIObject): Record<string, Record<string, unknown>> {
  return (document.components?.schemas ?? {}) as Record<string, Record<string, unknown>>;
}

/**
 * Makes the schemas of request bodies reject unknown fields, unless the class has `@AllowUnknownFields`. A misspelt
 * field must not silently get its default. Changes the OpenAPI document.
 */
export function closeBodies(document: OpenAPIObject, routes: readonly RouteHandler[]): void {
  const schemas = schemasOf(document);
  const open = new Set<SchemaParts>(
    Object.keys(schemas)
      .filter(allowsUnknownFields)
      .map((name) => schemas[name] ?? {}),
  );
  const seen = new Set<SchemaParts>();
  const close = (schema: SchemaParts): void => {
    if (seen.has(schema)) return;
    seen.add(schema);
    const { $ref, properties, items, anyOf = [], oneOf = [], allOf = [] } = schema;
    if ($ref !== undefined) close(schemas[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {});
    if (properties && !open.has(schema)) schema.additionalProperties ??= false;
    for (const part of [...Object.values(properties ?? {}), ...anyOf, ...oneOf, ...allOf, ...(items ? [items] : [])])
      close(part);
  };
  for (const { body } of routes) if (body) close(schemas[body.name] ?? {});
}

/**
 * Returns whether a valid body can contain a number outside of the fields in `except`. Otherwise, numbers need no
 * check.
 */
function mayHoldNumbers(
  schema: SchemaParts,
  schemas: Record<string, SchemaParts>,
  except: ReadonlySet<string>,
): boolean {
  const seen = new Set<SchemaParts>();
  const may = (part: SchemaParts): boolean => {
    const {
      $ref,
      type,
      enum: values,
      const: value,
      properties,
      items,
      anyOf = [],
      oneOf = [],
      allOf = [],
      additionalProperties,
    } = part;
    if (seen.has(part) || values !== undefined || value !== undefined) return false;
    seen.add(part);
    if ($ref !== undefined) return may(schemas[$ref.slice(COMPONENTS.length)] ?? {});
    const inner = [
      ...Object.entries(properties ?? {})
        .filter(([name]) => part !== schema || !except.has(name))
        .map(([, each]) => each),
      ...anyOf,
      ...oneOf,
      ...allOf,
    ];
    if (type === undefined && inner.length === 0) return true;
    const types = [type ?? []].flat();
    if (types.includes('number') || types.includes('integer')) return true;
    // An object without a schema for its members, or an array without one for its items, allows anything.
    if (
      types.includes('object') &&
      additionalProperties !== false &&
      (properties === undefined || additionalProperties !== undefined) &&
      may(partOf(additionalProperties))
    )
      return true;
    return (types.includes('array') && may(items ?? {})) || inner.some(may);
  };
  return may(schema);
}

function partOf(additional: unknown): SchemaParts {
  return typeof additional === 'object' && additional !== null ? additional : {};
}

function queryParameters(document: OpenAPIObject): Map<string, ReadonlySet<string>> {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item) as Operation[]);
  return new Map(
    operations.map(({ operationId = '', parameters = [] }) => [
      operationId,
      new Set(parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)),
    ]),
  );
}

function refuseUnknown(query: object, known: ReadonlySet<string>): void {
  const fields = Object.keys(query)
    .filter((name) => !known.has(name))
    .slice(0, FAULTS_MAX)
    .map((path) => ({ path, message: 'is not known here' }));
  if (fields.length > 0)
    throw badRequest(
      `The query parameter ${fields[0]?.path} is not known here. ${known.size === 0 ? 'There are none.' : `Known are ${[...known].join(', ')}.`}`,
      { fields },
    );
}

/** Returns a check of parameter names, for routes without a query class. Undocumented operations accept any name. */
function checkNames(names: () => ReadonlySet<string> | undefined): Check {
  return (query) => {
    const known = Object.keys(query as object).length > 0 ? names() : undefined;
    if (known) refuseUnknown(query as object, known);
    return query;
  };
}

function checkBodyWith(compiled: Compiled): CheckBody {
  return (body, text) => {
    if (body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body))) {
      throw invalid([{ path: '', message: 'The body must be a JSON object.' }]);
    }
    // A missing body is checked like an empty object, so that required fields are reported as missing.
    const object = body ?? {};
    if (!compiled.validate()(object)) throw invalid(explain(compiled, object));
    const faults = isSuspect(object)
      ? [...prototypeFaults(object, compiled.verbatim), ...unstorable(object, compiled.verbatim)].slice(0, FAULTS_MAX)
      : [];
    if (faults.length > 0) throw invalid(faults);
    const lost = compiled.numbersExcept !== null && text !== null ? unsafeNumbers(text, compiled.numbersExcept) : [];
    if (lost.length > 0) throw invalid(lost);
    return object;
  };
}

/** Returns a check that converts known parameters to their types. Rejects unknown ones, such as a misspelt filter. */
function checkQueryWith(compiled: Compiled): Check {
  const known = new Set(Object.keys(compiled.properties));
  return (query) => {
    refuseUnknown(query as object, known);
    const typed = typedQuery(query as Record<string, unknown>, compiled.properties);
    if (compiled.validate()(typed)) return typed;
    const fields = explain(compiled, typed);
    throw badRequest(`${fields[0]?.path} ${fields[0]?.message}.`, { fields });
  };
}

function explain(compiled: Compiled, value: object): Fault[] {
  return allFaults(compiled, value).map(({ path, message }) => ({
    path,
    message: compiled.fixed.get(path) ?? message,
  }));
}

function allFaults(compiled: Compiled, value: object): Fault[] {
  const first = compiled.validate().errors as ErrorObject[];
  if (countUpTo(value, EXPLAINED_FIELDS_MAX) >= EXPLAINED_FIELDS_MAX) return faultsOf(first);
  const thorough = compiled.explain();
  thorough(value);
  return faultsOf(thorough.errors as ErrorObject[]);
}

/** Returns the number of values in `value`, including nested ones. Stops counting at `max`. */
function countUpTo(value: unknown, max: number): number {
  const rest: unknown[] = [value];
  let count = 0;
  while (rest.length > 0 && count + rest.length < max) {
    const next = rest.pop();
    count += 1;
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) rest.push(inner);
  }
  return count + rest.length;
}

function engine(schemas: Record<string, unknown>, allErrors: boolean): Ajv {
  const refuse = (message: unknown): never => {
    throw new Error(`OpenAPI document: ${String(message)}`);
  };
  const ajv = new Ajv({
    allErrors,
    // Adds the rejected value to each error: for an array, some messages contain the number of its items.
    verbose: allErrors,
    strict: false,
    validateSchema: false,
    logger: { log: refuse, warn: refuse, error: refuse },
  });
  addFormats.default(ajv);
  return ajv.addSchema({ components: { schemas } }, 'openapi');
}
