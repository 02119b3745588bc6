import { RE2JS } from 're2js';
import type { Budget } from './budget.js';
import { patternCost } from './pattern-cost.js';

/** A pattern as Ajv wants it. */
export interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

const LENGTH_MAX = 512;
/** Instructions of a compiled pattern: its time grows with them as with the text. */
const SIZE_MAX = 500;
/** What the text says may be off by some: repetitions that are optional need two instructions, some atoms none. */
const ATOMS_MAX = 2 * SIZE_MAX;
const PATTERNS_MAX = 100;
/** Units that all patterns of a schema may need to compile: 100 ms at the very most. */
const UNITS_MAX = 2_000;
/** What a test costs even on an empty text. */
const UNITS_A_TEST = 20;
/** Instructions times characters that one unit pays for: what its automaton needs where every state is a new one. */
const STEPS_A_UNIT = 8;

const TOO_LARGE = 'is too large a pattern: use fewer or smaller repetitions';

/** The patterns of one schema on RE2. Each is compiled once, wherever it is used; all together in a bounded time. */
export class Patterns {
  private readonly faults = new Map<string, string | null>();
  private readonly compiled = new Map<string, RE2JS>();
  private unitsLeft = UNITS_MAX;

  /** Makes it known; what is wrong with it, or null. */
  add(text: string): string | null {
    const known = this.faults.get(text);
    if (known !== undefined) return known;
    if (this.faults.size >= PATTERNS_MAX)
      return `is one too many: a schema may have at most ${PATTERNS_MAX} different patterns`;
    const fault = this.faultOf(text);
    this.faults.set(text, fault);
    return fault;
  }

  /** One that was added without a fault. It takes time that is linear in the text and paid from the budget. */
  pattern(text: string, budget: Budget): Pattern {
    const compiled = this.compiled.get(text);
    if (!compiled) throw new Error('The pattern was not checked.');
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

  private faultOf(text: string): string | null {
    if (text.length > LENGTH_MAX) return `is too long a pattern: it may have at most ${LENGTH_MAX} characters`;
    const { atoms, units } = patternCost(text);
    if (atoms > ATOMS_MAX) return TOO_LARGE;
    if (units > this.unitsLeft)
      return 'is too much with all other patterns of the schema: use fewer classes such as \\p{L}, and fewer ranges with (?i)';
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
      return `must be a pattern that RE2 knows, which has no look-around and no back-references: ${reason}`;
    }
  }
}

/** JavaScript's spellings (`\uXXXX`, `\/`, `(?<name>…)`) are those of JSON Schema (section 6.4 of its core). */
function compile(text: string): RE2JS {
  return RE2JS.compile(RE2JS.translateRegExp(text));
}
