import fc from 'fast-check';
import { hasMoreMembers } from './json-members.js';

function membersOf(value: unknown): number {
  if (typeof value === 'string') return 1;
  if (typeof value !== 'object' || value === null) return 0;
  const names = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, inner) => sum + membersOf(inner), 1 + names);
}

describe('members of a JSON text', () => {
  it.each<[string, number]>([
    ['1', 0],
    ['"a"', 1],
    ['"[{\\"\\\\"', 1],
    ['[1, 2, 3]', 1],
    ['{"a": {"b": "c"}, "d": []}', 7],
    ['[[[[', 4],
    ['["never ends \\"', 2],
  ])('%s has %i', (text, members) => {
    expect(hasMoreMembers(Buffer.from(text), members)).toBe(false);
    expect(hasMoreMembers(Buffer.from(text), members - 1)).toBe(true);
  });

  it('are counted in any value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = Buffer.from(JSON.stringify(value));
        expect([hasMoreMembers(text, membersOf(value)), hasMoreMembers(text, membersOf(value) - 1)]).toEqual([
          false,
          true,
        ]);
      }),
    );
  });
});
