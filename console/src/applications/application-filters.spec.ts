import { readApplicationFilters, readTypes } from './application-filters';

describe('filters and fields of applications', () => {
  it.each([
    [{ search: ' acm ' }, { search: 'acm' }],
    [{ search: 42 }, { search: '42' }],
    [{ search: '' }, {}],
    [{ search: [] }, {}],
  ])('list: %j is %j', (search, filters) => {
    expect(readApplicationFilters(search)).toEqual(filters);
  });

  it.each([
    ['', []],
    ['a.b, c.*\nd', ['a.b', 'c.*', 'd']],
    [' a  a ', ['a']],
  ])('types: %j is %j', (text, types) => {
    expect(readTypes(text)).toEqual(types);
  });
});
