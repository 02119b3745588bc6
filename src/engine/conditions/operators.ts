import { RE2JS } from 're2js';
import { compareDecimals, exactWhole, isDecimal } from '../decimals.js';

/** A test of one text. `undefined` represents a missing value. */
export interface Operator {
  holds(text: string | undefined): boolean;
  /** Maximum cost of testing a text of `length` characters, in steps of `Allowance`. */
  steps(length: number): number;
}

export const OPS = [
  'eq',
  'ne',
  'in',
  'contains',
  'starts_with',
  'ends_with',
  'matches',
  'gt',
  'gte',
  'lt',
  'lte',
  'exists',
  'absent',
] as const;

export type Op = (typeof OPS)[number];

/** Returns whether the operator only tests for presence and therefore takes no `value`. */
export const isUnary = (op: Op): op is 'exists' | 'absent' => op === 'exists' || op === 'absent';

/** Maximum number of instructions in a compiled pattern. Matching time grows with it and with the text's length. */
const PATTERN_SIZE_MAX = 500;
/**
 * Cost of a character in steps, in the worst case: each character creates a new state of the automaton, which takes at
 * least 3 µs. Most patterns cost a hundredth of this, but the cost cannot be derived from the pattern.
 */
const STEPS_OF_STATE = 330;
const STEPS_OF_INSTRUCTION = 3;
/**
 * Maximum length of a text to search for with `includes`. V8 takes up to 120 ms to find a longer text in repetitive
 * text.
 */
const LONG_CHARACTERS = 250;
const STEPS_OF_LONG_SEARCH = 2;
const DECIMAL_LENGTH_MAX = 1024;

const nothing = (): number => 0;
const PRESENT: Operator = { holds: (text) => text !== undefined, steps: nothing };
const ABSENT: Operator = { holds: (text) => text === undefined, steps: nothing };

/** Compiles an operator. If `value` is invalid, returns the end of an error sentence about `value`. */
export function compileOperator(op: Op, value: string): Operator | string {
  switch (op) {
    case 'exists':
      return PRESENT;
    case 'absent':
      return ABSENT;
    case 'ne':
      return { holds: (text) => text !== value, steps: atMost(value.length) };
    case 'eq':
      return ofPresent((text) => text === value, atMost(value.length));
    case 'contains':
      return containing(value);
    case 'starts_with':
      return ofPresent((text) => text.startsWith(value), atMost(value.length));
    case 'ends_with':
      return ofPresent((text) => text.endsWith(value), atMost(value.length));
    case 'in':
      return oneOf(value);
    case 'matches':
      return pattern(value);
    case 'gt':
      return compared(value, (order) => order > 0);
    case 'gte':
      return compared(value, (order) => order >= 0);
    case 'lt':
      return compared(value, (order) => order < 0);
    case 'lte':
      return compared(value, (order) => order <= 0);
  }
}

export function listOf(value: string): string[] {
  return value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

const eachCharacter = (length: number): number => length;
const atMost =
  (charactersMax: number) =>
  (length: number): number =>
    Math.min(length, charactersMax);

function ofPresent(holds: (text: string) => boolean, steps = eachCharacter): Operator {
  return { holds: (text) => text !== undefined && holds(text), steps };
}

function containing(value: string): Operator {
  if (value.length <= LONG_CHARACTERS) return ofPresent((text) => text.includes(value));
  const search = linearSearch(value);
  return ofPresent(search, (length) => length * STEPS_OF_LONG_SEARCH);
}

/** Returns a search by Knuth, Morris and Pratt, which takes linear time for every text. */
function linearSearch(value: string): (text: string) => boolean {
  const wanted = Uint16Array.from({ length: value.length }, (_, at) => value.charCodeAt(at));
  // For every prefix of the value: the length of its longest proper suffix that is also a prefix.
  const borders = new Uint16Array(value.length + 1);
  for (let at = 1, border = 0; at < wanted.length; at += 1) {
    while (border > 0 && wanted[at] !== wanted[border]) border = borders[border] ?? 0;
    if (wanted[at] === wanted[border]) border += 1;
    borders[at + 1] = border;
  }
  return (text) => {
    let found = 0;
    for (let at = 0; at < text.length; at += 1) {
      const character = text.charCodeAt(at);
      while (found > 0 && character !== wanted[found]) found = borders[found] ?? 0;
      if (character === wanted[found]) found += 1;
      if (found === wanted.length) return true;
    }
    return false;
  };
}

function oneOf(value: string): Operator | string {
  const entries = new Set(listOf(value));
  return entries.size === 0 ? 'must be a comma-separated list of values' : ofPresent((text) => entries.has(text));
}

function compared(value: string, holds: (order: number) => boolean): Operator | string {
  if (!isDecimal(value)) return 'must be a decimal number';
  const wanted = exactWhole(value);
  return ofPresent(
    (text) => {
      const order = exactWhole(text) - wanted;
      if (!Number.isNaN(order)) return holds(order);
      return text.length <= DECIMAL_LENGTH_MAX && isDecimal(text) && holds(compareDecimals(text, value));
    },
    (length) => Math.min(length, DECIMAL_LENGTH_MAX) + value.length,
  );
}

function pattern(value: string): Operator | string {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(value);
  } catch (error) {
    return `must be a pattern in RE2 syntax: ${(error as Error).message.replace(/^error parsing regexp: /, '')}`;
  }
  const size = compiled.programSize();
  if (size > PATTERN_SIZE_MAX) return 'is too large a pattern: use fewer or smaller repetitions';
  return ofPresent(
    (text) => {
      const isMatch = compiled.test(text);
      // Clears up to 8 MB of automaton states, which would otherwise stay in memory with the cached pattern.
      compiled.re2Input.lazyDFA?.clearCache();
      return isMatch;
    },
    (length) => length * (STEPS_OF_STATE + STEPS_OF_INSTRUCTION * size),
  );
}
