import { addition, isRestorable, removal } from './suppression-changes';

const row = (id: string): { id: string; email: string; origin: string } => ({
  id,
  email: `${id}@example.org`,
  origin: 'manual',
});
const list = (...ids: string[]): object => ({ pages: [{ data: ids.map(row) }] });

describe('suppressions', () => {
  it.each([
    ['manual', null, true],
    ['manual', '2027-01-01T00:00:00Z', false],
    ['bounce', null, false],
    ['complaint', null, false],
    ['unsubscribe', null, false],
  ])('%s until %j: suppressing the address again restores it: %s', (origin, end, is) => {
    expect(isRestorable({ origin, expires_at: end })).toBe(is);
  });

  it.each<[filters: object, isAdded: boolean]>([
    [{}, true],
    [{ origin: 'manual' }, true],
    [{ origin: 'bounce' }, false],
    [{ email: 'A@example.org' }, true],
    [{ email: 'b@example.org' }, false],
  ])('the list with the filters %j gets an added suppression: %s', (filters, isAdded) => {
    const { queryKey, change } = addition('live', row('a'));

    expect(change(list('b'), [...queryKey, filters])).toEqual(isAdded ? list('a', 'b') : list('b'));
  });

  it('a removed suppression leaves every list', () => {
    const { queryKey, change } = removal('live', row('a'));

    expect(change(list('a', 'b'), queryKey)).toEqual(list('b'));
  });
});
