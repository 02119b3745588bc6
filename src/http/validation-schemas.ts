import type { Type } from '@nestjs/common';
import { DECORATORS } from '@nestjs/swagger';
import { plainToInstance, Type as Nested } from 'class-transformer';
import {
  getMetadataStorage,
  IS_OPTIONAL,
  type IsNumberOptions,
  type MetadataStorage,
  ValidationTypes,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { isNotNull, isPresent, type SchemaKeywords } from './validation.js';

type Constraint = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];
type Keywords = (...constraints: never[]) => SchemaKeywords;

const TEXT = { type: 'string' };
const NUMBER = { type: 'number' };
const LIST = { type: 'array' };
const TIME = { type: 'string', format: 'date-time' };

/**
 * Maps decorators, by class-validator's names, to JSON Schema keywords that accept exactly the same values. Includes
 * `type` for decorators that reject values of other types, such as `@MaxLength()`.
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
  // Sets no `type`, because `@IsNotEmpty` also accepts numbers and lists. Other keywords reject null and missing
  // fields.
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

/**
 * Maps decorators to keywords that appear only in the OpenAPI document. class-validator checks the field, because the
 * keywords may accept other values than the decorator: `@IsEmail()` has options, and `@IsUrl()` accepts a host alone.
 */
const DESCRIPTIONS: Readonly<Record<string, Keywords>> = {
  isEmail: () => ({ ...TEXT, format: 'email' }),
  isUuid: () => ({ ...TEXT, format: 'uuid' }),
  isUrl: () => ({ ...TEXT, format: 'uri' }),
  isFqdn: () => ({ ...TEXT, format: 'hostname' }),
  isIp: (version?: number | string) => ({ ...TEXT, ...(version !== undefined && { format: `ipv${version}` }) }),
  isDateString: () => TIME,
  isIso8601: () => TIME,
  isRFC3339: () => TIME,
  isDate: () => TIME,
  minDate: () => TIME,
  maxDate: () => TIME,
  matches: () => TEXT,
  isNumber: () => NUMBER,
  isDivisibleBy: (multipleOf: number) => ({ ...NUMBER, multipleOf }),
  isNotEmptyObject: () => ({ type: 'object', additionalProperties: true, minProperties: 1 }),
  arrayUnique: () => LIST,
  arrayContains: () => LIST,
  arrayNotContains: () => LIST,
};

/** Decorators that accept a missing field. All other decorators make the field required. */
const ACCEPT_MISSING: ReadonlySet<string> = new Set(['isEmpty', 'notEquals', 'isNotIn']);

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

/** Caches the fields of each described class with their decorators, including inherited ones. */
const described = new WeakMap<Type, [string, Constraint[]][]>();

/** Classes of bodies and queries: the fields that class-validator checks, and the nested classes. */
const inputs = new WeakMap<Type, { checked: string[]; nested: Type[] }>();

/**
 * Passes the schemas of all classes with class-validator decorators to the Swagger module. The OpenAPI document, and
 * the checks that are compiled from it, then contain the rules of the decorators (ADR 37). `@ApiProperty` adds only
 * descriptions, examples and defaults: the decorators take precedence. Call it before the document is built.
 */
export function describeValidatedClasses(): void {
  for (const type of decoratedClasses().keys()) if (typeof type === 'function') describe(type);
}

/** Returns the own decorators of each class. class-validator's storage has no method that lists the classes. */
function decoratedClasses(): Map<Type, Constraint[]> {
  return (getMetadataStorage() as unknown as { validationMetadatas: Map<Type, Constraint[]> }).validationMetadatas;
}

/**
 * Passes only the schemas of the classes in `types`, and of the classes nested in them, to the Swagger module. This
 * shortens the start.
 *
 * `referred` are classes that a body refers to by name only, so class-validator never checks them. Throws if one of
 * them has a decorator that no JSON Schema expresses.
 */
export function describeInputs(types: Iterable<Type>, referred: Iterable<Type> = []): void {
  const reached = new Set(types);
  for (const type of reached) for (const nested of describeInput(type).nested) reached.add(nested);
  const byName = new Set([...referred].filter((type) => !reached.has(type)));
  for (const type of byName) {
    const { checked, nested } = describeInput(type);
    if (checked.length > 0)
      throw new Error(
        `${type.name}.${checked[0]}: a schema refers to the class by name, so its decorators do not run. Nest the class with @ValidateNested() and @Type(), or use decorators that the OpenAPI document can express.`,
      );
    for (const each of nested) if (!reached.has(each)) byName.add(each);
  }
}

/**
 * Returns the fields that only class-validator can check, for `type` and each class nested in it. Empty if the schemas
 * express every decorator.
 */
export function checkedFields(type: Type): Map<Type, readonly string[]> {
  const reached = new Set([type]);
  for (const each of reached) for (const nested of inputs.get(each)?.nested ?? []) reached.add(nested);
  const fields = [...reached].map((each) => [each, inputs.get(each)?.checked ?? []] as const);
  return new Map(fields.filter(([, checked]) => checked.length > 0));
}

