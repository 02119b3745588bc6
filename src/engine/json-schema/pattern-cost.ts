/**
 * What a pattern may take to compile, told from its text: RE2 measures the program only once it is made, and a text of
 * two hundred characters can take a third of a second.
 */
export interface PatternCost {
  /** Atoms with their repetitions written out; a program has about as many instructions. */
  atoms: number;
  /** A unit is at most about 50 µs. */
  units: number;
}

/** Characters too: groups and anchors are no atoms. */
const ATOMS_A_UNIT = 16;
/** `\pL`, `\P{Greek}`, `[[:alpha:]]`: hundreds of ranges, which are sorted, negated and folded. */
const UNITS_A_TABLE = 10;
/** With `(?i)` every character of a range is folded, and there may be a million of them. */
const UNITS_A_WIDE_RANGE = 160;

const TOKEN =
  /\\Q[^]*?(?:\\E|$)|\\[pPxu]\{[^}]*\}|\\[^]|\[\^?\]?(?:\\[^]|\[:\^?[a-z]+:\]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[^]/gu;
const TABLE = /\\p|\[:/gi;
const FOLDS = /\(\?[a-z-]*i/i;
/** What the end of a wide range can be written with. */
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
