import { compileFilter, type Condition } from '#engine/conditions/condition.js';
import type { Fault } from '#engine/conditions/faults.js';
import { type Allowance, type FormField, RequestView } from '#engine/conditions/request-view.js';
import { type CompiledRules, compileRules } from '#engine/conditions/rules.js';
import type { ReceivedRequest, Verification } from '#engine/inbound/request.js';
import { type CompiledSchema, compileSchema } from '#engine/json-schema/json-schema.js';

/**
 * A received request in the form in which it is sent to a thread. `body` is a plain byte array, because a `Buffer` does
 * not stay a `Buffer` when it is sent. The body is truncated, so the fields of a form are sent separately.
 */
export type SentRequest = Omit<ReceivedRequest, 'body'> & { body: Uint8Array; fields: readonly FormField[] };

/** Task for an evaluation thread. Conditions, rules and schemas are sent as the JSON that they were compiled from. */
export type EvaluationQuestion =
  | { kind: 'filters'; filters: readonly string[]; request: SentRequest; verification: Verification }
  | { kind: 'rules'; rules: string; request: SentRequest; verification: Verification }
  /** The value to check, as JSON. If it is null, only the schema is checked. */
  | { kind: 'schema'; schema: string; value: string | null };

/** Results of an evaluation. Null means that the time ran out. */
export type EvaluationResult =
  | { kind: 'filters'; matches: (boolean | null)[] }
  | { kind: 'rules'; first: number | null }
  | { kind: 'schema'; schemaFaults: Fault[]; valueFaults: Fault[] };

/** Maximum total length of the cached source texts. A compiled schema takes about thirty times as much memory. */
const KEPT_LENGTH_MAX = 1024 * 1024;
const NANOSECONDS_A_STEP = 8;
const STEPS_A_LOOK = 100_000;

/** An `Allowance` that measures CPU time, for a thread with no other work. */
export class MeteredAllowance implements Allowance {
  isExhausted = false;
  spent = 0;
  private nextLook = 0;

  /**
   * `sliceMs`: CPU limit of a call on a thread for quick calls. A step that might take longer is not started. Null on
   * other threads.
   */
  constructor(
    private readonly usedMs: () => number,
    private readonly limitMs: number,
    private readonly sliceMs: number | null,
  ) {}

  spend(steps: number): boolean {
    if (this.isExhausted) return false;
    this.spent += steps;
    if (this.sliceMs !== null && steps * NANOSECONDS_A_STEP > this.sliceMs * 1e6) this.isExhausted = true;
    if (this.spent >= this.nextLook) {
      this.nextLook = this.spent + STEPS_A_LOOK;
      this.isExhausted ||= this.usedMs() >= Math.min(this.limitMs, this.sliceMs ?? Infinity);
    }
    return !this.isExhausted;
  }
}

export class Evaluator {
  private readonly filters = new Kept((text) => compiledFilter(JSON.parse(text)));
  private readonly rules = new Kept((text) => compiledRules(JSON.parse(text)));
  private readonly schemas = new Kept((text) => compileSchema(JSON.parse(text)));

  /**
   * Evaluates a task and returns the verdict. `isCut`: the allowance of CPU time was exhausted before the end of the
   * task.
   */
  answer(question: EvaluationQuestion, allowance: Allowance): { verdict: EvaluationResult; isCut: boolean } {
    const verdict = this.evaluate(question, allowance);
    return { verdict, isCut: allowance.isExhausted };
  }

  private evaluate(question: EvaluationQuestion, allowance: Allowance): EvaluationResult {
    switch (question.kind) {
      case 'filters': {
        const view = viewOf(question, allowance);
        const matches = question.filters.map((text) => {
          const holds = this.filters.get(text).matches(view);
          return view.isExhausted ? null : holds;
        });
        return { kind: 'filters', matches };
      }
      case 'rules': {
        const view = viewOf(question, allowance);
        const first = this.rules.get(question.rules).first(view);
        return { kind: 'rules', first: view.isExhausted && first < 0 ? null : first };
      }
      case 'schema':
        return this.judged(this.schemas.get(question.schema), question.value);
    }
  }

  private judged(schema: CompiledSchema | { faults: Fault[] }, value: string | null): EvaluationResult {
    if ('faults' in schema) return { kind: 'schema', schemaFaults: schema.faults, valueFaults: [] };
    return { kind: 'schema', schemaFaults: [], valueFaults: value === null ? [] : schema.validate(JSON.parse(value)) };
  }
}

class Kept<T> {
  private readonly made = new Map<string, T>();
  private length = 0;

  constructor(private readonly make: (text: string) => T) {}

  get(text: string): T {
    const known = this.made.get(text);
    const value = known ?? this.make(text);
    if (known !== undefined) this.made.delete(text);
    else this.length += text.length;
    this.made.set(text, value);
    for (const oldest of this.made.keys()) {
      if (this.length <= KEPT_LENGTH_MAX || oldest === text) break;
      this.made.delete(oldest);
      this.length -= oldest.length;
    }
    return value;
  }
}

function viewOf(
  { request, verification }: { request: SentRequest; verification: Verification },
  allowance: Allowance,
): RequestView {
  const { body, fields } = request;
  return new RequestView(
    { ...request, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) },
    verification,
    { allowance, isUnpacked: true, fields },
  );
}

function compiledFilter(source: unknown): Condition {
  const compiled = compileFilter(source, 'filter');
  if ('faults' in compiled) throw new Error('A filter that was compiled before does not compile.');
  return compiled.condition;
}

function compiledRules(source: unknown): CompiledRules {
  const compiled = compileRules(source, 'rules');
  if ('faults' in compiled) throw new Error('Rules that were compiled before do not compile.');
  return compiled.rules;
}
