import type { SynchronousAnswer } from '../inbound/request.js';
import { type AnswerTemplate, compileAnswer } from './answer.js';
import { compileCondition, type Condition } from './condition.js';
import { type Fault, Faults } from './faults.js';
import type { RequestView } from './request-view.js';

export interface CompiledRules {
  /**
   * Returns the index of the first rule that matches, or -1. The result is unreliable once the evaluation budget of
   * `view` is exhausted.
   */
  first(view: RequestView): number;
  /** Returns the answer of the rule at this index, or else the default answer, or else null. Never throws. */
  answer(place: number, view: RequestView): SynchronousAnswer | null;
  /** The JSON from which the rules were compiled. A thread that evaluates rules compiles it again. */
  readonly source: unknown;
}

const RULES_MAX = 50;

/** Compiles `{rules: [{when, respond}], default}`. `at` is the path of the value in the API request. */
export function compileRules(value: unknown, at: string): { rules: CompiledRules } | { faults: Fault[] } {
  const faults = new Faults();
  const given = faults.object(value, at, ['rules', 'default']);
  const rules = given === null ? [] : compileList(given.rules ?? [], `${at}.rules`, faults);
  const fallback =
    given?.default === undefined || given.default === null
      ? null
      : compileAnswer(given.default, `${at}.default`, faults);
  if (faults.list.length > 0) return { faults: faults.list };
  return {
    rules: {
      source: value,
      first: (view) => rules.findIndex(({ when }) => when.matches(view)),
      answer: (place, view) => (rules[place]?.respond ?? fallback)?.of(view) ?? null,
    },
  };
}

interface Rule {
  when: Condition;
  respond: AnswerTemplate;
}

function compileList(value: unknown, at: string, faults: Faults): Rule[] {
  if (!Array.isArray(value) || value.length > RULES_MAX) {
    faults.add(at, `must be a list of at most ${RULES_MAX} rules`);
    return [];
  }
  return value.map((entry, index) => compileRule(entry, `${at}.${index}`, faults)).filter((rule) => rule !== null);
}

function compileRule(value: unknown, at: string, faults: Faults): Rule | null {
  if (faults.isFull) return null;
  const rule = faults.object(value, at, ['when', 'respond']);
  if (rule === null) return null;
  const when = compileCondition(rule.when, `${at}.when`);
  if ('faults' in when) for (const { path, message } of when.faults) faults.add(path, message);
  const respond = compileAnswer(rule.respond, `${at}.respond`, faults);
  return 'condition' in when && respond ? { when: when.condition, respond } : null;
}
