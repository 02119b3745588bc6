import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { INestApplication, Type } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';
import fc from 'fast-check';
import { buildInputs } from '#http/openapi.js';
import type { RouteHandler } from '#http/routes.js';
import { compileChecks } from '#http/schemas.js';
import { allowsUnknownFields } from '#http/unknown-fields.js';
import { checkedFields } from '#http/validation-schemas.js';

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
}

type Accepts = (body: object) => boolean;

class Routes {
  handle(): void {}
}

const SOURCE = path.resolve(import.meta.dirname, '..');
const RUNS = 25;
const UNKNOWN = 'surely_unknown';
/** Maximum length of generated strings and arrays. Longer ones only slow the test down. */
const LENGTH_MAX = 5_000;
const ITEMS_MAX = 200;

const JUNK = [null, '', ' ', 'x', '😀', 0, -1, 1.5, 1e21, true, [], [[]], [null], ['x'], {}, { x: 1 }, '2026-01-31'];
const TIMES = ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000+01:00', '2026-02-30T12:00:00Z', '2026-01-31 12:00'];

let app: INestApplication;
let document: OpenAPIObject;
let types: Type[];
const compiled = new Map<Type, Accepts>();

beforeAll(async () => {
  app = (await Test.createTestingModule({}).compile()).createNestApplication(new FastifyAdapter());
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.dto.ts'));
  // Imports the modules one after the other, because Jest cannot import several ES modules at the same time.
  const found = new Set<unknown>();
  for (const file of files)
    for (const value of Object.values((await import(path.join(SOURCE, file))) as object)) found.add(value);
  types = [...found].filter(isDto);
  const routes = types.map(routeOf);
  document = buildInputs(app, routes);
  compileChecks(document, routes, () => document);
  for (const { body, config } of routes)
    compiled.set(body as Type, (sent) => passes(() => config.checkBody?.(sent, null)));
});

afterAll(() => app.close());

it('covers every class of every *.dto.ts file: each has class-validator decorators on all documented fields', () => {
  const undecorated = types.flatMap((type) => {
    const decorated = new Set(constraintsOf(type).map(({ propertyName }) => propertyName));
    const { properties = {} } = schemas()[type.name] as Schema;
    return Object.keys(properties)
      .filter((name) => !decorated.has(name))
      .map((name) => `${type.name}.${name}`);
  });

  expect(types.length).toBeGreaterThan(250);
  expect(undecorated).toEqual([]);
});

it('schemas express every decorator of every DTO, so that no request of Posthorn itself runs class-validator', () => {
  const checked = types.flatMap((type) =>
    [...checkedFields(type)].map(([{ name }, fields]) => `${name}: ${fields.join()}`),
  );

  expect(checked).toEqual([]);
});

it('class-validator, the compiled check and the OpenAPI schema accept the same bodies, for every DTO', () => {
  const differences = types.flatMap((type) => {
    const found = differenceOf(type);
    return found === null ? [] : [`${type.name}: ${JSON.stringify(found).slice(0, 500)}`];
  });

  expect(differences).toEqual([]);
}, 300_000);

it('both accept bodies that are generated as valid, so the comparison is not of refusals only', () => {
  const refused = types.filter((type) => {
    const valid = partOf({ $ref: refTo(type) }, 0) as fc.Arbitrary<object>;
    return fc.check(
      fc.property(valid, (body) => acceptsOf(type)(body) && decoratorsOf(type)(body)),
      { numRuns: 5 },
    ).failed;
  });

  expect(refused.map(({ name }) => name)).toEqual([]);
});

describe('the comparison fails when one decorator is removed', () => {
  it.each([
    ['SendBody', 'event_type', 'isLength'],
    ['SendBody', 'event_type', 'matches'],
    ['SendBody', 'payload', 'isObject'],
    ['SendBody', 'headers', 'isStringMap'],
    ['RetryBody', 'schedule', 'arrayMaxSize'],
    ['RetryBody', 'schedule', 'max'],
    ['RetryBody', 'policy', 'isOptional'],
    ['NewRouteBody', 'destination', 'maxLength'],
    ['LegacySignatureBody', 'algorithm', 'isIn'],
    ['DeliverySettingsBody', 'retry', 'nestedValidation'],
    ['EventFilterQuery', 'since', 'isDateTime'],
    ['EventListQuery', 'limit', 'conditionalValidation'],
  ])('%s.%s without %s', (typeName, field, decorator) => {
    const type = types.find(({ name }) => name === typeName) as Type;
    const own = ownConstraints(type);
    const index = own.findIndex(
      ({ propertyName, name, type: kind }) => propertyName === field && (name ?? kind) === decorator,
    );
    const before = differenceOf(type, 600);
    const [removed] = own.splice(index, 1);

    const difference = differenceOf(type, 600);
    own.splice(index, 0, removed as (typeof own)[number]);

    expect(index).toBeGreaterThanOrEqual(0);
    expect(before).toBeNull();
    expect(difference).not.toBeNull();
  });
});

