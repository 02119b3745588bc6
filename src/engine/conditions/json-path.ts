import { jsonpath, JSONPathEnvironment } from 'json-p3';
import { isObject } from './faults.js';
import type { RequestView } from './request-view.js';

type Step =
  | { kind: 'name'; name: string }
  | { kind: 'index'; index: number }
  | { kind: 'slice'; start: number | undefined; stop: number | undefined; step: number }
  | { kind: 'wildcard' };

/** A JSONPath (RFC 9535) of names, indexes, slices and wildcards, with one selector per segment. */
export interface JsonPath {
  /** Returns all matching nodes of the request body in document order. */
  all(view: RequestView): readonly unknown[];
  /** Returns the first matching node of the request body in document order, or undefined. */
  first(view: RequestView): unknown;
}

export const JSON_PATH_BYTES_MAX = 1024;

/** Cost of visiting one node of the JSON document, in steps of `Allowance`. */
const STEPS_PER_NODE = 10;
const ALLOWED = 'names, indexes, slices and wildcards, like $.data.items[0].id';

const environment = new JSONPathEnvironment();
const { selectors } = jsonpath;

/** Compiles a JSONPath. If it is invalid, returns the end of an error sentence, such as `can only use …`. */
export function compileJsonPath(text: string): JsonPath | string {
  const steps = stepsOf(text);
  if (typeof steps === 'string') return steps;
  return {
    all: (view) =>
      view.found(`all ${text}`, () => {
        const nodes: unknown[] = [];
        collect(view.json, steps, 0, { view, nodes });
        return nodes;
      }),
    first: (view) => view.found(`first ${text}`, () => firstNode(view.json, steps, 0, view)),
  };
}

function stepsOf(text: string): Step[] | string {
  let segments;
  try {
    ({ segments } = environment.compile(text));
  } catch {
    return `must be a JSONPath of ${ALLOWED}`;
  }
  const steps: Step[] = [];
  for (const segment of segments) {
    const [selector, ...more] = segment.selectors;
    // Rejects several selectors in one segment, because the cost would multiply with every segment. Rejects `..`,
    // because the cost would multiply with every level of the document.
    if (segment.toString().startsWith('..') || more.length > 0)
      return `can only use ${ALLOWED}, one at a time and without ..`;
    const step = stepOf(selector);
    if (step === null) return `can only use ${ALLOWED}; filters and functions are not supported`;
    steps.push(step);
  }
  return steps;
}

function stepOf(selector: unknown): Step | null {
  if (selector instanceof selectors.NameSelector) return { kind: 'name', name: selector.name };
  if (selector instanceof selectors.IndexSelector) return { kind: 'index', index: selector.index };
  if (selector instanceof selectors.WildcardSelector) return { kind: 'wildcard' };
  if (!(selector instanceof selectors.SliceSelector)) return null;
  return { kind: 'slice', start: selector.start, stop: selector.stop, step: selector.step ?? 1 };
}

/**
 * Returns the first match of a depth-first search. Does not use the search of json-p3, which copies the path for every
 * visited node.
 */
function firstNode(value: unknown, steps: readonly Step[], at: number, view: RequestView): unknown {
  const step = steps[at];
  if (step === undefined) return value;
  for (const child of children(value, step)) {
    if (!view.spend(STEPS_PER_NODE)) return undefined;
    const found = firstNode(child, steps, at + 1, view);
    if (found !== undefined) return found;
  }
  return undefined;
}

function collect(
  value: unknown,
  steps: readonly Step[],
  at: number,
  into: { view: RequestView; nodes: unknown[] },
): void {
  const step = steps[at];
  if (step === undefined) {
    if (value !== undefined) into.nodes.push(value);
    return;
  }
  for (const child of children(value, step)) {
    if (!into.view.spend(STEPS_PER_NODE)) return;
    collect(child, steps, at + 1, into);
  }
}

function children(value: unknown, step: Step): Iterable<unknown> {
  if (isList(value)) {
    switch (step.kind) {
      case 'name':
        return [];
      case 'index':
        return sliced(value, step.index, step.index === -1 ? undefined : step.index + 1, 1);
      case 'slice':
        return sliced(value, step.start, step.stop, step.step);
      case 'wildcard':
        return value;
    }
  }
  if (!isObject(value)) return [];
  if (step.kind === 'wildcard') return Object.values(value);
  return step.kind === 'name' && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** Yields the elements of a slice (RFC 9535, section 2.3.4.2). */
function* sliced(
  values: readonly unknown[],
  start: number | undefined,
  stop: number | undefined,
  step: number,
): Generator {
  const { length } = values;
  const place = (index: number, low: number, high: number): number =>
    Math.min(Math.max(index < 0 ? length + index : index, low), high);
  if (step > 0) {
    const end = place(stop ?? length, 0, length);
    for (let index = place(start ?? 0, 0, length); index < end; index += step) yield values[index];
  } else if (step < 0) {
    const end = place(stop ?? -length - 1, -1, length - 1);
    for (let index = place(start ?? length - 1, -1, length - 1); index > end; index += step) yield values[index];
  }
}
