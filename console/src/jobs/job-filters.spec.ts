import { readJobFilters } from './job-filters';

describe('readJobFilters', () => {
  it.each([
    [{ state: 'running' }, { state: 'running' }],
    [{ state: 'paused' }, {}],
    [{ state: 1 }, {}],
    [{}, {}],
  ])('%j: %j', (search, expected) => {
    expect(readJobFilters(search)).toEqual(expected);
  });
});
