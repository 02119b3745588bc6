import type { Type } from '@nestjs/common';
import { DECORATORS } from '@nestjs/swagger';
import { plainToInstance } from 'class-transformer';
import {
  getMetadataStorage,
  IS_OPTIONAL,
  type IsNumberOptions,
  type MetadataStorage,
  ValidationTypes,
} from 'class-validator';
import { isNotNull, isPresent, type SchemaKeywords } from './validation.js';

type Constraint = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];
type Keywords = (...constraints: never[]) => SchemaKeywords;

const TEXT = { type: 'string' };
const NUMBER = { type: 'number' };
const LIST = { type: 'array' };

/**
 * JSON Schema keywords of each decorator, by the name that class-validator gives it. A decorator that rejects values of
 * other types, such as `@MaxLength()`, also sets the type.
 */
const KEYWORDS: Readonly<Record<string, Keywords>> = {
  isString: () => TEXT,
  minLength: (minLength: number) => ({ ...TEXT, minLength }),
  maxLength: (maxLength: number) => ({ ...TEXT, maxLength }),
  isLength: (minLength: number, maxLength?: number) => ({
    ...TEXT,
    minLength,
    ...(maxLength !== undefined && { maxLength }),
  }),
  matches: (pattern: RegExp) => ({ ...TEXT, pattern: patternOf(pattern) }),
  // Without a type, because class-validator also accepts numbers and lists. Null and missing fields are refused anyway.
  isNotEmpty: () => ({ minLength: 1 }),
  isDateTime: () => ({ ...TEXT, format: 'date-time' }),
  isInt: () => ({ type: 'integer' }),
  isNumber: () => NUMBER,
  min: (minimum: number) => ({ ...NUMBER, minimum }),
  max: (maximum: number) => ({ ...NUMBER, maximum }),
  isPositive: () => ({ ...NUMBER, exclusiveMinimum: 0 }),
  isNegative: () => ({ ...NUMBER, exclusiveMaximum: 0 }),
  isBoolean: () => ({ type: 'boolean' }),
  isIn: (values: readonly unknown[]) => ({ enum: [...values], ...typeOf(values) }),
  isEnum: (values: object) => ({ enum: Object.values(values), ...typeOf(Object.values(values)) }),
  equals: (value: unknown) => ({ enum: [value], ...typeOf([value]) }),
  isObject: () => ({ type: 'object', additionalProperties: true }),
  isStringMap: () => ({ type: 'object', additionalProperties: TEXT }),
  isArray: () => LIST,
  arrayMinSize: (minItems: number) => ({ ...LIST, minItems }),
  arrayMaxSize: (maxItems: number) => ({ ...LIST, maxItems }),
  arrayNotEmpty: () => ({ ...LIST, minItems: 1 }),
  arrayUnique: () => ({ ...LIST, uniqueItems: true }),
  matchesSchema: (schema: SchemaKeywords) => schema,
  isDefined: () => ({}),
};

/** Keywords that several decorators of a field may set. The strictest value applies. */
const STRICTEST: Readonly<Record<string, (...values: number[]) => number>> = {
  minLength: Math.max,
  minimum: Math.max,
  exclusiveMinimum: Math.max,
  minItems: Math.max,
  maxLength: Math.min,
  maximum: Math.min,
  exclusiveMaximum: Math.min,
  maxItems: Math.min,
};

/** Decorators that set no keywords and accept a missing field: conditions, `@ValidateNested()` and `@Allow()`. */
const STRUCTURAL: ReadonlySet<string> = new Set([
  ValidationTypes.CONDITIONAL_VALIDATION,
  ValidationTypes.NESTED_VALIDATION,
  ValidationTypes.WHITELIST,
]);

/** Cache of the classes that are already described: each field with its decorators, own and inherited. */
const described = new WeakMap<Type, [string, Constraint[]][]>();

/**
 * Gives the Swagger module the schema of every class that has class-validator decorators, so that the document and the
 * checks compiled from it follow from the decorators (ADR 37). Decorators take precedence over `@ApiProperty`, which
 * adds descriptions, examples and defaults. Call it before the document is built.
 */
export function describeValidatedClasses(): void {
  for (const type of decoratedClasses().keys()) if (typeof type === 'function') describe(type);
}

