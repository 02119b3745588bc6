import { asQuery, asStreamQuery, canGrow, readFilters } from './event-filters';

const NOW = Date.parse('2026-11-21T09:30:00.000Z');

describe('readFilters', () => {
  it.each([
    [{ status: 'dlq', since: '-1h' }, { status: 'dlq', since: '-1h' }],
    [{ status: 'nonsense', stauts: 'dlq', event_type: ' invoice.paid ' }, { event_type: 'invoice.paid' }],
    [{ event_type: 42, destination: '' }, { event_type: '42' }],
    [{ since: 'yesterday', until: '2026-11-21T00:00:00.000Z' }, { until: '2026-11-21T00:00:00.000Z' }],
    [{ since: '-99999h', application: ['a'], moved: '1' }, {}],
  ])('%j: %j', (search, expected) => {
    expect(readFilters(search)).toEqual(expected);
  });
});

describe('asQuery', () => {
  it.each([['-15m', '2026-11-21T09:15:00.000Z'], ['-6h', '2026-11-21T03:30:00.000Z'], ['-7d', '2026-11-14T09:30:00.000Z'], ['2026-11-20T01:00:00+01:00', '2026-11-20T00:00:00.000Z']])('since %s is %s', (since, expected) => {
    expect(asQuery({ status: 'dlq', since }, NOW)).toEqual({ status: 'dlq', since: expected });
  });

  it('the stream knows no range, and a list that ends does not grow', () => {
    expect(asStreamQuery({ status: 'dlq', since: '-1h', event_type: 'a' })).toEqual({ status: 'dlq', event_type: 'a' });
    expect([canGrow({ since: '-1h' }), canGrow({ until: '-1h' }), canGrow({ message_id: 'msg_1' })]).toEqual([true, false, false]);
  });
});
