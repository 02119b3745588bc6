import { _, type KeywordCxt } from 'ajv';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Fault } from '#engine/conditions/faults.js';
import { Budget, TOO_MUCH_WORK } from './budget.js';
import { FORMATS } from './formats.js';
import { prepare, type Prepared, STEP } from './prepared.js';
import { shapeFaults, uniqueItemsOf } from './shape.js';
import { valueFaults } from './value-faults.js';

/** A schema that can judge values. */
export interface CompiledSchema {
  /**
   * What is wrong with the value, at most 20 faults, each with its dotted path from the value. Never throws. Takes a
   * bounded time, about 50 ms: a value that cannot be judged in it gets one fault that says so.
   */
  validate(value: unknown): Fault[];
  /** The same where everything else waits for it; null for what would take more than two or three milliseconds. */
  validateAtOnce(value: unknown): Fault[] | null;
}

/** What one look at a value may cost. A megabyte of honest JSON with eighty thousand fields needs a third of it. */
const UNITS_MAX = 1_000_000;
/** The same at once: two milliseconds. */
const UNITS_AT_ONCE = 40_000;
/** What finding all faults may cost, once there is one. */
const EXPLAINING_UNITS_MAX = 20_000;

/** What is said of a value that could not be judged. */
export const TOO_MUCH: Fault = {
  path: '',
  message:
    'cannot be checked in the time there is: make the schema simpler (fewer alternatives, references and patterns) or the value smaller',
};

/**
 * Compiles a schema of draft 2020-12 that a tenant wrote, or says what is wrong with it (paths from the schema). It has at
 * most 64 KB, 32 levels, 500 subschemas and 100 patterns; `$ref` stays within it; patterns run on RE2; formats are checked.
 */
export function compileSchema(schema: unknown): CompiledSchema | { faults: Fault[] } {
  const shape = shapeFaults(schema);
  if (shape.length > 0) return { faults: shape };
  const prepared = prepare(schema as Record<string, unknown>);
  if ('faults' in prepared) return prepared;
  try {
    return new Compiled(prepared);
  } catch (error) {
    return { faults: [{ path: '', message: `cannot be compiled: ${(error as Error).message.slice(0, 200)}` }] };
  }
}

/** V8 needs a third of a millisecond for each subschema, and patterns need longer. */
const AT_ONCE_LENGTH_MAX = 2_048;

/** Whether the schema of this text compiles in a moment, where everything else waits for it. */
export function compilesAtOnce(text: string): boolean {
  return text.length <= AT_ONCE_LENGTH_MAX && !/"pattern(?:Properties)?":/.test(text);
}

/** Compiled to the first fault for everybody, and to every fault once a value has one. */
class Compiled implements CompiledSchema {
  private readonly budget = new Budget();
  private readonly quick: ValidateFunction;
  private thorough: ValidateFunction | null = null;

  constructor(private readonly prepared: Prepared) {
    this.quick = compile(prepared, this.budget, false);
  }

  validate(value: unknown): Fault[] {
    return this.judge(value, UNITS_MAX) ?? [TOO_MUCH];
  }

  validateAtOnce(value: unknown): Fault[] | null {
    return this.judge(value, UNITS_AT_ONCE);
  }

  private judge(value: unknown, units: number): Fault[] | null {
    const first = this.errors(this.quick, value, units);
    if (first === null) return null;
    if (first.length === 0) return [];
    this.thorough ??= compile(this.prepared, this.budget, true);
    const all = this.errors(this.thorough, value, EXPLAINING_UNITS_MAX);
    return valueFaults(all === null || all.length === 0 ? first : all);
  }

  /** Null when the work is too much, which a recursion without an end is too. */
  private errors(validate: ValidateFunction, value: unknown, units: number): ErrorObject[] | null {
    this.budget.refill(units);
    try {
      return validate(value) ? [] : (validate.errors ?? []);
    } catch (error) {
      if (error === TOO_MUCH_WORK || error instanceof RangeError) return null;
      throw error;
    } finally {
      // The faults quote the value, and this is kept.
      validate.errors = null;
    }
  }
}

function compile({ schema, patterns }: Prepared, budget: Budget, allErrors: boolean): ValidateFunction {
  const regExp = Object.assign((text: string) => patterns.pattern(text, budget), { code: 'pattern' });
  const ajv = new Ajv2020({
    allErrors,
    strict: false,
    meta: false,
    validateSchema: false,
    inlineRefs: false,
    ownProperties: true,
    messages: false,
    logger: false,
    code: { regExp, optimize: false },
  });
  uniqueItemsOf(ajv, budget);
  for (const [name, test] of Object.entries(FORMATS)) {
    ajv.addFormat(name, (text: string) => {
      // The expressions that go back and forth are for short texts only.
      budget.spend(Math.min(text.length, 320) + Math.floor(text.length / 16));
      return test(text);
    });
  }
  const step = budget.step.bind(budget);
  ajv.addKeyword({
    keyword: STEP,
    // Ajv takes the keywords that are for every type in the order in which it learned of them, and these before all others.
    before: '$ref',
    schemaType: 'array',
    code: ({ gen, schema: price, data }: KeywordCxt) => {
      const [own, scans] = price as [number, number];
      gen.code(_`${gen.scopeValue('func', { ref: step })}(${own}, ${scans}, ${data})`);
    },
  });
  return ajv.compile(schema);
}
