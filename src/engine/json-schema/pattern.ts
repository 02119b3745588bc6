import { RE2JS } from 're2js';
import type { Budget } from './budget.js';

/** A pattern as Ajv wants it. */
export interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

/** Instructions of a compiled pattern: its time grows with them as with the text. */
const SIZE_MAX = 500;
/** What a test costs even on an empty text. */
const UNITS_A_TEST = 20;
/** Instructions times characters that one unit pays for: what its automaton needs where every state is a new one. */
const STEPS_A_UNIT = 8;

/** What is wrong with a pattern, or null. */
export function patternFault(text: string): string | null {
  try {
    const size = compile(text).programSize();
    return size > SIZE_MAX ? 'is too large a pattern: use fewer or smaller repetitions' : null;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '').slice(0, 200) : 'it cannot be read';
    return `must be a pattern that RE2 knows, which has no look-around and no back-references: ${reason}`;
  }
}

/** The pattern on RE2, in time that is linear in the text and paid from the budget. Throws for one with a fault. */
export function pattern(text: string, budget: Budget): Pattern {
  const compiled = compile(text);
  const size = compiled.programSize();
  return {
    test: (value) => {
      budget.spend(UNITS_A_TEST + Math.ceil((value.length * size) / STEPS_A_UNIT));
      const isMatch = compiled.test(value);
      // Its states would stay, up to 8 MB of them in every pattern that is kept compiled.
      compiled.re2Input.lazyDFA?.clearCache();
      return isMatch;
    },
    toString: () => `re2:${text}`,
  };
}

/** JavaScript's spellings (`\uXXXX`, `\/`, `(?<name>…)`) are those of JSON Schema (section 6.4 of its core). */
function compile(text: string): RE2JS {
  return RE2JS.compile(RE2JS.translateRegExp(text));
}
