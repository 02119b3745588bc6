import { readEventTypeFilters } from './event-type-filters';

describe('filters of event types', () => {
  it.each([
    [{}, {}],
    [
      { group: ' Billing ', archived: true },
      { group: 'Billing', archived: true },
    ],
    [
      { group: 7, archived: 'true' },
      { group: '7', archived: true },
    ],
    [{ group: '', archived: 'no' }, {}],
    [{ group: {}, archived: false }, {}],
  ])('%j is %j', (search, filters) => {
    expect(readEventTypeFilters(search)).toEqual(filters);
  });
});
