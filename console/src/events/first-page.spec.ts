import { firstPageQuery } from './first-page';

describe('first request of the event list', () => {
  it.each([
    ['', 'limit=100'],
    [
      'status=failed,dlq&event_type=invoice.paid&columns=type,id',
      'status=failed&status=dlq&event_type=invoice.paid&limit=100',
    ],
    [
      'status=dlq&application=customer-42&error=4xx&q=%20evt_1%20',
      'status=dlq&error=4xx&application=customer-42&q=evt_1&limit=100',
    ],
    ['response_status=503&dedupe_id=a', 'response_status=503&dedupe_id=a&limit=100'],
    ['status=nonsense&direction=sideways', 'limit=100'],
  ])('for the address ?%s it is %s', (search, query) => {
    expect(firstPageQuery(new URLSearchParams(search))?.toString()).toBe(query);
  });

  it.each(['since=-1h', 'until=2026-11-21T00:00:00.000Z&status=dlq'])('is unknown in advance with ?%s', (search) => {
    expect(firstPageQuery(new URLSearchParams(search))).toBeNull();
  });
});
