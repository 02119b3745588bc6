import { asAuditQuery, readAuditFilters } from './audit-filters';

describe('readAuditFilters', () => {
  it.each([
    [{ actor: ' ek_1 ', action: '', other: 'x' }, { actor: 'ek_1' }],
    [
      { since: '-7d', resource: 'keys' },
      { since: '-7d', resource: 'keys' },
    ],
    [{ since: 'yesterday' }, {}],
    [{ since: '2026-11-21T09:30:00Z' }, { since: '2026-11-21T09:30:00Z' }],
    [{ action: 4 }, {}],
  ])('%j: %j', (search, expected) => {
    expect(readAuditFilters(search)).toEqual(expected);
  });
});

describe('asAuditQuery', () => {
  it.each([
    [
      { since: '-1h', actor: 'ek_1' },
      { actor: 'ek_1', since: '1970-01-02T23:00:00.000Z' },
    ],
    [{ since: '-2d' }, { since: '1970-01-01T00:00:00.000Z' }],
    [{ since: '2026-11-21T09:30:00Z' }, { since: '2026-11-21T09:30:00.000Z' }],
    [{}, {}],
  ])('%j: %j', (filters, expected) => {
    expect(asAuditQuery(filters, 172_800_000)).toEqual(expected);
  });
});
