import { writeExact } from '../exact-json.js';
import type { Faults } from './faults.js';
import { compileJsonPath, JSON_PATH_BYTES_MAX } from './json-path.js';
import { networksOf } from './networks.js';
import { compileOperator, isUnary, listOf, type Op, type Operator, OPS } from './operators.js';
import type { RequestView } from './request-view.js';

export interface Leaf {
  readonly readsJson: boolean;
  holds(view: RequestView): boolean;
}

/**
 * Returns the texts to test: none if the value is missing, several if a path matches several nodes or a name is
 * repeated.
 */
type Read = (view: RequestView) => readonly string[];

interface LeafType {
  selector?: 'name' | 'path';
  /** Converts the configured `value` to the form of the request's value, for example to lower case. */
  normal?: (value: string) => string;
  values?: readonly string[];
  ops?: readonly Op[];
  read: (view: RequestView, selector: string) => string | readonly string[] | undefined;
}

const VALUE_BYTES_MAX = 1024;
const NAME_BYTES_MAX = 256;

const TYPES = {
  json: { selector: 'path', read: () => undefined },
  body: { read: (view) => view.text },
  header: { selector: 'name', read: (view, name) => view.headerValues(name) },
  query: { selector: 'name', read: (view, name) => view.query(name) },
  form: { selector: 'name', read: (view, name) => view.form(name) },
  method: { normal: (value) => value.toUpperCase(), read: (view) => view.method },
  path: { read: (view) => view.path },
  content_type: { normal: (value) => value.toLowerCase(), read: (view) => view.mediaType },
  ip: { ops: ['eq', 'ne', 'in', 'exists', 'absent'], read: (view) => view.ip?.text },
  verification: { values: ['verified', 'failed', 'none'], read: (view) => view.verification },
} as const satisfies Record<string, LeafType>;

type TypeName = keyof typeof TYPES;

const TYPE_NAMES = Object.keys(TYPES) as TypeName[];

/**
 * Compiles a leaf, which is a single test of a condition. Adds its faults, and returns null if it cannot be compiled.
 * `defaultType` applies if `type` is missing.
 */
export function compileLeaf(
  value: Record<string, unknown>,
  at: string,
  faults: Faults,
  defaultType?: TypeName,
): Leaf | null {
  const type = TYPE_NAMES.find((name) => name === (value.type === undefined ? defaultType : value.type));
  if (type === undefined) {
    faults.add(`${at}.type`, `must be one of ${TYPE_NAMES.join(', ')}`);
    return null;
  }
  const rules: LeafType = TYPES[type];
  const op = (rules.ops ?? OPS).find((name) => name === value.op);
  const known = ['type', 'op', rules.selector, op !== undefined && isUnary(op) ? undefined : 'value'].filter(
    (key) => key !== undefined,
  );
  faults.object(value, at, known);
  const selector = rules.selector === undefined ? '' : compileSelector(rules.selector, type, value, at, faults);
  if (op === undefined) {
    faults.add(`${at}.op`, `must be one of ${(rules.ops ?? OPS).join(', ')}`);
    return null;
  }
  const text = isUnary(op) ? '' : faults.text(value.value, `${at}.value`, VALUE_BYTES_MAX);
  if (selector === null || text === null) return null;
  const read: Read = typeof selector === 'string' ? (view) => listed(rules.read(view, selector)) : selector;
  return type === 'ip'
    ? compileIpLeaf(op, text, at, faults)
    : compileTextLeaf({ type, rules, op, text, read }, at, faults);
}

/**
 * Compiles the selector of a leaf: a name, or a function that reads the body. If it is invalid, adds a fault and
 * returns null.
 */
function compileSelector(
  key: 'name' | 'path',
  type: TypeName,
  value: Record<string, unknown>,
  at: string,
  faults: Faults,
): string | Read | null {
  const text = faults.text(value[key], `${at}.${key}`, key === 'path' ? JSON_PATH_BYTES_MAX : NAME_BYTES_MAX);
  if (text === null) return null;
  if (type !== 'json') return type === 'header' ? text.toLowerCase() : text;
  const path = compileJsonPath(text);
  if (typeof path !== 'string')
    return (view) => view.found(`texts of ${text}`, () => path.all(view).map((node) => paidTextOf(node, view)));
  faults.add(`${at}.path`, path);
  return null;
}

interface TextLeaf {
  type: TypeName;
  rules: LeafType;
  op: Op;
  text: string;
  read: Read;
}

function compileTextLeaf({ type, rules, op, text, read }: TextLeaf, at: string, faults: Faults): Leaf | null {
  const isNormal = rules.normal !== undefined && op !== 'matches';
  const value = isNormal ? (rules.normal?.(text) ?? text) : text;
  const entries = op === 'in' ? listOf(value) : op === 'eq' || op === 'ne' ? [value] : [];
  if (rules.values && !entries.every((entry) => rules.values?.includes(entry))) {
    faults.add(`${at}.value`, `must be one of ${rules.values.join(', ')}`);
    return null;
  }
  const operator = compileOperator(op, value);
  if (typeof operator === 'string') {
    faults.add(`${at}.value`, operator);
    return null;
  }
  return { readsJson: type === 'json', holds: (view) => asks(view, operator, read(view)) };
}

function compileIpLeaf(op: Op, text: string, at: string, faults: Faults): Leaf | null {
  if (isUnary(op)) return { readsJson: false, holds: (view) => (view.ip !== undefined) === (op === 'exists') };
  const entries = op === 'in' ? listOf(text) : [text.trim()];
  const networks = networksOf(entries);
  if (typeof networks === 'string' || entries.length === 0) {
    faults.add(
      `${at}.value`,
      'must be an IP address or a network like 192.0.2.0/24; for in, a list of them with commas between them',
    );
    return null;
  }
  const isIn = ({ ip }: RequestView): boolean => ip !== undefined && networks.has(ip);
  return { readsJson: false, holds: op === 'ne' ? (view) => !isIn(view) : isIn };
}

/** Returns whether at least one of the texts satisfies the operator. */
function asks(view: RequestView, operator: Operator, texts: readonly string[]): boolean {
  return texts.length === 0 ? asksOne(view, operator, undefined) : texts.some((text) => asksOne(view, operator, text));
}

function asksOne(view: RequestView, operator: Operator, text: string | undefined): boolean {
  return view.spend(1 + Math.ceil(operator.steps(text?.length ?? 0))) && operator.holds(text);
}

function listed(text: string | readonly string[] | undefined): readonly string[] {
  if (text === undefined) return [];
  return typeof text === 'string' ? [text] : text;
}

/**
 * Returns the text of a value. Objects and lists are serialized for comparison, and their length is deducted from the
 * evaluation budget.
 */
function paidTextOf(value: unknown, view: RequestView): string {
  if (view.isExhausted) return '';
  const text = textOf(value) ?? '';
  if (typeof value === 'object' && value !== null) view.spend(text.length);
  return text;
}

/** Returns a string unchanged, a number in its original spelling, undefined unchanged, and other values as JSON. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || value === undefined ? value : writeExact(value);
}
