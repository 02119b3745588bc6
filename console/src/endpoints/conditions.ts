/** A condition in the filter syntax of the API. */
export type Condition = Readonly<Record<string, unknown>>;

/** A single condition, as the form edits it. */
export interface Leaf {
  type: (typeof LEAF_TYPES)[number];
  /**
   * Selector of the compared value: a JSONPath for `json`, a name for `header`, `query` and `form`, empty for other
   * types.
   */
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

/** Returns how conditions of this type select the compared value: by a path, by a name, or by neither (null). */
export function subjectOf(type: Leaf['type']): 'path' | 'name' | null {
  return type === 'json' ? 'path' : NAMED.has(type) ? 'name' : null;
}

/** Returns whether the operator needs a value to compare with. */
export function hasValue(op: Leaf['op']): boolean {
  return op !== 'exists' && op !== 'absent';
}

/** Returns the condition in the API's format. */
export function conditionOf({ type, of, op, value }: Leaf): Condition {
  const subject = subjectOf(type);
  return {
    ...(type !== 'json' && { type }),
    ...(subject !== null && { [subject]: of }),
    op,
    ...(hasValue(op) && { value }),
  };
}

/** Returns the filter extended by a condition. Events must then meet all conditions. */
export function withCondition(filter: Condition | null, leaf: Leaf): Condition {
  const condition = conditionOf(leaf);
  if (filter === null || Object.keys(filter).length === 0) return condition;
  return Array.isArray(filter['all'])
    ? { ...filter, all: [...(filter['all'] as unknown[]), condition] }
    : { all: [filter, condition] };
}