/** Returns the decorators of each class without inherited ones. The storage has no method that lists the classes. */
function decoratedClasses(): Map<Type, Constraint[]> {
  return (getMetadataStorage() as unknown as { validationMetadatas: Map<Type, Constraint[]> }).validationMetadatas;
}

/**
 * Describes only the classes in `types` and the classes nested in them, which shortens the start. Throws if one has a
 * decorator that no JSON Schema expresses, because the compiled check would accept values that the decorator rejects.
 */
export function describeInputs(types: Iterable<Type>): void {
  const reached = new Set(types);
  for (const type of reached) {
    for (const [name, constraints] of describe(type)) {
      const odd = constraints.find((constraint) => !isExpressible(constraint)) ?? secondPattern(constraints);
      if (odd)
        throw new Error(
          `${type.name}.${name}: the decorator ${odd.name ?? odd.type} cannot be expressed in the OpenAPI document. Use another decorator of class-validator or @MatchesSchema(), or check the value in the handler.`,
        );
      if (!constraints.some(isNested)) continue;
      const nested = nestedType(type, name);
      if (!nested)
        throw new Error(
          `${type.name}.${name}: @ValidateNested() needs @Type(() => SomeDto) from the service's copy of class-transformer.`,
        );
      reached.add(nested);
    }
  }
}

/** Describes base classes first, because Swagger's list of properties is copied when a class adds its own. */
function describe(type: Type): [string, Constraint[]][] {
  const known = described.get(type);
  if (known) return known;
  const prototype = type.prototype as object;
  const base = Object.getPrototypeOf(prototype) as { constructor: Type };
  if (base !== Object.prototype) describe(base.constructor);
  const fields = constraintsOf(type);
  described.set(type, fields);
  if (fields.length === 0) return fields;
  Reflect.defineMetadata(DECORATORS.API_MODEL_PROPERTIES_ARRAY, orderOf(prototype, fields), prototype);
  for (const [name, constraints] of fields) {
    // The base class already describes an inherited field that this class does not declare again.
    if (!constraints.some(({ target }) => target === type)) continue;
    const existing = (Reflect.getOwnMetadata(DECORATORS.API_MODEL_PROPERTIES, prototype, name) ?? {
      type: Reflect.getMetadata('design:type', prototype, name) as unknown,
    }) as object;
    const schema = { ...existing, ...schemaOf(type, name, constraints) };
    Reflect.defineMetadata(DECORATORS.API_MODEL_PROPERTIES, schema, prototype, name);
  }
  return fields;
}

/** Returns Swagger's list of properties, with inherited ones first. Properties without `@ApiProperty` are not in it. */
function orderOf(prototype: object, fields: readonly [string, unknown][]): string[] {
  const known = propertiesOf(prototype);
  const names = fields.map(([name]) => `:${name}`);
  if (names.every((name) => known.includes(name))) return known;
  const inherited = propertiesOf(Object.getPrototypeOf(prototype) as object);
  return [...new Set([...inherited, ...names.filter((name) => !inherited.includes(name)), ...known])];
}

const propertiesOf = (prototype: object): string[] =>
  (Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES_ARRAY, prototype) ?? []) as string[];

/** Returns the decorators of each field, own and inherited. */
function constraintsOf(type: Type): [string, Constraint[]][] {
  const storage = getMetadataStorage();
  // The storage finds inherited decorators by comparing all classes, so classes without a base class skip it.
  const found =
    Object.getPrototypeOf(type) === Function.prototype
      ? (decoratedClasses().get(type) ?? [])
      : storage.getTargetValidationMetadatas(type, '', false, false);
  return Object.entries(storage.groupByPropertyName(found));
}

/** Returns the options of `@ApiProperty` for a field. */
function schemaOf(type: Type, name: string, constraints: readonly Constraint[]): SchemaKeywords {
  const conditions = constraints.filter((each) => each.type === ValidationTypes.CONDITIONAL_VALIDATION);
  const isOptional = conditions.some((each) => each.name === IS_OPTIONAL);
  const canBeOmitted = isOptional || conditions.some((each) => skips(each) === 'undefined');
  const canBeNull = isOptional || conditions.some((each) => skips(each) === 'null');
  const nested = constraints.find(isNested) && nestedType(type, name);
  // Omits `@IsObject()` on a nested object, because the reference to the object's class already implies it.
  const telling = constraints.filter((each) => !nested || each.name !== 'isObject');
  const own = keywordsOf(telling.filter((each) => !each.each));
  const items = keywordsOf(telling.filter((each) => each.each));
  const isList = own['type'] === 'array' || Object.keys(items).length > 0;
  return {
    ...own,
    isArray: nested !== undefined && (isList || constraints.some((each) => isNested(each) && each.each)),
    ...(nested ? { type: nested } : isList && { ...LIST, items }),
    required: !canBeOmitted && constraints.some((each) => !STRUCTURAL.has(each.type)),
    ...(canBeNull && { nullable: true }),
  };
}

