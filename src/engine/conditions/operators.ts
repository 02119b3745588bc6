import { RE2JS } from 're2js';

/** What an `op` with its `value` asks of a text; undefined is a value that is missing. */
export interface Operator {
  holds(text: string | undefined): boolean;
  /** What the question costs per character of the text, in steps of `RequestView.spend`. */
  readonly stepsPerCharacter: number;
}

export const OPS = [
  'eq', 'ne', 'in', 'contains', 'starts_with', 'ends_with', 'matches', 'gt', 'gte', 'lt', 'lte', 'exists', 'absent',
] as const;

export type Op = (typeof OPS)[number];

/** Whether it asks only if there is a value, and so has none of its own. */
export const isUnary = (op: Op): op is 'exists' | 'absent' => op === 'exists' || op === 'absent';

/** Instructions of a compiled pattern: its time grows with them as with the text. */
const PATTERN_SIZE_MAX = 500;
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

const PRESENT: Operator = { holds: (text) => text !== undefined, stepsPerCharacter: 0 };
const ABSENT: Operator = { holds: (text) => text === undefined, stepsPerCharacter: 0 };

/** The operator, or a sentence that says what is wrong with `value`. */
export function compileOperator(op: Op, value: string): Operator | string {
  switch (op) {
    case 'exists': return PRESENT;
    case 'absent': return ABSENT;
    case 'ne': return { holds: (text) => text !== value, stepsPerCharacter: 1 };
    case 'eq': return ofPresent((text) => text === value);
    case 'contains': return ofPresent((text) => text.includes(value));
    case 'starts_with': return ofPresent((text) => text.startsWith(value));
    case 'ends_with': return ofPresent((text) => text.endsWith(value));
    case 'in': return oneOf(value);
    case 'matches': return pattern(value);
    case 'gt': return compared(value, (left, right) => left > right);
    case 'gte': return compared(value, (left, right) => left >= right);
    case 'lt': return compared(value, (left, right) => left < right);
    case 'lte': return compared(value, (left, right) => left <= right);
  }
}

/** The entries of a comma list, without the spaces around them and without empty ones. */
export function listOf(value: string): string[] {
  return value.split(',').map((entry) => entry.trim()).filter((entry) => entry !== '');
}

function ofPresent(holds: (text: string) => boolean, stepsPerCharacter = 1): Operator {
  return { holds: (text) => text !== undefined && holds(text), stepsPerCharacter };
}

function oneOf(value: string): Operator | string {
  const entries = new Set(listOf(value));
  return entries.size === 0 ? 'must be a list of values with commas between them' : ofPresent((text) => entries.has(text));
}

function compared(value: string, holds: (left: number, right: number) => boolean): Operator | string {
  if (!DECIMAL.test(value)) return 'must be a decimal number';
  const right = Number(value);
  return ofPresent((text) => text.length <= 1024 && DECIMAL.test(text) && holds(Number(text), right));
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
  return ofPresent((text) => {
    const isMatch = compiled.test(text);
    // Its states would stay, up to 8 MB of them in every pattern that is kept compiled.
    compiled.re2Input.lazyDFA?.clearCache();
    return isMatch;
  }, size);
}