// This is the only known difference between the compiled check and class-validator. The service uses the stricter
// compiled check.
it('only the compiled check counts variation selectors, which class-validator leaves out of the length', () => {
  const type = types.find(({ name }) => name === 'NewRouteBody') as Type;
  const body = { destination: `${'x'.repeat(64)}\uFE0F` };

  expect(acceptsOf(type)(body)).toBe(false);
  expect(decoratorsOf(type)(body)).toBe(true);
});

function isDto(value: unknown): value is Type {
  return typeof value === 'function' && constraintsOf(value as Type).length > 0;
}

function constraintsOf(type: Type): ReturnType<typeof ownConstraints> {
  return getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
}

function ownConstraints(type: Type): ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']> {
  const storage = getMetadataStorage() as unknown as {
    validationMetadatas: Map<Type, ReturnType<typeof constraintsOf>>;
  };
  return storage.validationMetadatas.get(type) ?? [];
}

function routeOf(body: Type): RouteHandler {
  return { controller: Routes, name: 'handle', config: {}, body, query: null } as RouteHandler;
}

const schemas = (): Record<string, Schema> => document.components?.schemas as Record<string, Schema>;
const refTo = (type: Type): string => `#/components/schemas/${type.name}`;
const acceptsOf = (type: Type): Accepts => compiled.get(type) as Accepts;

function passes(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

/** Returns a check like Nest's ValidationPipe with `whitelist` and `forbidNonWhitelisted`. */
function decoratorsOf(type: Type): Accepts {
  const isOpen = isOpenSomewhere(refTo(type));
  const options = { whitelist: !isOpen, forbidNonWhitelisted: !isOpen, forbidUnknownValues: false };
  return (body) => validateSync(plainToInstance(type, body) as object, options).length === 0;
}

/** Returns a body on which the compiled check and class-validator disagree, or null. */
function differenceOf(type: Type, numRuns = RUNS): object | null {
  const accepts = acceptsOf(type);
  const decorators = decoratorsOf(type);
  const generated = partOf({ $ref: refTo(type) }, 1) as fc.Arbitrary<object>;
  const bodies = isOpenSomewhere(refTo(type)) ? generated.map(withoutUnknown) : generated;
  const run = fc.check(
    fc.property(bodies, (body) => accepts(body) === decorators(body)),
    { numRuns, seed: 37 },
  );
  return run.failed ? (run.counterexample?.[0] ?? {}) : null;
}

/** Removes unknown fields from the body, because only the compiled check rejects all nested unknown fields. */
function withoutUnknown(body: object): object {
  return JSON.parse(JSON.stringify(body, (name, value: unknown) => (name === UNKNOWN ? undefined : value))) as object;
}

/**
 * Returns whether a class in the schema has `@AllowUnknownFields()`. class-validator has no such setting for one class.
 */
function isOpenSomewhere(part: unknown, seen = new Set<string>()): boolean {
  if (typeof part === 'string' && part.startsWith('#/components/schemas/')) {
    const name = part.slice('#/components/schemas/'.length);
    if (seen.has(name)) return false;
    seen.add(name);
    return allowsUnknownFields(name) || isOpenSomewhere(schemas()[name], seen);
  }
  return typeof part === 'object' && part !== null && Object.values(part).some((inner) => isOpenSomewhere(inner, seen));
}

/**
 * Generates bodies for a schema. If `faults` is 1, they may also have values beyond a limit, values of another type, and
 * unknown fields.
 */
function arbitraryOf(schema: Schema, faults: 0 | 1): fc.Arbitrary<unknown> {
  const right = partOf(schema, faults);
  if (faults === 0) return right;
  const wrong = [...JUNK, ...beyondLimits(schema)];
  return fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: fc.constantFrom(...wrong) });
}

function partOf(schema: Schema, faults: 0 | 1): fc.Arbitrary<unknown> {
  const { $ref, allOf, anyOf = [], oneOf = [], enum: values, type } = schema;
  if ($ref !== undefined)
    return objectOf(schemas()[$ref.slice('#/components/schemas/'.length)] as Schema, $ref, faults);
  if (allOf?.length === 1) return partOf(allOf[0] as Schema, faults);
  const choices = [...anyOf, ...oneOf];
  if (choices.length > 0) return fc.oneof(...choices.map((choice) => partOf(choice, faults)));
  if (values) return fc.constantFrom(...values);
  const [kind, ...others] = [type ?? []].flat();
  if (others.length > 0)
    return fc.oneof(partOf({ ...schema, type: kind }, faults), ...others.map((each) => partOf({ type: each }, 0)));
  const generate = GENERATORS[kind ?? 'object'] ?? mapOf;
  return generate(schema, faults);
}

