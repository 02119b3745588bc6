import { asRequestQuery, readEndpointFilters, readRequestFilters, readTried } from './endpoint-filters';

const NOW = Date.parse('2026-11-23T03:00:00.000Z');

describe('filters of endpoints and their requests', () => {
  it.each([
    [{}, {}],
    [
      { search: ' pay ', status: 'paused', preset: 'stripe' },
      { search: 'pay', status: 'paused', preset: 'stripe' },
    ],
    [{ search: '', status: 'broken', preset: {}, other: 1 }, {}],
    [{ search: 42 }, { search: '42' }],
  ])('endpoints: %j is %j', (search, filters) => {
    expect(readEndpointFilters(search)).toEqual(filters);
  });

  it.each([
    [
      { status: 'quarantined', method: 'post', since: '-1h' },
      { status: 'quarantined', method: 'POST', since: '-1h' },
    ],
    [{ status: 'x', method: 'a b', since: 'yesterday' }, {}],
    [{ since: '2026-11-01T00:00:00Z' }, { since: '2026-11-01T00:00:00Z' }],
  ])('requests: %j is %j', (search, filters) => {
    expect(readRequestFilters(search)).toEqual(filters);
  });

  it.each([
    ['-15m', '2026-11-23T02:45:00.000Z'],
    ['-2d', '2026-11-21T03:00:00.000Z'],
    ['2026-11-01T00:00:00Z', '2026-11-01T00:00:00.000Z'],
  ])('since %s is %s', (since, time) => {
    expect(asRequestQuery({ since, method: 'POST' }, NOW)).toEqual({ since: time, method: 'POST' });
  });

  it.each([
    [{ request: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' }, { request: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' }],
    [{ request: 'x' }, {}],
    [{}, {}],
  ])('tried: %j is %j', (search, tried) => {
    expect(readTried(search)).toEqual(tried);
  });
});
