import { type Fault, Faults, isObject } from './faults.js';
import { compileLeaf } from './leaf.js';
import type { RequestView } from './request-view.js';

export interface Condition {
  /**
   * Returns whether the request matches. Never throws. Returns false once the evaluation budget (`Allowance`) of `view`
   * is exhausted.
   */
  matches(view: RequestView): boolean;
  /** The JSON from which the condition was compiled. A thread that evaluates conditions compiles it again. */
  readonly source: unknown;
}

interface Node {
  readonly readsJson: boolean;
  holds(view: RequestView): boolean;
}

const DEPTH_MAX = 8;
const LEAVES_MAX = 64;
const BRANCHES = ['all', 'any', 'not'] as const;

/**
 * Compiles a rule's `when`: a combination (`all`, `any`, `not`) or a single test, called a leaf. `at` is the path of
 * the value in the API request.
 */
export function compileCondition(
  value: unknown,
  at: string,
  options: { defaultType?: 'json' } = {},
): { condition: Condition } | { faults: Fault[] } {
  const compiler = new Compiler(options.defaultType);
  const node = compiler.node(value, at, 1);
  if (node === null || compiler.faults.list.length > 0) return { faults: compiler.faults.list };
  return {
    condition: { source: value, matches: (view) => !view.isExhausted && node.holds(view) && !view.isExhausted },
  };
}

/**
 * Compiles a filter, which has the same syntax as a rule's `when`. A test without a `type` is a `json` test. A filter
 * that contains a `json` test, even inside `not`, matches only JSON bodies of at most 128 KB.
 */
export function compileFilter(value: unknown, at: string): { condition: Condition } | { faults: Fault[] } {
  const compiler = new Compiler('json');
  const node = compiler.node(value, at, 1);
  if (node === null || compiler.faults.list.length > 0) return { faults: compiler.faults.list };
  const isVisible = (view: RequestView): boolean => !node.readsJson || view.json !== undefined;
  return {
    condition: {
      source: value,
      matches: (view) => !view.isExhausted && isVisible(view) && node.holds(view) && !view.isExhausted,
    },
  };
}

class Compiler {
  readonly faults = new Faults();
  private leaves = 0;

  constructor(private readonly defaultType: 'json' | undefined) {}

  node(value: unknown, at: string, depth: number): Node | null {
    if (this.faults.isFull || this.leaves > LEAVES_MAX) return null;
    if (depth > DEPTH_MAX) return this.fault(at, `is nested too deeply: at most ${DEPTH_MAX} levels`);
    if (!isObject(value)) return this.fault(at, 'must be an object with one of all, any, not, or with type and op');
    const branch = BRANCHES.find((key) => Object.hasOwn(value, key));
    if (branch === undefined) return this.leaf(value, at);
    if (this.faults.object(value, at, [branch]) === null) return null;
    if (branch !== 'not') return this.list(value[branch], `${at}.${branch}`, depth, branch === 'all');
    const inner = this.node(value.not, `${at}.not`, depth + 1);
    return inner && { readsJson: inner.readsJson, holds: (view) => !inner.holds(view) };
  }

  private list(value: unknown, at: string, depth: number, isAll: boolean): Node | null {
    if (!Array.isArray(value) || value.length === 0) return this.fault(at, 'must be a list of at least one condition');
    if (value.length > LEAVES_MAX) return this.fault(at, `has too many conditions: at most ${LEAVES_MAX}`);
    const nodes = value
      .map((entry, index) => this.node(entry, `${at}.${index}`, depth + 1))
      .filter((node) => node !== null);
    return {
      readsJson: nodes.some((node) => node.readsJson),
      holds: isAll
        ? (view) => nodes.every((node) => node.holds(view))
        : (view) => nodes.some((node) => node.holds(view)),
    };
  }

  private leaf(value: Record<string, unknown>, at: string): Node | null {
    this.leaves += 1;
    if (this.leaves > LEAVES_MAX) return this.fault(at, `is one condition too many: at most ${LEAVES_MAX} in all`);
    return compileLeaf(value, at, this.faults, this.defaultType);
  }

  private fault(at: string, message: string): null {
    this.faults.add(at, message);
    return null;
  }
}
