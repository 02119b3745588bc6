import { conditionOf, type Leaf, withCondition } from './conditions';

const JSON_LEAF: Leaf = { type: 'json', of: '$.type', op: 'eq', value: 'a' };

describe('conditions', () => {
  it.each<[Leaf, object]>([
    [JSON_LEAF, { path: '$.type', op: 'eq', value: 'a' }],
    [
      { type: 'header', of: 'x-a', op: 'exists', value: 'left over' },
      { type: 'header', name: 'x-a', op: 'exists' },
    ],
    [
      { type: 'method', of: 'left over', op: 'ne', value: 'GET' },
      { type: 'method', op: 'ne', value: 'GET' },
    ],
  ])('%j is %j', (leaf, condition) => {
    expect(conditionOf(leaf)).toEqual(condition);
  });

  it('a new condition is added to the filter, and an existing list of all conditions grows', () => {
    const one = withCondition(null, JSON_LEAF);
    const two = withCondition(one, { ...JSON_LEAF, op: 'ne' });

    expect(two).toEqual({ all: [one, { path: '$.type', op: 'ne', value: 'a' }] });
    expect(withCondition(two, JSON_LEAF)).toEqual({ all: [...(two['all'] as object[]), one] });
    expect(withCondition({ any: [] }, JSON_LEAF)).toEqual({ all: [{ any: [] }, one] });
  });
});