/** Returns the class in `@Type()`. class-transformer has no getter for it, so the function converts an empty object. */
function nestedType(type: Type, name: string): Type | undefined {
  const converted = (plainToInstance(type, { [name]: {} }) as Record<string, object>)[name];
  const nested = converted?.constructor === Object ? designType(type, name) : converted?.constructor;
  return nested as Type | undefined;
}

function designType(type: Type, name: string): unknown {
  const design: unknown = Reflect.getMetadata('design:type', type.prototype as object, name);
  return design === Object || design === Array ? undefined : design;
}

function keywordsOf(constraints: readonly Constraint[]): SchemaKeywords {
  const keywords = constraints
    .filter(isExpressible)
    .map(({ name, type, constraints: values = [] }) => KEYWORDS[name ?? type]?.(...(values as never[])));
  // `@Min()` and `@Max()` accept any number, so they must not widen `@IsInt()`.
  const isInteger = keywords.some((each) => each?.['type'] === 'integer');
  return { ...keywords.reduce<SchemaKeywords>(merged, {}), ...(isInteger && { type: 'integer' }) };
}

function merged(before: SchemaKeywords, added: SchemaKeywords = {}): SchemaKeywords {
  const limits = Object.entries(added).flatMap(([name, value]) => {
    const strictest = STRICTEST[name];
    return strictest && name in before ? [[name, strictest(before[name] as number, value as number)]] : [];
  });
  return { ...before, ...added, ...(Object.fromEntries(limits) as SchemaKeywords) };
}

/** Returns the second `@Matches()` of a field, because a schema has one pattern. */
function secondPattern(constraints: readonly Constraint[]): Constraint | undefined {
  const patterns = constraints.filter(({ name }) => name === 'matches');
  return patterns.find(({ each }, index) => patterns.findIndex((other) => other.each === each) < index);
}

const isNested = ({ type }: Constraint): boolean => type === ValidationTypes.NESTED_VALIDATION;

function isExpressible({ type, name = type, constraints, groups }: Constraint): boolean {
  const [first] = (constraints ?? []) as unknown[];
  if ((groups ?? []).length > 0) return false;
  if (name === 'matches') return first instanceof RegExp && first.flags.replace('u', '') === '';
  if (name === 'isNumber') return (first as IsNumberOptions | undefined)?.maxDecimalPlaces === undefined;
  if (type === ValidationTypes.CONDITIONAL_VALIDATION) return name === IS_OPTIONAL || skips({ constraints }) !== null;
  return STRUCTURAL.has(type) || Object.hasOwn(KEYWORDS, name);
}

/**
 * Returns the value for which a condition skips the other decorators of the field, or null for another condition.
 * `PartialType(…, { skipNullProperties: false })` has a condition of its own with the same text as `@CanBeOmitted()`.
 */
function skips({ constraints }: Pick<Constraint, 'constraints'>): 'undefined' | 'null' | null {
  const condition: unknown = constraints[0];
  if (condition === isPresent) return 'undefined';
  if (condition === isNotNull) return 'null';
  const [, , value] = /^\(\w+, *(\w+)\) *=> *\1 *!== *(undefined|null)$/u.exec(String(condition)) ?? [];
  return value === 'undefined' || value === 'null' ? value : null;
}

/** Returns the pattern for JSON Schema: the source of the expression, with slashes not escaped. */
function patternOf({ source }: RegExp): string {
  return source.replaceAll(/\\(.)/gsu, (escape, character) => (character === '/' ? '/' : escape));
}

function typeOf(values: readonly unknown[]): SchemaKeywords {
  const types = new Set(values.filter((value) => value !== null).map((value) => typeof value));
  const [type] = types;
  return types.size === 1 && (type === 'string' || type === 'number' || type === 'boolean') ? { type } : {};
}
