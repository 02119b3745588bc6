import { createRequire } from 'node:module';
import type { Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { DECORATORS } from '@nestjs/swagger';
import { plainToInstance } from 'class-transformer';
import { useContainer, type ValidationError, ValidationTypes, type ValidatorOptions } from 'class-validator';
import { badRequest, type Fault, invalid } from '#kernel/errors.js';
import { FAULTS_MAX } from './faults.js';
import type { RunDecorators } from './request.js';
import { allowsUnknownFields } from './unknown-fields.js';
import { checkedFields } from './validation-schemas.js';

/** The class of class-validator that runs decorators (checked by library-internals.spec.ts). */
interface Executor {
  readonly awaitingPromises: readonly Promise<unknown>[];
  execute(object: object, schema: undefined, errors: ValidationError[]): void;
  stripEmptyErrors(errors: ValidationError[]): ValidationError[];
}

const { ValidationExecutor } = createRequire(import.meta.url)(
  'class-validator/cjs/validation/ValidationExecutor.js',
) as { ValidationExecutor: new (validator: null, options: ValidatorOptions) => Executor };

/** Rejects unknown fields here too, because the compiled check skips the content of some fields. */
const OPTIONS: ValidatorOptions = { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false };

/**
 * Returns a check for those decorators of a body or query class that no JSON Schema expresses, or undefined if there
 * are none. The check rejects with 400 for the query and 422 for the body. It never changes values.
 */
export function decoratorCheck(body: Type | null, query: Type | null): RunDecorators | undefined {
  const checksBody = body !== null && checkedFields(body).size > 0;
  const checksQuery = query !== null && checkedFields(query).size > 0;
  if (!checksBody && !checksQuery) return undefined;
  return async (sentBody, sentQuery) => {
    const [first, ...more] = checksQuery ? await faultsOf(query, sentQuery) : [];
    if (first) throw badRequest(`${first.path} ${first.message}.`, { fields: [first, ...more] });
    const faults = checksBody ? await faultsOf(body, sentBody) : [];
    if (faults.length > 0) throw invalid(faults);
  };
}

/**
 * Allows constraint classes of extensions to inject dependencies. A class that is not a provider is created without
 * them.
 */
export function injectConstraints(modules: ModuleRef): void {
  const known = new WeakMap<Type, object | undefined>();
  const find = (type: Type): object | undefined => {
    try {
      return modules.get<object>(type, { strict: false });
    } catch {
      return undefined;
    }
  };
  const get = (type: Type): object | undefined => {
    // Cached, because the lookup is slow for a class that is not a provider, such as a built-in constraint: Nest
    // creates and throws an error.
    if (!known.has(type)) known.set(type, find(type));
    return known.get(type);
  };
  useContainer({ get: get as never }, { fallback: true });
}

async function faultsOf(type: Type, value: unknown): Promise<Fault[]> {
  const errors = await errorsOf(type, value);
  return faultsIn(errors, '').slice(0, FAULTS_MAX);
}

/**
 * Returns the errors of the decorators. Does not use `validate`, which leaves promises unhandled if a decorator throws.
 */
async function errorsOf(type: Type, value: unknown): Promise<ValidationError[]> {
  const executor = new ValidationExecutor(null, OPTIONS);
  const errors: ValidationError[] = [];
  try {
    executor.execute(plainToInstance(type, value) as object, undefined, errors);
  } catch (error) {
    void Promise.allSettled(executor.awaitingPromises);
    if (isStackOverflow(error)) throw invalid([{ path: '', message: 'The body is nested too deeply.' }]);
    throw error;
  }
  await Promise.all(executor.awaitingPromises);
  return executor.stripEmptyErrors(errors);
}

/**
 * Returns whether the stack overflowed: class-transformer and class-validator are recursive, and JSON may nest deeply.
 */
function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack');
}

function faultsIn(errors: readonly ValidationError[], parent: string): Fault[] {
  return errors.flatMap(({ target, property, constraints = {}, children = [] }) => {
    const path = `${parent}${property}`;
    const faults = Object.entries(constraints).flatMap(([name, message]) => {
      if (name !== ValidationTypes.WHITELIST) return { path, message: withoutProperty(message, property) };
      return isUnknown(target, property) ? { path, message: 'is not known here' } : [];
    });
    return [...faults, ...faultsIn(children, `${path}.`)];
  });
}

/** Returns whether a field is unknown. class-validator also reports fields with only `@ApiProperty` as unknown. */
function isUnknown(target: object | undefined, property: string): boolean {
  const properties = Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES_ARRAY, target ?? {}) as string[] | undefined;
  if (properties === undefined || allowsUnknownFields((target as object).constructor.name)) return false;
  return !properties.includes(`:${property}`);
}

/** Removes the name of the field, which the path already has: `email must be an email` becomes `must be an email`. */
function withoutProperty(message: string, property: string): string {
  if (message.startsWith(`${property} `)) return message.slice(property.length + 1);
  const ofEach = `each value in ${property} `;
  return message.startsWith(ofEach) ? `each value ${message.slice(ofEach.length)}` : message || 'is not valid';
}
