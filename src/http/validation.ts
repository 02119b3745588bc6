import { applyDecorators } from '@nestjs/common';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { Type } from 'class-transformer';
import {
  IsArray,
  IsObject,
  isObject,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationOptions,
} from 'class-validator';

export type SchemaKeywords = Readonly<Record<string, unknown>>;

/** Conditions of `@CanBeOmitted()` and `@CanBeNull()`. `validation-schemas.ts` compares them by identity. */
export const isPresent = (_object: unknown, value: unknown): boolean => value !== undefined;
export const isNotNull = (_object: unknown, value: unknown): boolean => value !== null;

/** Accepts a missing field, but not `null`. class-validator's `@IsOptional()` accepts both. */
export function CanBeOmitted(): PropertyDecorator {
  return ValidateIf(isPresent);
}

/** Accepts `null`, but not a missing field. class-validator's `@IsOptional()` accepts both. */
export function CanBeNull(): PropertyDecorator {
  return ValidateIf(isNotNull);
}

/** Accepts an object that passes the decorators of the class. `@ValidateNested()` alone also accepts an array. */
export function IsObjectOf(type: () => new () => object): PropertyDecorator {
  return applyDecorators(IsObject(), ValidateNested(), Type(type));
}

/** Accepts an array of objects that pass the decorators of the class. */
export function IsArrayOf(type: () => new () => object): PropertyDecorator {
  return applyDecorators(IsArray(), IsObject({ each: true }), ValidateNested({ each: true }), Type(type));
}

/** Accepts a time in the form of RFC 3339. class-validator's `@IsISO8601()` also accepts dates without a time. */
export function IsDateTime(options?: ValidationOptions): PropertyDecorator {
  return ValidateBy({ name: 'isDateTime', validator: { validate: isDateTime } }, options);
}

/** Accepts an object whose values are all strings. */
export function IsStringMap(options?: ValidationOptions): PropertyDecorator {
  return ValidateBy({ name: 'isStringMap', validator: { validate: isStringMap } }, options);
}

/** Accepts the values that a JSON Schema accepts, for unions of types that class-validator cannot express. */
export function MatchesSchema(schema: SchemaKeywords, options?: ValidationOptions): PropertyDecorator {
  // Compiled on first use, because the service itself never validates with class-validator.
  let matches: ValidateFunction | undefined;
  const validate = (value: unknown): boolean => (matches ??= new Ajv({ strict: false }).compile(schema))(value);
  return ValidateBy({ name: 'matchesSchema', constraints: [schema], validator: { validate } }, options);
}

/** Returns whether a value is a time, with the same function as the compiled checks. */
function isDateTime(value: unknown): boolean {
  const { validate } = addFormats.default.get('date-time', 'full') as unknown as {
    validate: (text: string) => boolean;
  };
  return typeof value === 'string' && validate(value);
}

function isStringMap(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((each) => typeof each === 'string');
}
