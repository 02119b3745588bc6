/** Cost of compiling a pattern, estimated from its text before RE2 compiles it. */
export interface PatternCost {
  /** Number of atoms with repetitions expanded, roughly the number of instructions of the program. */
  atoms: number;
  /** Cost in units of at most about 50 µs each. */
  units: number;
}

/**
 * Number of atoms per cost unit. Every character of the pattern also counts as an atom, because groups and anchors cost
 * time, too.
 */
const ATOMS_A_UNIT = 16;
/** Cost of `\pL`, `\P{Greek}` or `[[:alpha:]]`: RE2 sorts, negates and case-folds hundreds of ranges. */
const UNITS_A_TABLE = 10;
/** Cost of a wide range with `(?i)`: RE2 case-folds every character in it, up to a million. */
const UNITS_A_WIDE_RANGE = 160;

const TOKEN =
  /\\Q[^]*?(?:\\E|$)|\\[pPxu]\{[^}]*\}|\\[^]|\[\^?\]?(?:\\[^]|\[:\^?[a-z]+:\]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[^]/gu;
const TABLE = /\\p|\[:/gi;
const FOLDS = /\(\?[a-z-]*i/i;
/** Matches a character or escape that can be the upper end of a wide range. */
const FAR = /[^\0-\x7f]|\\[xu]/;

export function patternCost(text: string): PatternCost {
  const atoms = atomsOf(text);
  const tables = text.match(TABLE)?.length ?? 0;
  const ranges = FOLDS.test(text) && FAR.test(text) ? text.split('-').length - 1 : 0;
  return {
    atoms,
    units: 1 + Math.ceil((atoms + text.length) / ATOMS_A_UNIT) + tables * UNITS_A_TABLE + ranges * UNITS_A_WIDE_RANGE,
  };
}

function atomsOf(text: string): number {
  const outer: number[] = [];
  let [sum, last] = [0, 0];
  for (const [token, least, most] of text.matchAll(TOKEN)) {
    if (token === '(') {
      outer.push(sum);
      sum = 0;
    } else if (token === ')') {
      last = sum;
      sum += outer.pop() ?? 0;
    } else if (least !== undefined) {
      const more = last * (Math.max(Number(least), Number(most ?? 0), 1) - 1);
      sum += more;
      last += more;
    } else if (!'*+?|^$'.includes(token)) {
      last = token.startsWith('\\Q') ? token.length : 1;
      sum += last;
    }
  }
  return outer.reduce((all, each) => all + each, sum);
}
