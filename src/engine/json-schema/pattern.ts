import { RE2JS } from 're2js';
import type { Budget } from './budget.js';
import { patternCost } from './pattern-cost.js';

export interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

const LENGTH_MAX = 512;
/** Maximum number of instructions in a compiled pattern. Matching time grows with it and with the text's length. */
const SIZE_MAX = 500;
/**
 * Maximum number of atoms. Rejects most oversized patterns before they are compiled, although an atom may compile to
 * less than one instruction.
 */
const ATOMS_MAX = 2 * SIZE_MAX;
const PATTERNS_MAX = 100;
/** Maximum cost of compiling all patterns of a schema, in units (about 100 ms). */
const UNITS_MAX = 2_000;
/** Fixed cost of testing a text against a pattern, in units. Charged even for an empty text. */
const UNITS_A_TEST = 20;
/**
 * Steps per cost unit. A step is one instruction for one character. Measured in the worst case, in which every
 * character creates a new state of the automaton.
 */
const STEPS_A_UNIT = 8;

const TOO_LARGE = 'is too large a pattern: use fewer or smaller repetitions';

/** Patterns of a schema, which run on RE2. Each distinct pattern is compiled once, in bounded total time. */
export class Patterns {
  private readonly faults = new Map<string, string | null>();
  private readonly compiled = new Map<string, RE2JS>();
  private unitsLeft = UNITS_MAX;

  /** Compiles a pattern. Returns its fault, or null. */
  add(text: string): string | null {
    const known = this.faults.get(text);
    if (known !== undefined) return known;
    if (this.faults.size >= PATTERNS_MAX)
      return `is one too many: a schema may have at most ${PATTERNS_MAX} different patterns`;
    const fault = this.faultOf(text);
    this.faults.set(text, fault);
    return fault;
  }

  /** Returns a pattern that `add` accepted. Matching takes linear time, which is charged to the budget. */
  pattern(text: string, budget: Budget): Pattern {
    const compiled = this.compiled.get(text);
    if (!compiled) throw new Error('The pattern was not checked.');
    const size = compiled.programSize();
    return {
      test: (value) => {
        budget.spend(UNITS_A_TEST + Math.ceil((value.length * size) / STEPS_A_UNIT));
        const isMatch = compiled.test(value);
        // Clears up to 8 MB of automaton states, which would otherwise stay in memory with the cached pattern.
        compiled.re2Input.lazyDFA?.clearCache();
        return isMatch;
      },
      toString: () => `re2:${text}`,
    };
  }

  private faultOf(text: string): string | null {
    if (text.length > LENGTH_MAX) return `is too long a pattern: it may have at most ${LENGTH_MAX} characters`;
    const { atoms, units } = patternCost(text);
    if (atoms > ATOMS_MAX) return TOO_LARGE;
    if (units > this.unitsLeft)
      return 'is too expensive together with all other patterns of the schema: use fewer classes such as \\p{L}, and fewer ranges with (?i)';
    this.unitsLeft -= units;
    try {
      const compiled = compile(text);
      if (compiled.programSize() > SIZE_MAX) return TOO_LARGE;
      this.compiled.set(text, compiled);
      return null;
    } catch (error) {
      const reason =
        error instanceof Error
          ? error.message.replace(/^error parsing regexp: /, '').slice(0, 200)
          : 'it cannot be read';
      return `must be a pattern in RE2 syntax, which has no look-around and no back-references: ${reason}`;
    }
  }
}

/** Compiles a pattern after translating the JavaScript syntax `\uXXXX`, `\/` and `(?<name>…)` for RE2. */
function compile(text: string): RE2JS {
  return RE2JS.compile(RE2JS.translateRegExp(text));
}