function describeInput(type: Type): { checked: string[]; nested: Type[] } {
  const known = inputs.get(type);
  if (known) return known;
  const input: { checked: string[]; nested: Type[] } = { checked: [], nested: [] };
  inputs.set(type, input);
  for (const [name, constraints] of describe(type)) {
    if (!constraints.every(isExpressible) || hasSecondPattern(constraints)) input.checked.push(name);
    if (!constraints.some(isNested)) continue;
    const nested = nestedType(type, name);
    if (!nested)
      throw new Error(
        `${type.name}.${name}: @ValidateNested() needs @Type(() => SomeDto) from the service's copy of class-transformer.`,
      );
    input.nested.push(nested);
  }
  return input;
}

/** Describes a class and returns its decorators. Base classes come first, because Swagger copies their properties. */
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
    // The base class already describes an inherited field that is not declared again.
    if (!constraints.some(({ target }) => target === type)) continue;
    const existing = (Reflect.getOwnMetadata(DECORATORS.API_MODEL_PROPERTIES, prototype, name) ?? {
      type: Reflect.getMetadata('design:type', prototype, name) as unknown,
    }) as object;
    const schema = { ...existing, ...schemaOf(type, name, constraints) };
    Reflect.defineMetadata(DECORATORS.API_MODEL_PROPERTIES, schema, prototype, name);
  }
  return fields;
}

/** Returns Swagger's property names: inherited ones first, then decorated fields, even without `@ApiProperty`. */
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
  // class-validator's storage searches all classes for inherited decorators, which is slow. Classes without a base
  // class do not need this search.
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
  const canBeOmitted = isOptional || conditions.some((each) => skips(each) !== 'null');
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
    required:
      !canBeOmitted && constraints.some((each) => !STRUCTURAL.has(each.type) && !ACCEPT_MISSING.has(nameOf(each))),
    ...(canBeNull && { nullable: true }),
  };
}

/**
 * Returns the class in `@Type()`. class-transformer has no getter for it, so the function transforms an empty object.
 */
function nestedType(type: Type, name: string): Type | undefined {
  const converted = (plainToInstance(type, { [name]: {} }) as Record<string, object>)[name];
  if (converted?.constructor !== Object) return converted?.constructor as Type | undefined;
  const design = designType(type, name) as Type | undefined;
  // class-validator checks the nested class only if class-transformer creates an instance of it.
  if (design) Nested(() => design)(type.prototype as object, name);
  return design;
}

function designType(type: Type, name: string): unknown {
  const design: unknown = Reflect.getMetadata('design:type', type.prototype as object, name);
  return design === Object || design === Array ? undefined : design;
}

function keywordsOf(constraints: readonly Constraint[]): SchemaKeywords {
  const keywords = constraints.map((each) => {
    const table = isExpressible(each) ? KEYWORDS : DESCRIPTIONS;
    return table[nameOf(each)]?.(...((each.constraints ?? []) as never[]));
  });
  // `@Min()` and `@Max()` set the type `number`, which must not widen the `integer` of `@IsInt()`.
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

/** Returns whether a field has two `@Matches()` decorators. A schema can have only one pattern. */
function hasSecondPattern(constraints: readonly Constraint[]): boolean {
  const patterns = constraints.filter(({ name }) => name === 'matches');
  return patterns.some(({ each }, index) => patterns.findIndex((other) => other.each === each) < index);
}

const isNested = ({ type }: Constraint): boolean => type === ValidationTypes.NESTED_VALIDATION;

const nameOf = ({ name, type }: Constraint): string => name ?? type;

/** Returns whether JSON Schema can express the decorator. False for a decorator with its own message or condition. */
function isExpressible(constraint: Constraint): boolean {
  const { type, constraints, message, validateIf } = constraint;
  const [first] = (constraints ?? []) as unknown[];
  const name = nameOf(constraint);
  if (validateIf !== undefined || (Boolean(message) && !STRUCTURAL.has(type))) return false;
  if (name === 'matches') return first instanceof RegExp && first.flags.replace('u', '') === '';
  if (name === 'isNumber') return (first as IsNumberOptions | undefined)?.maxDecimalPlaces === undefined;
  if (name === 'arrayUnique') return !hasIdentifier(constraint);
  if (type === ValidationTypes.CONDITIONAL_VALIDATION) return name === IS_OPTIONAL || skips({ constraints }) !== null;
  return STRUCTURAL.has(type) || Object.hasOwn(KEYWORDS, name);
}

/**
 * Returns whether `@ArrayUnique` has an identifier function. Passes it two empty objects, which count as duplicates
 * only with such a function.
 */
function hasIdentifier({ constraintCls }: Constraint): boolean {
  const constraint = new (constraintCls as Type<ValidatorConstraintInterface>)();
  try {
    return constraint.validate([{}, {}]) !== true;
  } catch {
    return true;
  }
}

/**
 * Returns the value (`undefined` or `null`) for which a condition skips the other decorators of the field. Returns null
 * if the condition is of another kind.
 *
 * Compares the functions and then their source text, because `PartialType(…, { skipNullProperties: false })` uses its
 * own function with the same text as that of `@CanBeOmitted()`.
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
