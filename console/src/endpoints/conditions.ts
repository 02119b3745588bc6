/** A condition in the grammar of filters. */
export type Condition = Readonly<Record<string, unknown>>;

/** A single question, as the form has it. */
export interface Leaf {
  type: (typeof LEAF_TYPES)[number];
  /** The JSONPath of `json`, the name of `header`, `query` and `form`; nothing for the others. */
  of: string;
  op: (typeof OPERATORS)[number];
  value: string;
}

export const LEAF_TYPES = [
  'json',
  'header',
  'query',
  'form',
  'body',
  'method',
  'path',
  'content_type',
  'ip',
  'verification',
] as const;
export const OPERATORS = [
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

const NAMED: ReadonlySet<string> = new Set(['header', 'query', 'form']);

/** What the question is about beside its type: a path, a name, or nothing. */
export function subjectOf(type: Leaf['type']): 'path' | 'name' | null {
  return type === 'json' ? 'path' : NAMED.has(type) ? 'name' : null;
}

/** Whether the operator compares with something. */
export function hasValue(op: Leaf['op']): boolean {
  return op !== 'exists' && op !== 'absent';
}

/** The question as the API takes it. */
export function conditionOf({ type, of, op, value }: Leaf): Condition {
  const subject = subjectOf(type);
  return {
    ...(type !== 'json' && { type }),
    ...(subject !== null && { [subject]: of }),
    op,
    ...(hasValue(op) && { value }),
  };
}

/** A filter that asks one thing more: all of it has to hold. */
export function withCondition(filter: Condition | null, leaf: Leaf): Condition {
  const condition = conditionOf(leaf);
  if (filter === null || Object.keys(filter).length === 0) return condition;
  return Array.isArray(filter['all'])
    ? { ...filter, all: [...(filter['all'] as unknown[]), condition] }
    : { all: [filter, condition] };
}
