import { _, type KeywordCxt } from 'ajv';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Fault } from '#engine/conditions/faults.js';
import { Budget, TOO_MUCH_WORK } from './budget.js';
import { FORMATS } from './formats.js';
import { prepare, type Prepared, STEP } from './prepared.js';
import { shapeFaults, uniqueItemsOf } from './shape.js';
import { valueFaults } from './value-faults.js';

export interface CompiledSchema {
  /**
   * Returns at most 20 faults with dotted paths. Returns one fault if validation takes over about 50 ms. Never throws.
   */
  validate(value: unknown): Fault[];
  /**
   * Returns the faults that `validate` returns, or null if validation would take more than 2 to 3 ms. May run on the
   * event loop.
   */
  validateAtOnce(value: unknown): Fault[] | null;
}

/** Maximum work of one validation. One megabyte of ordinary JSON with 80,000 fields needs a third of it. */
const UNITS_MAX = 1_000_000;
/** Maximum work of one validation on the event loop: about 2 ms. */
const UNITS_AT_ONCE = 40_000;
const EXPLAINING_UNITS_MAX = 20_000;

export const TOO_MUCH: Fault = {
  path: '',
  message:
    'cannot be checked in the time there is: make the schema simpler (fewer alternatives, references and patterns) or the value smaller',
};

/**
 * Compiles a tenant's schema of draft 2020-12. Limits: 64 KB, 32 levels, 500 subschemas and 100 patterns. Every `$ref`
 * must point to a location in the schema. Patterns run on RE2. Formats are validated.
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

/**
 * Maximum length of a schema that is compiled on the event loop. A longer schema could block it, because V8 needs 0.33
 * ms per subschema.
 */
const AT_ONCE_LENGTH_MAX = 2_048;

export function compilesAtOnce(text: string): boolean {
  return text.length <= AT_ONCE_LENGTH_MAX && !/"pattern(?:Properties)?":/.test(text);
}

/** A compiled schema with two validation functions: one stops at the first fault, the other finds all faults. */
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

  /** Runs a validation. Returns null if the budget or the stack is exhausted, for example by endless recursion. */
  private errors(validate: ValidateFunction, value: unknown, units: number): ErrorObject[] | null {
    this.budget.refill(units);
    try {
      return validate(value) ? [] : (validate.errors ?? []);
    } catch (error) {
      if (error === TOO_MUCH_WORK || error instanceof RangeError) return null;
      throw error;
    } finally {
      // Clears the errors, because the validation function would keep them, and the value that they quote, in memory.
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
      // Characters after the first 320 cost less, because a format whose regular expression backtracks rejects longer
      // texts without running it.
      budget.spend(Math.min(text.length, 320) + Math.floor(text.length / 16));
      return test(text);
    });
  }
  const step = budget.step.bind(budget);
  ajv.addKeyword({
    keyword: STEP,
    // Ajv runs keywords without a type in the order of registration. `STEP` must run before all other keywords, to
    // limit their work.
    before: '$ref',
    schemaType: 'array',
    code: ({ gen, schema: price, data }: KeywordCxt) => {
      const [own, scans] = price as [number, number];
      gen.code(_`${gen.scopeValue('func', { ref: step })}(${own}, ${scans}, ${data})`);
    },
  });
  return ajv.compile(schema);
}
