import type { Type } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { badRequest, invalid, type Fault } from '#kernel/errors.js';
import { isSuspect } from './body-parser.js';
import { unstorable } from './characters.js';
import { faultsOf } from './faults.js';
import { typedQuery, type ParameterSchema } from './query-values.js';
import type { Check } from './request.js';
import type { RouteHandler } from './routes.js';

/** One component of the document, compiled twice: to the first fault for everybody, to every fault for who has one. */
interface Compiled {
  validate: ValidateFunction;
  explain: ValidateFunction;
  properties: Record<string, ParameterSchema>;
  verbatim: ReadonlySet<string>;
}

const VERBATIM = Symbol('posthorn:verbatim');
const STRICT = new Set<string>();

/** Bodies above this are told of their first fault only: all faults of a megabyte would cost seconds. */
const EXPLAINED_FIELDS_MAX = 2_000;

/** Class of a configuration object: a key that its schema does not know is 422 (contract, section 3). */
export function Strict(): ClassDecorator {
  return (target) => void STRICT.add(target.name);
}

/** Top-level field of a body that is stored as the characters it was sent in, so that no string in it is refused. */
export function Verbatim(): PropertyDecorator {
  return (target, name) => {
    const before = (Reflect.getMetadata(VERBATIM, target.constructor) ?? []) as string[];
    Reflect.defineMetadata(VERBATIM, [...before, String(name)], target.constructor);
  };
}

/**
 * Gives every route the checks of its body and query, compiled from the OpenAPI document itself, so that the two cannot
 * differ. Throws for a class that the document does not know, and for a schema with a mistake.
 *
 * How a DTO is written. It stands in a `*.dto.ts` file: only there does the Swagger plugin (under `nest build`) turn
 * types, `?`, `| null`, doc comments and `@example` into the schema. `@ApiProperty` only adds what TypeScript cannot
 * say, and keeps the rest:
 *
 *     /** What the deliveries are signed with. @example 'whsec_…' (on a line of its own) *\/
 *     @ApiProperty({ minLength: 1, maxLength: 100 })      name: string;            // required
 *     kind?: 'https' | 'sqs';                                                      // optional, enum
 *     description?: string | null;                                                 // null clears it
 *     @ApiProperty({ type: 'integer', minimum: 1 })       timeout_ms?: number;     // `number` alone allows fractions
 *     @ApiProperty({ type: 'object', additionalProperties: { type: 'string' } })   headers?: Record<string, string>;
 *     @ApiProperty({ type: 'array', items: { type: 'integer' }, maxItems: 20 })    schedule?: number[];
 *     payload: Record<string, unknown>;                                            // any object
 *     retry?: RetryDto | null;   routes: RouteDto[];                               // classes nest
 *
 * `Record<string, string>` needs its `additionalProperties`, and times `@ApiProperty({ format: 'date-time' })` on a
 * string; a field never has an initializer, which would make it required. Defaults count in query classes only.
 */
export function compileChecks(document: OpenAPIObject, routes: readonly RouteHandler[]): void {
  const schemas = (document.components?.schemas ?? {}) as Record<string, Record<string, unknown>>;
  for (const name of STRICT) if (schemas[name]) schemas[name]['additionalProperties'] = false;
  const [quick, thorough] = [engine(schemas, false), engine(schemas, true)];
  const compile = (type: Type): Compiled => {
    const schema = schemas[type.name];
    if (!schema) throw new Error(`${type.name} is not in the OpenAPI document: does it stand in a *.dto.ts file?`);
    const $ref = `openapi#/components/schemas/${type.name}`;
    return {
      validate: quick.compile({ $ref }),
      explain: thorough.compile({ $ref }),
      properties: (schema['properties'] ?? {}) as Record<string, ParameterSchema>,
      verbatim: new Set((Reflect.getMetadata(VERBATIM, type) ?? []) as string[]),
    };
  };
  for (const { config, body, query } of routes) {
    if (body) config.checkBody = checkBodyWith(compile(body));
    if (query) config.checkQuery = checkQueryWith(compile(query));
  }
}

function checkBodyWith(compiled: Compiled): Check {
  return (body) => {
    if (body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body))) {
      throw invalid([{ path: '', message: 'The body must be a JSON object.' }]);
    }
    // A request without a body says as much as an empty object: every required field is missing.
    const object = body ?? {};
    if (!compiled.validate(object)) throw invalid(explain(compiled, object));
    const faults = isSuspect(object) ? unstorable(object, compiled.verbatim) : [];
    if (faults.length > 0) throw invalid(faults);
    return object;
  };
}

/** Known parameters in their types; unknown ones are ignored. */
function checkQueryWith(compiled: Compiled): Check {
  return (query) => {
    const typed = typedQuery(query as Record<string, unknown>, compiled.properties);
    if (compiled.validate(typed)) return typed;
    const fields = explain(compiled, typed);
    throw badRequest(`${fields[0]?.path} ${fields[0]?.message}.`, { fields });
  };
}

function explain({ validate, explain: thorough }: Compiled, value: object): Fault[] {
  const first = validate.errors as ErrorObject[];
  if (countUpTo(value, EXPLAINED_FIELDS_MAX) >= EXPLAINED_FIELDS_MAX) return faultsOf(first);
  thorough(value);
  return faultsOf(thorough.errors as ErrorObject[]);
}

/** How many values there are in all, but no more than `max`. */
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
  const ajv = new Ajv({ allErrors, strict: false, validateSchema: false, logger: { log: refuse, warn: refuse, error: refuse } });
  addFormats.default(ajv);
  return ajv.addSchema({ components: { schemas } }, 'openapi');
}