function objectOf(
  { properties = {}, required = [] }: Schema,
  $ref: string | null,
  faults: 0 | 1,
): fc.Arbitrary<object> {
  const fields = Object.entries(properties).map(
    ([name, schema]) => [name, arbitraryOf(schema, faults)] as [string, fc.Arbitrary<unknown>],
  );
  const whole = fc.record(Object.fromEntries(fields), { requiredKeys: required });
  if (faults === 0) return whole;
  const incomplete = fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  const unknown = whole.map((body) => ({ ...body, [UNKNOWN]: 1 }));
  return fc.oneof(
    { weight: 8, arbitrary: whole },
    { weight: 1, arbitrary: incomplete },
    { weight: $ref !== null && isOpenSomewhere($ref) ? 0 : 1, arbitrary: unknown },
  );
}

function textOf({ format, pattern, minLength = 0, maxLength = 20 }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time') return fc.constantFrom(...TIMES.slice(0, 2));
  if (pattern !== undefined)
    return fc
      .stringMatching(new RegExp(pattern, 'u'), { size: 'small' })
      .filter((text) => text.length >= minLength && text.length <= maxLength);
  return fc.string({
    minLength,
    maxLength: Math.min(maxLength, minLength + 20),
    unit: fc.constantFrom('a', 'é', '😀', ' '),
  });
}

function itemsOf(
  { items = {}, minItems = 0, maxItems = 3, uniqueItems = false }: Schema,
  faults: 0 | 1,
): fc.Arbitrary<unknown[]> {
  const options = { minLength: minItems, maxLength: Math.min(maxItems, minItems + 3) };
  const item = Object.keys(items).length > 0 ? arbitraryOf(items, faults) : fc.jsonValue();
  return uniqueItems && faults === 0 ? fc.uniqueArray(item, options) : fc.array(item, options);
}

function mapOf({ properties, required = [], additionalProperties }: Schema): fc.Arbitrary<object> {
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, schema]) => [name, arbitraryOf(schema, 0)] as const);
    return fc.record(Object.fromEntries(fields), { requiredKeys: required });
  }
  const value =
    typeof additionalProperties === 'object' ? arbitraryOf(additionalProperties, 0) : fc.jsonValue({ maxDepth: 1 });
  return fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/u), value, { maxKeys: 3 });
}

const GENERATORS: Readonly<Record<string, (schema: Schema, faults: 0 | 1) => fc.Arbitrary<unknown>>> = {
  string: textOf,
  integer: ({ minimum = -1000, maximum = Math.max(minimum, 1000) }) => fc.integer({ min: minimum, max: maximum }),
  number: ({ minimum = -1000, maximum = 1000 }) => fc.double({ min: minimum, max: maximum, noNaN: true }),
  boolean: () => fc.boolean(),
  null: () => fc.constant(null),
  array: itemsOf,
  object: (schema, faults) => (schema.properties === undefined ? mapOf(schema) : objectOf(schema, null, faults)),
};

/** Returns values just outside or just inside the schema's limits. */
function beyondLimits(schema: Schema): unknown[] {
  const { format, minLength = 0, maxLength = 0, minimum, maximum, items, minItems = 0, maxItems } = schema;
  const [sample] = schema.pattern === undefined ? ['😀'] : fc.sample(textOf(schema), { numRuns: 1, seed: 1 });
  const filler = [...(sample as string)][0] ?? 'x';
  const texts = [minLength - 1, maxLength, maxLength + 1].filter((length) => length > 0 && length <= LENGTH_MAX);
  const counts = [minItems - 1, (maxItems ?? ITEMS_MAX) + 1].filter((count) => count >= 0 && count <= ITEMS_MAX + 1);
  const item =
    items && Object.keys(items).length > 0 ? fc.sample(arbitraryOf(items, 0), { numRuns: 1, seed: 1 })[0] : null;
  return [
    ...texts.map((length) => filler.repeat(length)),
    ...(format === 'date-time' ? TIMES : []),
    ...(minimum === undefined ? [] : [minimum - 1, minimum]),
    ...(maximum === undefined ? [] : [maximum + 1, maximum]),
    ...(items ? [...counts.map((count) => Array<unknown>(count).fill(item)), [item, 7], item] : []),
    ...(schema.additionalProperties !== undefined ? [{ x: 1 }, { x: 'y' }] : []),
  ];
}
